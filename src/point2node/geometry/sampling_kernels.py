"""The numba kernel behind the CPU path of farthest point sampling.

Minimum and maximum are taken on the bit patterns of the squared distances, read as integers: for floats that
are not negative the order is the same, and LLVM vectorises it, which it does not for floats. The pattern of
-1.0 is a negative integer, so a chosen point marked with it stays below all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.signedinteger[Any]]

BLOCK = 512  # points per partial maximum: the search for the first maximum then reads one block, not the cloud


@njit(parallel=True, cache=True)
def sample_farthest(points: Floats, bits: Integers, count: int, start: int) -> NDArray[np.int64]:
    """Indices (B, count) of the greedy farthest points of each cloud of ``points`` (B, N, 3).

    ``bits`` (B, N) is working space: integers as wide as the coordinates.
    """
    clouds, total, _ = points.shape
    chosen = np.empty((clouds, count), np.int64)
    blocks = (total + BLOCK - 1) // BLOCK
    for cloud in prange(clouds):
        x, y, z = points[cloud, :, 0].copy(), points[cloud, :, 1].copy(), points[cloud, :, 2].copy()
        nearest_bits = bits[cloud]  # of the squared distance to the nearest chosen point
        nearest = nearest_bits.view(points.dtype)
        nearest[:] = np.inf
        squares = np.empty(BLOCK, points.dtype)
        tops = np.empty(blocks, bits.dtype)
        newest = start
        for step in range(count):
            chosen[cloud, step] = newest
            nearest[newest] = -1
            for block in range(blocks):
                i, j = block * BLOCK, min((block + 1) * BLOCK, total)
                _square_distances(x[i:j], y[i:j], z[i:j], x[newest], y[newest], z[newest], squares)
                tops[block] = _lower(nearest_bits[i:j], squares.view(bits.dtype))
            farthest = int(np.argmax(tops))  # the first of equal ones, here and within the block
            newest = farthest * BLOCK
            while nearest_bits[newest] != tops[farthest]:
                newest += 1
    return chosen


@njit(cache=True)
def _square_distances(x: Floats, y: Floats, z: Floats, to_x: Any, to_y: Any, to_z: Any, out: Floats) -> None:
    """(dx² + dy²) + dz², without fused multiply-adds, so that it rounds as in torch."""
    for i in range(len(x)):
        dx, dy, dz = x[i] - to_x, y[i] - to_y, z[i] - to_z
        out[i] = (dx * dx + dy * dy) + dz * dz


@njit(cache=True)
def _lower(nearest: Integers, candidates: Integers) -> Any:
    """Lower each entry of ``nearest`` to its candidate where that is less; return the largest entry left."""
    top = min(nearest[0], candidates[0])
    for i in range(len(nearest)):
        value = min(nearest[i], candidates[i])
        nearest[i] = value
        top = max(top, value)
    return top
