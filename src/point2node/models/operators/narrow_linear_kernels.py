"""A linear map of many rows with few channels, and its gradients, as small matrix products in the cache."""

from __future__ import annotations

import numpy as np
from numba import prange

from point2node.kernels.compiling import kernel
from point2node.models.operators.tile_kernels import SUMS, Array
from point2node.models.operators.vector_kernels import multiply

BLOCK = 256
"""Rows in a work item."""


@kernel(parallel=True, fastmath=SUMS)
def map_rows(x: Array, weight: Array, out: Array) -> None:
    """out = x · weight, for x (M, C), weight (C, D), out (M, D)."""
    M, C = x.shape
    D = weight.shape[1]
    for block in prange((M + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        multiply(x, first * C, C, 1, weight, 0, D, C, out, first * D, D, min(BLOCK, M - first), D, False)


@kernel(parallel=True, fastmath=SUMS)
def weight_gradient(x: Array, grad: Array, sums: Array) -> None:
    """sums[chunk] = xᵀ · grad over the rows of a chunk, for x (M, C), grad (M, D), sums (chunks, C, D).

    Blocks of rows are added one after the other, so that each is read from memory only once.
    """
    M, C = x.shape
    D = grad.shape[1]
    for chunk in prange(len(sums)):
        own = np.zeros((C, D), x.dtype)
        last = (chunk + 1) * M // len(sums)
        for first in range(chunk * M // len(sums), last, BLOCK):
            rows = min(BLOCK, last - first)
            multiply(x, first * C, 1, C, grad, first * D, D, rows, own, 0, D, C, D, True)
        for c in range(C):
            for d in range(D):
                sums[chunk, c, d] = own[c, d]
