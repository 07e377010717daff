"""The numba kernels behind ``normals`` and ``surroundings``: eigenvalues and eigenvectors of many 3 × 3 matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]
Doubles = NDArray[np.float64]

POINTS_PER_TASK = 64  # enough to repay the small arrays that each task allocates
SWEEPS = 12
"""More than Jacobi's method ever takes for a 3 × 3 matrix: it converges quadratically."""


@kernel(parallel=True)
def find_normals(points: Floats, neighbours: Integers, line: float) -> Floats:
    """Normals (M, 3) of points (M, 3), each fitted to its neighbours (M, K); 0 where these lie on a line."""
    total = len(neighbours)
    normals = np.zeros((total, 3), points.dtype)
    for task in prange((total + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
        matrix, vectors, middle = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
        for p in range(task * POINTS_PER_TASK, min((task + 1) * POINTS_PER_TASK, total)):
            _sum_squares(points, neighbours[p], middle, matrix)
            _diagonalise(matrix, vectors)
            low, high = 0, 0
            for axis in range(1, 3):
                low = axis if matrix[axis, axis] < matrix[low, low] else low
                high = axis if matrix[axis, axis] >= matrix[high, high] else high
            if low == high or matrix[3 - low - high, 3 - low - high] <= line * matrix[high, high]:
                continue
            x, y, z = vectors[0, low], vectors[1, low], vectors[2, low]
            sign = -1.0 if z < 0 or (z == 0 and (y < 0 or (y == 0 and x < 0))) else 1.0
            normals[p, 0], normals[p, 1], normals[p, 2] = sign * x, sign * y, sign * z
    return normals


@kernel(parallel=True)
def find_axes(points: Floats, neighbours: Integers) -> tuple[Doubles, Doubles, Doubles]:
    """How the neighbours (M, K) of points (M, 3) spread: the eigenvalues (M, 3) of their covariance, smallest first,
    and the directions (M, 3) in which they spread least and most, of unit length and of any sign.
    """
    total = len(neighbours)
    values, least, most = np.empty((total, 3)), np.empty((total, 3)), np.empty((total, 3))
    for task in prange((total + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
        matrix, vectors, middle = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
        for p in range(task * POINTS_PER_TASK, min((task + 1) * POINTS_PER_TASK, total)):
            _sum_squares(points, neighbours[p], middle, matrix)
            _diagonalise(matrix, vectors)
            low, high = 0, 0
            for axis in range(1, 3):
                low = axis if matrix[axis, axis] < matrix[low, low] else low
                high = axis if matrix[axis, axis] >= matrix[high, high] else high
            if low == high:  # all are equal
                low, high = 0, 2
            values[p, 0] = matrix[low, low] / neighbours.shape[1]
            values[p, 1] = matrix[3 - low - high, 3 - low - high] / neighbours.shape[1]
            values[p, 2] = matrix[high, high] / neighbours.shape[1]
            least[p], most[p] = vectors[:, low], vectors[:, high]
    return values, least, most


@kernel()
def _sum_squares(points: Floats, around: Integers, middle: Floats, matrix: Floats) -> None:
    """Write the upper triangle of Σ (p − p̄)(p − p̄)ᵀ over the points ``around``, whose mean p̄ is written too."""
    middle[:] = 0.0
    matrix[:] = 0.0
    for other in around:
        for axis in range(3):
            middle[axis] += points[other, axis]
    middle /= len(around)
    for other in around:
        x, y, z = points[other, 0] - middle[0], points[other, 1] - middle[1], points[other, 2] - middle[2]
        matrix[0, 0] += x * x
        matrix[0, 1] += x * y
        matrix[0, 2] += x * z
        matrix[1, 1] += y * y
        matrix[1, 2] += y * z
        matrix[2, 2] += z * z


@kernel()
def _diagonalise(matrix: Floats, vectors: Floats) -> None:
    """Jacobi's method: turn the diagonal of a symmetric matrix, given by its upper triangle, into its eigenvalues, and
    write its eigenvectors, as columns.
    """
    for i in range(3):
        for j in range(3):
            vectors[i, j] = 1.0 if i == j else 0.0
    scale = matrix[0, 0] + matrix[1, 1] + matrix[2, 2]
    for _ in range(SWEEPS):
        if abs(matrix[0, 1]) + abs(matrix[0, 2]) + abs(matrix[1, 2]) <= 1e-15 * scale:
            return
        for i in range(2):
            for j in range(i + 1, 3):
                off = matrix[i, j]
                if off == 0.0:
                    continue
                ratio = (matrix[j, j] - matrix[i, i]) / (2.0 * off)
                tangent = 1.0 / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
                tangent = -tangent if ratio < 0.0 else tangent
                cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                matrix[i, i] -= tangent * off
                matrix[j, j] += tangent * off
                matrix[i, j] = 0.0
                other = 3 - i - j
                a, b = min(i, other), max(i, other)
                c, d = min(j, other), max(j, other)
                to_i, to_j = matrix[a, b], matrix[c, d]
                matrix[a, b] = cosine * to_i - sine * to_j
                matrix[c, d] = sine * to_i + cosine * to_j
                for row in range(3):
                    at_i, at_j = vectors[row, i], vectors[row, j]
                    vectors[row, i] = cosine * at_i - sine * at_j
                    vectors[row, j] = sine * at_i + cosine * at_j
