"""The local update (Eqs. 5-8) where no gradient is asked for: nothing but the result is kept, sums stay in registers.

Nodes of all clouds are counted through, as in ``local_kernels``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from point2node.kernels.compiling import kernel
from point2node.models.operators.exponential_kernels import exp
from point2node.models.operators.tile_kernels import BLOCK, SUMS, TILE, Array, Slots, gather_tile
from point2node.models.operators.vector_kernels import (
    LANES_8,
    LANES_16,
    load,
    maximum,
    multiply,
    multiply_add,
    number,
    store,
    zeros,
)


@njit(fastmath=SUMS)
def _weigh(
    Q: Array, X: Array, first_row: int, neighbours: Array, q: int, slots: Slots, queries: Array, keys: Array, A: Array
) -> None:
    """A[x, y] = exp(Q[n_x]·X[n_y]) / Σ_y' exp(Q[n_x]·X[n_y']), Eqs. 5 and 6; queries (K, R) and keys (R, K) are room
    for the projections of the neighbours.
    """
    K, R = len(slots), Q.shape[1]
    for j in range(K):
        row, other = Q[first_row + neighbours[q, j]], X[first_row + neighbours[q, j]]
        for r in range(R):
            queries[j, r] = row[r]
            keys[r, j] = other[r]
    multiply(queries, 0, R, 1, keys, 0, K, R, A, 0, K, K, K, False)
    for x in range(K):
        row = A[x]
        largest = row[0]
        for y in range(1, len(slots)):
            largest = max(largest, row[y])
        for y in range(len(slots)):
            row[y] = exp(row[y] - largest)
        total = row[0]
        for y in range(1, len(slots)):
            total += row[y]
        for y in range(len(slots)):
            row[y] /= total


@njit(fastmath=SUMS)
def _largest_strip(A: Array, F: Array, c: int, slots: Slots, lanes: Slots, best: Array) -> None:
    """best[c] = max_x Σ_y A[x, y] F[y, c], Eqs. 7 and 8, for the channels from c on that have a lane."""
    K = len(slots)
    largest = load(best, c, lanes)
    for x in range(0, K - K % 4, 4):
        a = x * K
        t0 = t1 = t2 = t3 = zeros(F, lanes)
        for y in range(K):
            row = load(F, y * TILE + c, lanes)
            t0 = multiply_add(number(A, a + y), row, t0)
            t1 = multiply_add(number(A, a + K + y), row, t1)
            t2 = multiply_add(number(A, a + 2 * K + y), row, t2)
            t3 = multiply_add(number(A, a + 3 * K + y), row, t3)
        largest = maximum(maximum(t0, t1), maximum(maximum(t2, t3), largest))
    for x in range(K - K % 4, K):
        t = zeros(F, lanes)
        for y in range(K):
            t = multiply_add(number(A, x * K + y), load(F, y * TILE + c, lanes), t)
        largest = maximum(t, largest)
    store(largest, best, c)


@kernel(parallel=True, fastmath=SUMS)
def evaluate(V: Array, Q: Array, X: Array, neighbours: Array, B: int, slots: Slots, out: Array) -> None:
    """out[q, c] = max_x Σ_y w[x, y] V[n_y, c] with the weights w of ``_weigh``, in parallel over q."""
    rows, C = V.shape
    K, N, R = len(slots), rows // B, Q.shape[1]
    for block in prange((rows + BLOCK - 1) // BLOCK):
        A, F = np.empty((K, K), V.dtype), np.zeros((K, TILE), V.dtype)
        queries, keys = np.empty((K, R), V.dtype), np.empty((R, K), V.dtype)
        best = np.empty(TILE, V.dtype)
        for q in range(block * BLOCK, min(block * BLOCK + BLOCK, rows)):
            first_row = q // N * N
            _weigh(Q, X, first_row, neighbours, q, slots, queries, keys, A)
            for c0 in range(0, C, TILE):
                W = min(TILE, C - c0)
                gather_tile(V, first_row, neighbours, q, c0, W, F)
                best[:] = -np.inf
                c = 0
                while W - c > 8:
                    _largest_strip(A, F, c, slots, LANES_16, best)
                    c += 16
                if c < W:
                    _largest_strip(A, F, c, slots, LANES_8, best)
                row = out[q, c0 : c0 + W]
                for c in range(W):
                    row[c] = best[c]
