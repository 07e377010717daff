"""Farthest point, random and grid sampling."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from point2node.core.errors import InputError
from point2node.geometry.coordinates import check_coordinates
from point2node.geometry.sampling_kernels import cell_keys, number_cells, sample_farthest
from point2node.kernels.calling import match_torch_threads, use_kernels

CELLS_PER_POINT = 16
"""If the bounding box has at most this many cells per point, a table of all cells is faster than sorting the keys."""


def farthest_point_sampling(xyz: Tensor, count: int, *, start: int = 0) -> Tensor:
    """Return indices (B, count) of s_0 = start, s_i = argmax over p not yet chosen of min_{j<i} ‖p − s_j‖².

    Ties go to the lowest index, and indices are distinct even if points coincide.
    The kernel and torch round (dx² + dy²) + dz² the same way, so they choose the same points.

    Args:
        xyz: (B, N, 3), float32 or float64.
        count: how many points, 1 to N.
        start: index of the first point, the same in every cloud.
    """
    check_coordinates(xyz)
    total = xyz.shape[1]
    _check_count(count, total)
    if not 0 <= start < total:
        raise InputError("start", expected=f"an index from 0 to {total - 1}", found=str(start))
    xyz = xyz.detach()
    if not use_kernels(xyz):
        return _sample_farthest_in_torch(xyz, count, start)
    match_torch_threads()
    bits = torch.empty(xyz.shape[:2], dtype=torch.int32 if xyz.dtype == torch.float32 else torch.int64)
    return torch.from_numpy(sample_farthest(xyz.contiguous().numpy(), bits.numpy(), count, start))


def _sample_farthest_in_torch(xyz: Tensor, count: int, start: int) -> Tensor:
    clouds = torch.arange(len(xyz), device=xyz.device)
    squares = xyz.new_full(xyz.shape[:2], math.inf)  # to the nearest chosen point; -1 once chosen itself
    chosen = clouds.new_empty(len(xyz), count)
    newest = torch.full_like(clouds, start)
    for step in range(count):
        chosen[:, step] = newest
        squares[clouds, newest] = -1
        x, y, z = (xyz - xyz[clouds, newest, None]).square().unbind(-1)
        squares = torch.minimum(squares, (x + y) + z)
        newest = squares.argmax(dim=1)  # the first of ties
    return chosen


def random_sampling(total: int, count: int, generator: torch.Generator) -> Tensor:
    """Return the first ``count`` indices (count,) of a random order of 0, …, total − 1; ``generator`` on the CPU."""
    _check_count(count, total)
    return torch.randperm(total, generator=generator)[:count]


def grid_sampling(xyz: Tensor, cell: float) -> tuple[Tensor, Tensor]:
    """Return the lowest-index point of every occupied cubic cell of side ``cell``, and the cell of every point (N,).

    A point is in cell ⌊(xyz − min xyz) / cell⌋, taken in double precision. Occupied cells are numbered in
    the lexicographic order of (x, y, z). The first result has one point index per cell, in that order; the
    second maps each point to its position in the first.
    """
    if xyz.dim() != 2:
        raise InputError("xyz", expected="one cloud of shape (N, 3)", found=f"shape {tuple(xyz.shape)}")
    check_coordinates(xyz[None])
    if not (math.isfinite(cell) and cell > 0):
        raise InputError("cell", expected="a finite side above 0", found=str(cell))
    xyz = xyz.detach()
    lower, upper = xyz.amin(dim=0).double(), xyz.amax(dim=0).double()
    sizes = ((upper - lower) / cell).floor() + 1
    cells = sizes.prod().item()
    if cells >= 2.0**62:  # half of the int64 range, because this product is rounded
        size_x, size_y, size_z = sizes.tolist()
        raise InputError(
            "cell",
            expected="fewer than 2^62 cells in the bounding box",
            found=f"{size_x:g} × {size_y:g} × {size_z:g} at {cell:g} m",
            remedy="Use larger cells or remove far outliers.",
        )
    if use_kernels(xyz):
        match_torch_threads()
        keys = torch.from_numpy(cell_keys(xyz.contiguous().numpy(), lower.numpy(), cell, sizes.long().numpy()))
        if cells <= CELLS_PER_POINT * len(xyz) and len(xyz) < 2**31:
            firsts, numbers = number_cells(keys.numpy(), int(cells))
            return torch.from_numpy(firsts), torch.from_numpy(numbers)
    else:
        x, y, z = ((xyz.double() - lower) / cell).floor().long().unbind(-1)
        keys = (x * sizes[1].long() + y) * sizes[2].long() + z
    _, cell_of_point = keys.unique(return_inverse=True)
    points = torch.arange(len(xyz), device=xyz.device)
    first = points.new_empty(int(cell_of_point.max()) + 1)
    return first.scatter_reduce_(0, cell_of_point, points, "amin", include_self=False), cell_of_point


def _check_count(count: int, total: int) -> None:
    if not 1 <= count <= total:
        raise InputError("count", expected=f"1 to {total}, the number of points", found=str(count))
