"""The local update (Eqs. 5-8) and its gradients as fused loops: nothing of size N × K × C is ever stored.

Nodes of all clouds are counted through, q = b·N + i; cloud b begins at row b·N. W is the width of a tile, at most
``TILE`` channels from c0 on.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from point2node.kernels.compiling import kernel
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
def _weigh(Q: Array, X: Array, first_row: int, neighbours: Array, q: int, F: Array, G: Array, weights: Array) -> None:
    """weights[x, y] = exp(Q[n_x]·X[n_y]) / Σ_y' exp(Q[n_x]·X[n_y']), Eqs. 5 and 6."""
    weights[:] = 0
    for r0 in range(0, Q.shape[1], TILE):
        W = min(TILE, Q.shape[1] - r0)
        gather_tile(Q, first_row, neighbours, q, r0, W, F)
        gather_tile(X, first_row, neighbours, q, r0, W, G)
        add_row_products(F, G, W, weights)
    for x in range(weights.shape[0]):
        row = weights[x]
        largest = row[0]
        for y in range(1, len(row)):
            largest = max(largest, row[y])
        total = row.dtype.type(0)
        for y in range(len(row)):
            row[y] = np.exp(row[y] - largest)
            total += row[y]
        for y in range(len(row)):
            row[y] /= total


@njit(fastmath=SUMS)
def _take_largest(T: Array, W: int, best: Array, winner: Array) -> None:
    """best[c] = max_x T[x, c], Eq. 8, and winner[c], the first x that attains it."""
    for c in range(W):
        best[c] = T[0, c]
        winner[c] = 0
    for x in range(1, T.shape[0]):
        row, number = T[x], T.dtype.type(x)
        for c in range(W):
            larger = row[c] > best[c]  # two selections and no branch: vectorised
            best[c] = row[c] if larger else best[c]
            winner[c] = number if larger else winner[c]


@kernel(parallel=True, fastmath=SUMS)
def forward(
    V: Array, Q: Array, X: Array, neighbours: Array, B: int, slots: Slots, weights: Array, winners: Array, out: Array
) -> None:
    """out[q, c] = max_x Σ_y w[x, y] V[n_y, c] with the weights w of ``_weigh``, in parallel over q.

    For the gradients, weights[q] = w and winners[q, c], the first x of the maximum.
    """
    rows, C = V.shape
    K, N = len(slots), rows // B
    for block in prange((rows + BLOCK - 1) // BLOCK):
        A = np.empty((K, K), V.dtype)
        F = np.empty((K, TILE), V.dtype)
        T = np.empty((K, TILE), V.dtype)
        best = np.empty(TILE, V.dtype)
        winner = np.empty(TILE, V.dtype)  # as wide as a channel, so that the comparison is vectorised
        for q in range(block * BLOCK, min(block * BLOCK + BLOCK, rows)):
            first_row = q // N * N
            _weigh(Q, X, first_row, neighbours, q, F, T, A)
            for x in range(K):
                for y in range(K):
                    weights[q, x, y] = A[x, y]
            for c0 in range(0, C, TILE):
                W = min(TILE, C - c0)
                gather_tile(V, first_row, neighbours, q, c0, W, F)
                multiply_tile(A, F, W, slots, T)  # Eq. 7
                _take_largest(T, W, best, winner)
                row = out[q, c0 : c0 + W]
                for c in range(W):
                    row[c] = best[c]
                numbers = winners[q, c0 : c0 + W]
                for c in range(W):
                    numbers[c] = np.uint8(winner[c])


@kernel(parallel=True, fastmath=SUMS)
def logit_gradient(
    grad: Array, V: Array, neighbours: Array, B: int, weights: Array, winners: Array, d_logits: Array
) -> None:
    """d_logits[q, x, y] = w[x, y] (d_w[x, y] − Σ_y' w[x, y'] d_w[x, y']), in parallel over q.

    d_w[x, y] = Σ_c grad[q, c] V[n_y, c] over the channels that x won: K·C products instead of K·K·C.
    """
    rows, C = V.shape
    K, N = weights.shape[1], rows // B
    for block in prange((rows + BLOCK - 1) // BLOCK):
        F = np.empty((TILE, K), V.dtype)
        for q in range(block * BLOCK, min(block * BLOCK + BLOCK, rows)):
            first_row = q // N * N
            d_w = d_logits[q]
            d_w[:] = 0
            for c0 in range(0, C, TILE):
                W = min(TILE, C - c0)
                for y in range(K):
                    row = V[first_row + neighbours[q, y], c0 : c0 + W]
                    for c in range(W):
                        F[c, y] = row[c]
                for c in range(W):
                    g = grad[q, c0 + c]
                    row = d_w[winners[q, c0 + c]]
                    for y in range(K):
                        row[y] += g * F[c, y]
            for x in range(K):
                mean = V.dtype.type(0)
                for y in range(K):
                    mean += weights[q, x, y] * d_w[x, y]
                for y in range(K):
                    d_w[x, y] = weights[q, x, y] * (d_w[x, y] - mean)


@kernel(parallel=True, fastmath=SUMS)
def value_gradient(grad: Array, neighbours: Array, B: int, weights: Array, winners: Array, d_V: Array) -> None:
    """d_V[n_y, c] += weights[q, winners[q, c], y] grad[q, c]; d_V holds zeros on entry.

    A work item is one cloud and one tile of channels: it alone writes there, in the order of the nodes, so that the
    result does not depend on the number of threads.
    """
    rows, C = d_V.shape
    K, N = weights.shape[1], rows // B
    tiles = (C + TILE - 1) // TILE
    for item in prange(B * tiles):
        b, c0 = item // tiles, item % tiles * TILE
        W = min(TILE, C - c0)
        A_T = np.empty((K, K), d_V.dtype)
        for q in range(b * N, b * N + N):
            load_transpose(weights, q, A_T)
            g = grad[q, c0 : c0 + W]
            winner = winners[q, c0 : c0 + W]
            for y in range(K):
                share = A_T[y]
                row = d_V[b * N + neighbours[q, y], c0 : c0 + W]
                for c in range(W):
                    row[c] += share[winner[c]] * g[c]


@kernel(parallel=True, fastmath=SUMS)
def projection_gradient(
    Q: Array, X: Array, neighbours: Array, B: int, slots: Slots, d_logits: Array, d_Q: Array, d_X: Array
) -> None:
    """d_Q[n_x] += Σ_y d_logits[q, x, y] X[n_y] and d_X[n_y] += Σ_x d_logits[q, x, y] Q[n_x]; zeros on entry.

    Work items as in ``value_gradient``.
    """
    rows, R = Q.shape
    K, N = len(slots), rows // B
    tiles = (R + TILE - 1) // TILE
    for item in prange(B * tiles):
        b, r0 = item // tiles, item % tiles * TILE
        W = min(TILE, R - r0)
        A = np.empty((K, K), Q.dtype)
        A_T = np.empty((K, K), Q.dtype)
        F = np.empty((K, TILE), Q.dtype)
        T = np.empty((K, TILE), Q.dtype)
        for q in range(b * N, b * N + N):
            load_matrix(d_logits, q, A)
            load_transpose(d_logits, q, A_T)
            gather_tile(X, b * N, neighbours, q, r0, W, F)
            multiply_tile(A, F, W, slots, T)
            scatter_tile(T, b * N, neighbours, q, r0, W, d_Q)
            gather_tile(Q, b * N, neighbours, q, r0, W, F)
            multiply_tile(A_T, F, W, slots, T)
            scatter_tile(T, b * N, neighbours, q, r0, W, d_X)
