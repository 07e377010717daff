"""ELU and batch norm of rows and their gradient as few passes over memory; rows are M vectors of C channels.

A tile is a block of rows that stays in the cache. Sums are taken tile by tile and joined in a fixed order, so the
result does not depend on the number of threads. Rows are copied by loops, because numba takes seconds to compile the
assignment of one array to another.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from point2node.kernels.compiling import kernel
from point2node.models.operators.exponential_kernels import elu
from point2node.models.operators.tile_kernels import SUMS, Array

TILE_VALUES = 16384
"""Values in a tile: 64 kB of float32, an eighth of a core's L2 cache."""


@kernel()
def rows_in_tile(C: int) -> int:
    """How many rows of C channels make a tile."""
    return max(1, TILE_VALUES // C)


@kernel(parallel=True, fastmath=SUMS)
def activate_and_take_moments(activated: bool, y: Array) -> tuple[Array, Array, Array]:
    """y becomes elu(y), if activated; the moments of what it is then.

    For each tile its rows (tiles,), and for each of its channels mean and sum of squared deviations (tiles, C).
    """
    M, C = y.shape
    rows = rows_in_tile(C)
    tiles = (M + rows - 1) // rows
    counts = np.empty(tiles)
    means, deviations = np.empty((tiles, C), y.dtype), np.empty((tiles, C), y.dtype)
    for tile in prange(tiles):
        first, last = tile * rows, min(M, tile * rows + rows)
        mean, deviation = np.zeros(C, y.dtype), np.zeros(C, y.dtype)
        counts[tile] = last - first
        for r in range(first, last):
            row = y[r]
            if activated:
                for c in range(C):
                    row[c] = elu(row[c])
            for c in range(C):
                mean[c] += row[c]
        for c in range(C):
            mean[c] /= last - first
        for r in range(first, last):
            row = y[r]
            for c in range(C):
                difference = row[c] - mean[c]
                deviation[c] += difference * difference
        for c in range(C):
            means[tile, c], deviations[tile, c] = mean[c], deviation[c]
    return counts, means, deviations


@kernel(parallel=True, fastmath=SUMS)
def scale_and_shift(y: Array, out: Array, scale: Array, shift: Array) -> None:
    """out[r, c] = scale[c] · y[r, c] + shift[c]."""
    M, C = y.shape
    rows = rows_in_tile(C)
    for tile in prange((M + rows - 1) // rows):
        for r in range(tile * rows, min(M, tile * rows + rows)):
            row, target = y[r], out[r]
            for c in range(C):
                target[c] = scale[c] * row[c] + shift[c]


@kernel(parallel=True, fastmath=SUMS)
def activate_and_normalise(
    activated: bool, y: Array, weight: Array, bias: Array, mean: Array, variance: Array, eps: float
) -> None:
    """In place y = weight · (elu(y) − mean) / √(variance + eps) + bias with known statistics; without ELU if not
    activated. A row may hold several rows of len(weight) channels side by side.
    """
    M, C = y.shape
    scale, shift = np.empty(C, y.dtype), np.empty(C, y.dtype)
    for c in range(C):
        channel = c % len(weight)
        scale[c] = weight[channel] / np.sqrt(variance[channel] + eps)
        shift[c] = bias[channel] - mean[channel] * scale[c]
    rows = rows_in_tile(C)
    for tile in prange((M + rows - 1) // rows):
        for r in range(tile * rows, min(M, tile * rows + rows)):
            row = y[r]
            if activated:
                for c in range(C):
                    row[c] = scale[c] * elu(row[c]) + shift[c]
            else:
                for c in range(C):
                    row[c] = scale[c] * row[c] + shift[c]


@kernel(parallel=True, fastmath=SUMS)
def tile_gradient_sums(grad: Array, y: Array, mean: Array) -> tuple[Array, Array]:
    """For each tile and channel Σ grad and Σ grad · (y − mean), (tiles, C) each."""
    M, C = y.shape
    rows = rows_in_tile(C)
    tiles = (M + rows - 1) // rows
    sums, products = np.empty((tiles, C), y.dtype), np.empty((tiles, C), y.dtype)
    for tile in prange(tiles):
        total, product = np.zeros(C, y.dtype), np.zeros(C, y.dtype)
        for r in range(tile * rows, min(M, tile * rows + rows)):
            row, g = y[r], grad[r]
            for c in range(C):
                total[c] += g[c]
                product[c] += g[c] * (row[c] - mean[c])
        for c in range(C):
            sums[tile, c], products[tile, c] = total[c], product[c]
    return sums, products


@kernel(parallel=True, fastmath=SUMS)
def input_gradient(activated: bool, grad: Array, y: Array, out: Array, a: Array, b: Array, d: Array) -> None:
    """out = a·grad + b·y + d, the gradient of the norm; times ELU's slope, which is 1 + min(y, 0), if activated."""
    M, C = y.shape
    rows = rows_in_tile(C)
    zero, one = y.dtype.type(0), y.dtype.type(1)
    for tile in prange((M + rows - 1) // rows):
        for r in range(tile * rows, min(M, tile * rows + rows)):
            row, g, target = y[r], grad[r], out[r]
            if activated:
                for c in range(C):
                    slope = one + (row[c] if row[c] < zero else zero)
                    target[c] = (a[c] * g[c] + b[c] * row[c] + d[c]) * slope
            else:
                for c in range(C):
                    target[c] = a[c] * g[c] + b[c] * row[c] + d[c]
