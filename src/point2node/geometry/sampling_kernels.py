"""The numba kernels of the CPU path of sampling.

Minimum and maximum use the bit patterns of the squared distances, read as integers: for non-negative floats
the order is the same, and LLVM vectorises it, unlike for floats. The pattern of -1.0 is a negative integer, so a
chosen point marked with it stays below all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.signedinteger[Any]]

BLOCK = 512  # points per partial maximum: the search for the first maximum then reads one block, not the cloud


@kernel(parallel=True)
def sample_farthest(points: Floats, bits: Integers, count: int, start: int) -> NDArray[np.int64]:
    """Return indices (B, count) of the greedy farthest points of each cloud of ``points`` (B, N, 3).

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
            farthest = int(np.argmax(tops))  # the first of ties, here and within the block
            newest = farthest * BLOCK
            while nearest_bits[newest] != tops[farthest]:
                newest += 1
    return chosen


@kernel()
def _square_distances(x: Floats, y: Floats, z: Floats, to_x: Any, to_y: Any, to_z: Any, out: Floats) -> None:
    """(dx² + dy²) + dz², without fused multiply-adds, so that it rounds as in torch."""
    for i in range(len(x)):
        dx, dy, dz = x[i] - to_x, y[i] - to_y, z[i] - to_z
        out[i] = (dx * dx + dy * dy) + dz * dz


@kernel()
def _lower(nearest: Integers, candidates: Integers) -> Any:
    """Lower each entry of ``nearest`` to its candidate if that is less; return the largest entry."""
    top = min(nearest[0], candidates[0])
    for i in range(len(nearest)):
        value = min(nearest[i], candidates[i])
        nearest[i] = value
        top = max(top, value)
    return top


@kernel(parallel=True)
def cell_keys(points: NDArray[np.floating[Any]], lower: Any, cell: float, sizes: Any) -> NDArray[np.int64]:
    """Return the key (x·size_y + y)·size_z + z of each point's cell ⌊(point − lower) / cell⌋, in double precision."""
    keys = np.empty(len(points), np.int64)
    for i in prange(len(points)):
        x = np.int64((np.float64(points[i, 0]) - lower[0]) / cell)  # not negative, so truncation rounds down
        y = np.int64((np.float64(points[i, 1]) - lower[1]) / cell)
        z = np.int64((np.float64(points[i, 2]) - lower[2]) / cell)
        keys[i] = (x * sizes[1] + y) * sizes[2] + z
    return keys


@kernel()
def number_cells(keys: NDArray[np.int64], cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first point of each occupied cell in the order of keys, and each point's index in that list.

    Uses a table of all cells instead of a sort, which is faster unless the box has many more cells than points.
    """
    table = np.full(cells, -1, np.int32)
    occupied = 0
    for i in range(len(keys)):
        if table[keys[i]] < 0:
            table[keys[i]] = i
            occupied += 1
    first = np.empty(occupied, np.int64)
    occupied = 0
    for key in range(cells):
        if table[key] >= 0:
            first[occupied] = table[key]
            table[key] = occupied
            occupied += 1
    numbers = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        numbers[i] = table[keys[i]]
    return first, numbers
