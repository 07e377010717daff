"""The χ product and its gradients as fused loops: nothing of size P × K × C is ever stored.

Points of all clouds are counted through, q = b·P + p, and so are the nodes: cloud b begins at row b·M. The weights
come as (m, K, C), so that channels lie side by side. W is the width of a tile, at most ``TILE`` channels from c0 on.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from point2node.geometry.compiling import kernel
from point2node.models.operators.tile_kernels import (
    BLOCK,
    SUMS,
    TILE,
    Array,
    Slots,
    add_row_products,
    gather_tile,
    load_matrix,
    load_transpose,
    multiply_tile,
    scatter_tile,
)


@njit(fastmath=SUMS)
def _load_weights(depthwise: Array, c0: int, W: int, D: Array) -> None:
    """D[i, k, c] = depthwise[i, k, c0 + c]."""
    for i in range(D.shape[0]):
        for k in range(D.shape[1]):
            row = depthwise[i, k, c0 : c0 + W]
            for c in range(W):
                D[i, k, c] = row[c]


@njit(fastmath=SUMS)
def _sum_over_neighbours(T: Array, D: Array, W: int, slots: Slots, sums: Array) -> None:
    """sums[i, c] = Σ_k T[k, c] D[i, k, c]."""
    for i in range(D.shape[0]):
        row, weights = sums[i], D[i]
        for c in range(W):
            total = T[0, c] * weights[0, c]
            for k in range(1, len(slots)):
                total += T[k, c] * weights[k, c]
            row[c] = total


@njit(fastmath=SUMS)
def _store(sums: Array, q: int, c0: int, W: int, out: Array) -> None:
    """out[q, (c0 + c)·m + i] = sums[i, c]."""
    m = sums.shape[0]
    row = out[q, c0 * m : (c0 + W) * m]
    if m == 1:  # a plain copy, which is vectorised
        for c in range(W):
            row[c] = sums[0, c]
    else:
        for c in range(W):
            for i in range(m):
                row[c * m + i] = sums[i, c]


@njit(fastmath=SUMS)
def _load_gradient(grad: Array, q: int, c0: int, W: int, G: Array) -> None:
    """G[i, c] = grad[q, (c0 + c)·m + i]."""
    m = G.shape[0]
    row = grad[q, c0 * m : (c0 + W) * m]
    if m == 1:
        for c in range(W):
            G[0, c] = row[c]
    else:
        for c in range(W):
            for i in range(m):
                G[i, c] = row[c * m + i]


@njit(fastmath=SUMS)
def _spread_gradient(G: Array, D: Array, W: int, H: Array) -> None:
    """H[k, c] = Σ_i G[i, c] D[i, k, c], the gradient of T."""
    K = H.shape[0]
    for k in range(K):
        row = H[k]
        for c in range(W):
            row[c] = G[0, c] * D[0, k, c]
        for i in range(1, G.shape[0]):
            for c in range(W):
                row[c] += G[i, c] * D[i, k, c]


@njit(fastmath=SUMS)
def _add_weight_gradient(T: Array, G: Array, W: int, E: Array) -> None:
    """E[i, k, c] += T[k, c] G[i, c]."""
    K = T.shape[0]
    for i in range(G.shape[0]):
        for k in range(K):
            row = E[i, k]
            for c in range(W):
                row[c] += T[k, c] * G[i, c]


@kernel(parallel=True, fastmath=SUMS)
def forward(X: Array, nodes: Array, neighbours: Array, depthwise: Array, B: int, slots: Slots, out: Array) -> None:
    """out[q, c·m + i] = Σ_k T[k, c] depthwise[i, k, c] with T = X[q] · F, F[j] = nodes[neighbours[q, j]].

    Parallel over the points.
    """
    K = len(slots)
    Q, C, m = X.shape[0], nodes.shape[1], depthwise.shape[0]
    P, M = Q // B, nodes.shape[0] // B
    for block in prange((Q + BLOCK - 1) // BLOCK):
        A = np.empty((K, K), X.dtype)
        F = np.empty((K, TILE), X.dtype)
        T = np.empty((K, TILE), X.dtype)
        D = np.empty((m, K, TILE), X.dtype)
        sums = np.empty((m, TILE), X.dtype)
        for c0 in range(0, C, TILE):
            W = min(TILE, C - c0)
            _load_weights(depthwise, c0, W, D)
            for q in range(block * BLOCK, min(block * BLOCK + BLOCK, Q)):
                load_matrix(X, q, A)
                gather_tile(nodes, q // P * M, neighbours, q, c0, W, F)
                multiply_tile(A, F, W, slots, T)
                _sum_over_neighbours(T, D, W, slots, sums)
                _store(sums, q, c0, W, out)


@kernel(parallel=True, fastmath=SUMS)
def feature_gradient(
    grad: Array,
    X: Array,
    nodes: Array,
    neighbours: Array,
    depthwise: Array,
    B: int,
    slots: Slots,
    d_nodes: Array,
    d_depthwise: Array,
) -> None:
    """d_nodes[neighbours[q, j]] += (X[q]ᵀ · H)[j] and d_depthwise[b, i, k, c] = Σ_p T[k, c] grad[q, c·m + i].

    H is the gradient of T; d_nodes holds zeros on entry. A work item is one cloud and one tile of channels: it alone
    writes there, in the order of the points, so that the result does not depend on the number of threads.
    """
    K = len(slots)
    C, m = nodes.shape[1], depthwise.shape[0]
    P, M = X.shape[0] // B, nodes.shape[0] // B
    tiles = (C + TILE - 1) // TILE
    for item in prange(B * tiles):
        b, c0 = item // tiles, item % tiles * TILE
        W = min(TILE, C - c0)
        A = np.empty((K, K), X.dtype)
        A_T = np.empty((K, K), X.dtype)
        F = np.empty((K, TILE), X.dtype)
        T = np.empty((K, TILE), X.dtype)
        H = np.empty((K, TILE), X.dtype)
        D = np.empty((m, K, TILE), X.dtype)
        G = np.empty((m, TILE), X.dtype)
        E = np.zeros((m, K, TILE), X.dtype)
        _load_weights(depthwise, c0, W, D)
        for q in range(b * P, b * P + P):
            load_matrix(X, q, A)
            load_transpose(X, q, A_T)
            gather_tile(nodes, b * M, neighbours, q, c0, W, F)
            multiply_tile(A, F, W, slots, T)
            _load_gradient(grad, q, c0, W, G)
            _add_weight_gradient(T, G, W, E)
            _spread_gradient(G, D, W, H)
            multiply_tile(A_T, H, W, slots, T)
            scatter_tile(T, b * M, neighbours, q, c0, W, d_nodes)
        for i in range(m):
            for k in range(K):
                for c in range(W):
                    d_depthwise[b, i, k, c0 + c] = E[i, k, c]


@kernel(parallel=True, fastmath=SUMS)
def matrix_gradient(grad: Array, nodes: Array, neighbours: Array, depthwise: Array, B: int, d_X: Array) -> None:
    """d_X[q, k, j] = Σ_c H[k, c] F[j, c], with H the gradient of T; d_X holds zeros on entry.

    Parallel over the points.
    """
    Q, K, C, m = d_X.shape[0], d_X.shape[1], nodes.shape[1], depthwise.shape[0]
    P, M = Q // B, nodes.shape[0] // B
    for block in prange((Q + BLOCK - 1) // BLOCK):
        F = np.empty((K, TILE), d_X.dtype)
        H = np.empty((K, TILE), d_X.dtype)
        D = np.empty((m, K, TILE), d_X.dtype)
        G = np.empty((m, TILE), d_X.dtype)
        for c0 in range(0, C, TILE):
            W = min(TILE, C - c0)
            _load_weights(depthwise, c0, W, D)
            for q in range(block * BLOCK, min(block * BLOCK + BLOCK, Q)):
                gather_tile(nodes, q // P * M, neighbours, q, c0, W, F)
                _load_gradient(grad, q, c0, W, G)
                _spread_gradient(G, D, W, H)
                add_row_products(H, F, W, d_X[q])
