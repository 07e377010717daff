"""The depthwise step of the X-transformation as loops over points: K×K matrices in, K×K matrices out.

The layout is that of the matrices themselves, so nothing is transposed in memory. For each point and column c, K
numbers X[k, c] meet K rows of weights W[k, c, :], which stay in the L1 cache (K³ numbers are at most 16 kB).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from point2node.geometry.compiling import kernel
from point2node.models.operators.tile_kernels import SUMS, Array, Slots

BLOCK = 128
"""Points in a work item."""

CHUNKS = 16
"""Work items of the weight gradient, each with a sum of its own; a fixed number, so that the result does not depend on
the number of threads."""


@njit(fastmath=SUMS)
def _weighted_rows(weights: Array, rows: Array, W: int, slots: Slots, out: Array) -> None:
    """out[m] = Σ_k weights[k] rows[k, m] for m < W."""
    for m in range(W):
        total = weights[0] * rows[0, m]
        for k in range(1, len(slots)):
            total += weights[k] * rows[k, m]
        out[m] = total


@kernel(parallel=True, fastmath=SUMS)
def forward(X: Array, by_column: Array, slots: Slots, out: Array) -> None:
    """out[q, c, m] = Σ_k X[q, k, c] by_column[c, k, m]."""
    K = len(slots)
    Q = X.shape[0]
    for block in prange((Q + BLOCK - 1) // BLOCK):
        column = np.empty(K, X.dtype)
        for q in range(block * BLOCK, min(block * BLOCK + BLOCK, Q)):
            matrix, target = X[q], out[q]
            for c in range(K):
                for k in range(K):
                    column[k] = matrix[k, c]
                _weighted_rows(column, by_column[c], K, slots, target[c])


@kernel(parallel=True, fastmath=SUMS)
def input_gradient(grad: Array, by_output: Array, slots: Slots, d_X: Array) -> None:
    """d_X[q, k, c] = Σ_m grad[q, c, m] by_output[c, m, k]."""
    K = len(slots)
    Q = grad.shape[0]
    for block in prange((Q + BLOCK - 1) // BLOCK):
        column = np.empty(K, grad.dtype)
        for q in range(block * BLOCK, min(block * BLOCK + BLOCK, Q)):
            matrix, target = grad[q], d_X[q]
            for c in range(K):
                _weighted_rows(matrix[c], by_output[c], K, slots, column)
                for k in range(K):
                    target[k, c] = column[k]


@kernel(parallel=True, fastmath=SUMS)
def weight_gradient(X: Array, grad: Array, sums: Array) -> None:
    """sums[chunk, c, k, m] = Σ over the points q of a chunk of X[q, k, c] grad[q, c, m]."""
    Q, K = X.shape[0], X.shape[1]
    for chunk in prange(sums.shape[0]):
        own = np.zeros((K, K, K), X.dtype)
        for q in range(chunk * Q // sums.shape[0], (chunk + 1) * Q // sums.shape[0]):
            for c in range(K):
                row = grad[q, c]
                for k in range(K):
                    x, target = X[q, k, c], own[c, k]
                    for m in range(K):
                        target[m] += x * row[m]
        for c in range(K):
            for k in range(K):
                for m in range(K):
                    sums[chunk, c, k, m] = own[c, k, m]
