"""The steps between the matrix products on a tile of non-local correlations, in one pass over each row."""

from __future__ import annotations

from typing import Any

from numba import njit, prange

from point2node.kernels.compiling import kernel
from point2node.models.operators.exponential_kernels import exp
from point2node.models.operators.tile_kernels import SUMS, Array

BLOCK = 32
"""Rows in a work item."""
LANES = 8
"""Partial sums of a row that are computed in parallel."""


@kernel(parallel=True, fastmath=SUMS)
def exponentiate(S: Array, largest: Array, total: Array, shrink: Array) -> None:
    """Do one step of the online softmax: S[i, j] = exp(S[i, j] − m[i]), with m the largest value so far.

    ``largest`` becomes m; ``total`` is rescaled to the new maximum and increased by the row's sum; ``shrink`` becomes
    the factor that rescales earlier sums from the old maximum to the new one.
    """
    M, N = S.shape
    for block in prange((M + BLOCK - 1) // BLOCK):
        for i in range(block * BLOCK, min(block * BLOCK + BLOCK, M)):
            row = S[i]
            top = largest[i]
            for j in range(N):
                top = row[j] if row[j] > top else top
            for j in range(N):
                row[j] = exp(row[j] - top)
            shrink[i] = exp(largest[i] - top)
            total[i] = total[i] * shrink[i] + _sum_row(row)
            largest[i] = top


@njit
def _sum_row(row: Array) -> Any:
    """Sum a row in a fixed order that still vectorises.

    If the compiler may choose the order, code loaded from disk may sum in another order than freshly compiled code.
    """
    a = b = c = d = e = f = g = h = row.dtype.type(0)
    whole = len(row) // LANES * LANES
    for j in range(0, whole, LANES):
        a += row[j]
        b += row[j + 1]
        c += row[j + 2]
        d += row[j + 3]
        e += row[j + 4]
        f += row[j + 5]
        g += row[j + 6]
        h += row[j + 7]
    for j in range(whole, len(row)):
        a += row[j]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel(parallel=True, fastmath=SUMS)
def softmax_gradient(S: Array, d_P: Array, log_sum: Array, delta: Array) -> None:
    """Replace S by P = exp(S − log_sum), and d_P by d_S = P ∘ (d_P − delta)."""
    M, N = S.shape
    for block in prange((M + BLOCK - 1) // BLOCK):
        for i in range(block * BLOCK, min(block * BLOCK + BLOCK, M)):
            row, gradient = S[i], d_P[i]
            for j in range(N):
                row[j] = exp(row[j] - log_sum[i])
                gradient[j] = row[j] * (gradient[j] - delta[i])
