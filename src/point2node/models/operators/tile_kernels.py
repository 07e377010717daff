"""The steps the fused loops share, on tiles: K neighbours × a few channels, small enough for the L1 cache.

Three rules make LLVM vectorise these loops (60 against 10 GFLOP/s on one core). The sum over neighbours has a length
known at compile time, so that it is unrolled. The loops over channels run from 0 over a 1-D view, so that no index
can be negative. Their length W is *not* known at compile time, or they would be unrolled instead.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]

Slots = tuple[int, ...]
"""K zeros: numba compiles a function once for each length of a tuple, which makes K a constant in it."""

SUMS = {"contract", "nsz", "reassoc"}
"""What the compiler may do to sums: reorder them and fuse a·b + c. NaN and infinity keep their meaning."""

TILE = 64
"""Channels in a tile: 16 neighbours × 64 channels × 4 bytes are 4 kB, and a kernel holds five such tiles."""

BLOCK = 64
"""Points in a work item of the loops that are parallel over points."""


@njit(fastmath=SUMS)
def load_matrix(matrices: Array, q: int, A: Array) -> None:
    """A[k, j] = matrices[q, k, j]."""
    matrix = matrices[q]
    for k in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[k, j] = matrix[k, j]


@njit(fastmath=SUMS)
def load_transpose(matrices: Array, q: int, A_T: Array) -> None:
    """A_T[j, k] = matrices[q, k, j]."""
    matrix = matrices[q]
    for j in range(A_T.shape[0]):
        for k in range(A_T.shape[1]):
            A_T[j, k] = matrix[k, j]


@njit(fastmath=SUMS)
def gather_tile(nodes: Array, first_row: int, neighbours: Array, q: int, c0: int, W: int, F: Array) -> None:
    """F[j, c] = nodes[first_row + neighbours[q, j], c0 + c] for c < W."""
    for j in range(F.shape[0]):
        row = nodes[first_row + neighbours[q, j], c0 : c0 + W]
        for c in range(W):
            F[j, c] = row[c]


@njit(fastmath=SUMS)
def scatter_tile(T: Array, first_row: int, neighbours: Array, q: int, c0: int, W: int, d_nodes: Array) -> None:
    """d_nodes[first_row + neighbours[q, j], c0 + c] += T[j, c] for c < W."""
    for j in range(T.shape[0]):
        row = d_nodes[first_row + neighbours[q, j], c0 : c0 + W]
        for c in range(W):
            row[c] += T[j, c]


@njit(fastmath=SUMS)
def multiply_tile(A: Array, F: Array, W: int, slots: Slots, T: Array) -> None:
    """T[k, c] = Σ_j A[k, j] F[j, c] for c < W."""
    for k in range(T.shape[0]):
        row = T[k]
        for c in range(W):
            total = A[k, 0] * F[0, c]
            for j in range(1, len(slots)):
                total += A[k, j] * F[j, c]
            row[c] = total


@njit(fastmath=SUMS)
def add_row_products(G: Array, F: Array, W: int, S: Array) -> None:
    """S[k, j] += Σ_c G[k, c] F[j, c] over c < W; four rows of F share each load of G."""
    K = S.shape[0]
    fours = K - K % 4
    for k in range(K):
        for j in range(0, fours, 4):
            s0 = s1 = s2 = s3 = G.dtype.type(0)
            for c in range(W):
                g = G[k, c]
                s0 += g * F[j, c]
                s1 += g * F[j + 1, c]
                s2 += g * F[j + 2, c]
                s3 += g * F[j + 3, c]
            S[k, j] += s0
            S[k, j + 1] += s1
            S[k, j + 2] += s2
            S[k, j + 3] += s3
        for j in range(fours, K):
            s0 = G.dtype.type(0)
            for c in range(W):
                s0 += G[k, c] * F[j, c]
            S[k, j] += s0
