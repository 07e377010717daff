"""The depthwise step of the X-transformation as loops over points: K×K matrices in, K×K matrices out.

For each column c of the matrices of a block of points, the numbers X[q, :, c] meet the weights W[:, c, :]: a small
matrix product. Only the gradient of X has to be turned round in memory, which happens in the cache.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from point2node.kernels.compiling import kernel
from point2node.models.operators.tile_kernels import SUMS, Array
from point2node.models.operators.vector_kernels import multiply

BLOCK = 16
"""Points in a work item: their matrices, 16 kB for K = 16, stay in the L1 cache while the columns are gone through."""

CHUNKS = 16
"""Work items of the weight gradient, each with a sum of its own; a fixed number, so that the result does not depend on
the number of threads."""


@kernel(parallel=True, fastmath=SUMS)
def forward(X: Array, by_column: Array, out: Array) -> None:
    """out[q, c, m] = Σ_k X[q, k, c] by_column[c, k, m]."""
    Q, K, _ = X.shape
    for block in prange((Q + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        points = min(BLOCK, Q - first)
        for c in range(K):
            place = first * K * K
            multiply(X, place + c, K * K, K, by_column, c * K * K, K, K, out, place + c * K, K * K, points, K, False)


@kernel(parallel=True, fastmath=SUMS)
def input_gradient(grad: Array, by_output: Array, d_X: Array) -> None:
    """d_X[q, k, c] = Σ_m grad[q, c, m] by_output[c, m, k]."""
    Q, K, _ = grad.shape
    for block in prange((Q + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        points = min(BLOCK, Q - first)
        turned = np.empty((BLOCK, K, K), grad.dtype)  # (q, c, k)
        for c in range(K):
            place = first * K * K + c * K
            multiply(grad, place, K * K, 1, by_output, c * K * K, K, K, turned, c * K, K * K, points, K, False)
        for p in range(points):
            matrix, target = turned[p], d_X[first + p]
            for k in range(K):
                for c in range(K):
                    target[k, c] = matrix[c, k]


@kernel(parallel=True, fastmath=SUMS)
def weight_gradient(X: Array, grad: Array, sums: Array) -> None:
    """sums[chunk, c, k, m] = Σ over the points q of a chunk of X[q, k, c] grad[q, c, m]."""
    Q, K, _ = X.shape
    for chunk in prange(sums.shape[0]):
        own = np.zeros((K, K, K), X.dtype)
        last = (chunk + 1) * Q // sums.shape[0]
        for first in range(chunk * Q // sums.shape[0], last, BLOCK):
            points = min(BLOCK, last - first)
            for c in range(K):
                place = first * K * K
                multiply(X, place + c, K, K * K, grad, place + c * K, K * K, points, own, c * K * K, K, K, K, True)
        for c in range(K):
            for k in range(K):
                for m in range(K):
                    sums[chunk, c, k, m] = own[c, k, m]
