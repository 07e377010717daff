"""Normals of the surfaces that scanned points lie on: a numba kernel on the CPU, pure torch on any other device."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from point2node.geometry.neighbours import nearest_indices
from point2node.geometry.normal_kernels import find_normals
from point2node.geometry.sampling import grid_sampling
from point2node.kernels.switch import use_kernels
from point2node.kernels.threads import match_torch_threads

CELL = 0.03
"""Metres: finer detail than this is mostly a scanner's noise."""
NEIGHBOURS = 16
"""Cells around one that its plane is fitted to: about 7 cm to each side."""
LINE = 1e-6
"""Where the second largest extent of the neighbours is so small a share of the largest, they lie on a line."""


@dataclass(frozen=True)
class SurfaceCells:
    """A cloud of N points as the mean points of M occupied cells, with the normals of the surface there."""

    number: Tensor
    """(N,) the cell of each point."""
    means: Tensor
    """(M, 3)."""
    normals: Tensor
    """(M, 3), of unit length; 0 where the neighbours of a cell lie on a line or in one place."""


def estimate_normals(xyz: Tensor, *, cell: float = CELL) -> Tensor:
    """Unit normals (N, 3) of one cloud (N, 3): those of the cells of ``find_surface``, whose arguments these are."""
    if not len(xyz):
        return torch.zeros_like(xyz)
    surface = find_surface(xyz, cell=cell)
    return surface.normals[surface.number]


def find_surface(xyz: Tensor, *, cell: float = CELL) -> SurfaceCells:
    """The cells of one cloud (N, 3) and their normals, whose sign says nothing: the first of z, y, x that is not 0 is
    positive.

    The points of each cubic cell of side ``cell`` are replaced by their mean, so that the result does not depend on the
    density of a scan. A cell's normal is the direction in which its nearest cells spread least: the eigenvector of the
    smallest eigenvalue of Σ (p − p̄)(p − p̄)ᵀ.

    Args:
        xyz: float32 or float64, in metres; at least one point.
        cell: metres.
    """
    first, number = grid_sampling(xyz, cell)
    shifted = (xyz - xyz[first][number]).double()  # near 0: no digits are lost far from the origin
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
