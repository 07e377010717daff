"""Surface normals of scanned points: a numba kernel on the CPU, pure torch on any other device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor

from point2node.geometry.neighbours import nearest_indices
from point2node.geometry.sampling import grid_sampling
from point2node.kernels.calling import match_torch_threads, use_kernels
from point2node.kernels.compiling import kernel

CELL = 0.03
"""Metres: finer detail is mostly scanner noise."""
NEIGHBOURS = 16
"""Number of nearest cells that a plane is fitted to: about 7 cm to each side."""
LINE = 1e-6
"""Neighbours form a line if their second largest extent is below this share of the largest."""


@dataclass(frozen=True)
class SurfaceCells:
    """A cloud of N points as the mean points of M occupied cells, with the normals of the surface there."""

    number: Tensor
    """(N,) the cell of each point."""
    means: Tensor
    """(M, 3)."""
    normals: Tensor
    """(M, 3), of unit length; 0 if the neighbours of a cell are on a line or in one place."""


def estimate_normals(xyz: Tensor, *, cell: float = CELL) -> Tensor:
    """Estimate unit normals (N, 3) of one cloud (N, 3), cell by cell; arguments as for ``find_surface``."""
    if not len(xyz):
        return torch.zeros_like(xyz)
    surface = find_surface(xyz, cell=cell)
    return surface.normals[surface.number]


def find_surface(xyz: Tensor, *, cell: float = CELL) -> SurfaceCells:
    """Find the cells of one cloud (N, 3) and their normals. The sign is arbitrary: the first nonzero one of z, y, x is
    positive.

    The points of each cubic cell of side ``cell`` are replaced by their mean, so that the result does not depend on the
    density of a scan. A cell's normal is the direction in which its nearest cells spread least: the eigenvector of the
    smallest eigenvalue of Σ (p − p̄)(p − p̄)ᵀ.

    Args:
        xyz: float32 or float64, in metres; at least one point.
        cell: metres.
    """
    first, number = grid_sampling(xyz, cell)
    shifted = (xyz - xyz[first][number]).double()  # near 0, so that no digits are lost far from the origin
    counts = torch.bincount(number, minlength=len(first))[:, None]
    means = xyz[first].double() + shifted.new_zeros(len(first), 3).index_add_(0, number, shifted) / counts
    means = means.to(xyz.dtype)
    neighbours = nearest_indices(means[None], means[None], NEIGHBOURS)[0]
    if use_kernels(xyz):
        match_torch_threads()
        normals = torch.from_numpy(find_normals(means.contiguous().numpy(), neighbours.contiguous().numpy(), LINE))
    else:
        normals = find_normals_in_torch(means, neighbours)
    return SurfaceCells(number, means, normals)


def find_normals_in_torch(points: Tensor, neighbours: Tensor) -> Tensor:
    """The kernel's twin: normals (M, 3) of points (M, 3) with neighbours (M, K)."""
    around = points[neighbours].double()
    centred = around - around.mean(dim=1, keepdim=True)
    values, vectors = torch.linalg.eigh(centred.mT @ centred)
    normals = vectors[..., 0]
    x, y, z = normals.unbind(-1)
    deciding = torch.where(z != 0, z, torch.where(y != 0, y, x))
    normals = normals * torch.where(deciding < 0, -1.0, 1.0)[:, None]
    flat = values[:, 1] > LINE * values[:, 2]
    return torch.where(flat[:, None], normals, 0.0).to(points.dtype)


Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]
Doubles = NDArray[np.float64]

POINTS_PER_TASK = 64  # enough to repay the small arrays that each task allocates
SWEEPS = 12
"""More than Jacobi's method ever needs for a 3 × 3 matrix: it converges quadratically."""


@kernel(parallel=True)
def find_normals(points: Floats, neighbours: Integers, line: float) -> Floats:
    """Find normals (M, 3) of points (M, 3), each fitted to its neighbours (M, K); 0 if these are on a line."""
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
    """Find the eigenvalues (M, 3) of the covariance of the neighbours (M, K) of points (M, 3), smallest first, and the
    directions (M, 3) in which they spread least and most, of unit length and any sign.
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
    """Write the upper triangle of Σ (p − p̄)(p − p̄)ᵀ over the points ``around``, and their mean p̄."""
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
    """Jacobi's method: replace the diagonal of a symmetric matrix, given by its upper triangle, by its eigenvalues, and
    write its eigenvectors as columns.
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
