"""Averaging of values along smooth surfaces of a cloud: kernels on the CPU, torch on any other device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor

from point2node.geometry.neighbours import nearest_indices
from point2node.geometry.normals import find_surface
from point2node.kernels.calling import match_torch_threads, use_kernels
from point2node.kernels.compiling import kernel

NEIGHBOURS = 24
"""Number of nearest cells that a cell can be linked to: about 8 cm to each side."""
ALIKE = math.cos(math.radians(18))
"""Cosine of the largest angle between the normals of linked cells."""
OFFSET = 0.03
"""Metres: the largest distance of a linked cell from the other's plane."""
ROUNDS = 32
"""Number of successive averages; together they reach about half a metre along a surface."""


def smooth_on_surfaces(xyz: Tensor, values: Tensor, weights: Tensor, *, rounds: int = ROUNDS) -> Tensor:
    """Average values (N, C) over the surface of each point, but not across its edges.

    The points of each 3 cm cell become one, with the weighted mean of their values and the mean of their weights.
    Cell j is linked to cell i if it is among the nearest, their normals differ by less than 18°, and it is less than
    3 cm from the plane of i; every cell is linked to itself. Then, ``rounds`` times: vᵢ ← Σⱼ wⱼ vⱼ / Σⱼ wⱼ over the
    links of i. Finally, points get the values of their cell.

    Args:
        xyz: (N, 3), in metres, in the dtype of the values.
        values: (N, C), such as probabilities.
        weights: (N,), above 0: how much a point's values count, such as their confidence.
        rounds: the number of averages.
    """
    if not len(xyz):
        return values
    surface = find_surface(xyz)
    number, cells = surface.number, len(surface.means)
    totals = weights.new_zeros(cells).index_add_(0, number, weights)
    means = values.new_zeros(cells, values.shape[1]).index_add_(0, number, values * weights[:, None]) / totals[:, None]
    cell_weights = totals / torch.bincount(number, minlength=cells)
    neighbours = nearest_indices(surface.means[None], surface.means[None], NEIGHBOURS)[0]
    if use_kernels(xyz):
        match_torch_threads()
        links = link_surface(surface.means.numpy(), surface.normals.numpy(), neighbours.numpy(), ALIKE, OFFSET)
        found = means.numpy()
        for _ in range(rounds):
            found = spread(found, cell_weights.numpy(), links)
        return torch.from_numpy(found)[number]
    linked_weights = _links_in_torch(surface.means, surface.normals, neighbours) * cell_weights[neighbours]
    for _ in range(rounds):
        means = spread_in_torch(means, neighbours, linked_weights)
    return means[number]


def spread_in_torch(values: Tensor, neighbours: Tensor, weights: Tensor) -> Tensor:
    """The kernel's twin: weighted mean of the values (M, C) of neighbours (M, K); a weight of 0 means no link."""
    shares = weights / weights.sum(dim=1, keepdim=True)
    columns = [(shares * column[neighbours]).sum(dim=1) for column in values.unbind(1)]  # (M, K, C) would be large
    return torch.stack(columns, dim=1)


def _links_in_torch(points: Tensor, normals: Tensor, neighbours: Tensor) -> Tensor:
    """Return which neighbours a cell is linked to, (M, K) bool."""
    alike = (normals[:, None] * normals[neighbours]).sum(dim=-1).abs() >= ALIKE
    offset = ((points[neighbours] - points[:, None]) * normals[:, None]).sum(dim=-1).abs()
    itself = neighbours == torch.arange(len(points), device=points.device)[:, None]
    return (alike & (offset <= OFFSET)) | itself


Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


@kernel(parallel=True)
def link_surface(points: Floats, normals: Floats, neighbours: Integers, alike: float, offset: float) -> Integers:
    """Return the neighbours on the same surface as each point, then −1, (M, K) int32."""
    total, k = neighbours.shape
    links = np.full((total, k), -1, np.int32)
    for p in prange(total):
        count = 0
        for i in range(k):
            other = neighbours[p, i]
            cosine, distance = 0.0, 0.0
            for axis in range(3):
                cosine += normals[p, axis] * normals[other, axis]
                distance += normals[p, axis] * (points[other, axis] - points[p, axis])
            if other == p or (abs(cosine) >= alike and abs(distance) <= offset):
                links[p, count] = other
                count += 1
    return links


@kernel(parallel=True)
def spread(values: Floats, weights: Floats, links: Integers) -> Floats:
    """Return for each point the weighted mean of the values (M, C) of the points that it is linked to, (M, C)."""
    total, channels = values.shape
    found = np.empty((total, channels), values.dtype)
    for p in prange(total):
        sums, weight = np.zeros(channels), 0.0
        for i in range(links.shape[1]):
            other = links[p, i]
            if other < 0:
                break
            weight += weights[other]
            for channel in range(channels):
                sums[channel] += weights[other] * values[other, channel]
        for channel in range(channels):
            found[p, channel] = sums[channel] / weight
    return found
