"""What the surroundings of a point look like, from its own few centimetres to the whole room, as numbers.

A network that sees some thousand points of a block sees neither the fine relief of a surface nor the room around the
block. These numbers tell it of both. They are made of cells, not of points, so that the density of a scan hardly
matters, and none of them changes when a scan is turned about the vertical but for where the cells' borders fall.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import binary_closing, binary_fill_holes, distance_transform_edt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from point2node.core.words import WIDTHS, Feature
from point2node.geometry.frames import floor_height
from point2node.geometry.neighbours import nearest_indices
from point2node.geometry.normals import find_axes
from point2node.geometry.sampling import grid_sampling
from point2node.kernels.calling import match_torch_threads

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

CELL = 0.04
"""Metres: the side of the cells that are described; points of one cell share one description."""
SCALES = (0.04, 0.10, 0.25, 0.50)
"""Metres: the cells of each scale of ``shape``; 16 of them reach about two sides far."""
NEIGHBOURS = 16
COLUMNS = (0.1, 0.4)
"""Metres: the sides of the columns."""
STOREY = 0.1
"""Metres: the height of the cells whose number says how full a column is."""
FARTHEST = 5.0
"""Metres: longer distances and extents make no difference."""
RASTER, LARGEST_RASTER = 0.05, 2**24
"""Metres: the side of the squares of the footprint; larger where there would be too many of them."""
CLOSED = 4
"""Squares: gaps of the footprint up to twice as wide are closed."""
INDOORS = 3.0
"""Metres: farther from the edge of the footprint makes no difference."""
PATCH, LINKED = 0.06, 12
"""Metres, and how many of the nearest cells of that side a cell may form a segment with."""
TOLERANCES = ((8.0, 0.01), (5.0, 0.006))
"""Of a segment: the largest angle between neighbours in degrees, and how far in metres one may lie off the other's
plane; the second tells apart what the first takes for one surface."""
OFF_PLANE_PER_METRE = 0.1
"""How much farther off the plane a neighbour may lie, for each metre between them."""
ROUGHEST = 0.02
"""Metres: a cell whose neighbours spread more across their plane is no smooth surface and a segment of its own."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Descriptions of N points by the M cells they lie in."""

    number: Numbers
    """(N,) the cell of each point."""
    table: NDArray[np.float32]
    """(M, width) the features of each cell, one after the other."""


def describe_surroundings(xyz: NDArray[np.floating], wanted: Sequence[Feature]) -> Surroundings:
    """The wanted ones of ``DESCRIPTIONS`` for one cloud (N, 3) in metres, z up; at least one point."""
    means, number = cells_of(np.array(xyz, np.float64), CELL)  # a copy: torch takes no array that is read-only
    means = means - [*means[:, :2].min(axis=0), floor_height(means[:, 2].astype(np.float32))]
    table = np.concatenate([DESCRIPTIONS[name](means) for name in wanted], axis=1)
    assert table.shape[1] == sum(WIDTHS[name] for name in wanted)
    return Surroundings(number, table.astype(np.float32))


def describe_shape(means: Floats) -> Floats:
    """(M, 24): for each of four scales what the 16 nearest cells are like.

    Of the eigenvalues λ₁ ≥ λ₂ ≥ λ₃ of their covariance: linearity (λ₁ − λ₂)/λ₁, planarity (λ₂ − λ₃)/λ₁, the root of
    the surface variation λ₃/Σλ, the thickness √λ₃ in sides of a cell; and how upright the normal and the main direction
    are, |z| of each.
    """
    parts = []
    for side in SCALES:
        points, number = cells_of(means, side)
        values, normals, axes = _axes(points, _nearest(points, NEIGHBOURS))
        low, middle, high = np.maximum(values, 1e-12).T
        found = (
            np.abs(normals[:, 2]),
            (high - middle) / high,
            (middle - low) / high,
            np.sqrt(low / (low + middle + high)),
            np.minimum(np.sqrt(low) / side, 2.0),
            np.abs(axes[:, 2]),
        )
        parts.append(np.stack(found, axis=1)[number])
    return np.concatenate(parts, axis=1)


def describe_column(means: Floats) -> Floats:
    """(M, 6): metres down to the lowest and up to the highest point of the column that a cell stands in, and how many
    metres of the column's height are filled; for slim columns and for wide ones.
    """
    parts = []
    for side in COLUMNS:
        places = np.floor(means[:, :2] / side).astype(np.int64)
        keys, number = np.unique(places[:, 0] * (places[:, 1].max() + 1) + places[:, 1], return_inverse=True)
        lowest, highest = _extremes(means[:, 2], number, len(keys))
        storeys = np.floor((means[:, 2] - means[:, 2].min()) / STOREY).astype(np.int64)
        filled = np.unique(number * (storeys.max() + 1) + storeys) // (storeys.max() + 1)
        height = STOREY * np.bincount(filled, minlength=len(keys))
        parts += [means[:, 2] - lowest[number], highest[number] - means[:, 2], height[number]]
    return np.minimum(np.stack(parts, axis=1), FARTHEST)


def describe_boundary(means: Floats) -> Floats:
    """(M, 1): metres to the edge of the scan's footprint, seen from above, its gaps closed and its holes filled."""
    raster = max(RASTER, math.sqrt(float(np.prod(np.ptp(means[:, :2], axis=0))) / LARGEST_RASTER))
    places = np.floor(means[:, :2] / raster).astype(np.int64) + CLOSED + 1
    footprint = np.zeros(places.max(axis=0) + CLOSED + 2, bool)
    footprint[places[:, 0], places[:, 1]] = True
    footprint = binary_fill_holes(binary_closing(footprint, iterations=CLOSED))
    inside = distance_transform_edt(footprint) * raster
    return np.minimum(inside[places[:, 0], places[:, 1]], INDOORS)[:, None]


def describe_segment(means: Floats) -> Floats:
    """(M, 14): the smooth segment that a cell lies on, by two tolerances: its size, lowest and highest point, extents
    and normal.

    Cells form a segment where their normals agree and each lies on the other's plane. The size is the logarithm of the
    number of its cells, the extents are standard deviations along its three main directions, in metres, and of the
    normal the absolute value of z is given.
    """
    points, number = cells_of(means, PATCH)
    segments = smooth_segments(points)
    return np.concatenate([measure_segments(points, segment) for segment in segments], axis=1)[number]


def measure_segments(points: Floats, segment: Numbers) -> Floats:
    """(M, 7): size, lowest, highest, three extents and |z| of the normal of each point's segment."""
    count = np.bincount(segment)
    lowest, highest = _extremes(points[:, 2], segment, len(count))
    middle = np.stack([np.bincount(segment, points[:, axis]) for axis in range(3)], axis=1) / count[:, None]
    off = points - middle[segment]
    covariance = np.empty((len(count), 3, 3))
    for i in range(3):
        for j in range(3):
            covariance[:, i, j] = np.bincount(segment, off[:, i] * off[:, j]) / count
    values, vectors = np.linalg.eigh(covariance)
    extents = np.sqrt(np.maximum(values, 0.0))
    parts = [np.log1p(count) / 5, lowest, highest, *extents.T, np.abs(vectors[:, 2, 0])]
    return np.clip(np.stack(parts, axis=1), -1.0, FARTHEST)[segment]


DESCRIPTIONS: MappingProxyType[Feature, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "shape": describe_shape,
        "column": describe_column,
        "boundary": describe_boundary,
        "segment": describe_segment,
    }
)
"""How each of these features comes from the mean points (M, 3) of a cloud's cells, heights above the floor."""


def cells_of(xyz: Floats, side: float) -> tuple[Floats, Numbers]:
    """The mean points (M, 3) of the occupied cells, and the cell of each point."""
    _, found = grid_sampling(torch.from_numpy(xyz), side)
    number = found.numpy()
    count = np.bincount(number)
    lower = xyz.min(axis=0)  # near 0 no digits are lost
    sums = [np.bincount(number, xyz[:, axis] - lower[axis]) for axis in range(3)]
    return lower + np.stack(sums, axis=1) / count[:, None], number


def _nearest(points: Floats, count: int) -> Numbers:
    """(M, K): the nearest cells of each, itself first."""
    cloud = torch.from_numpy(points)[None]
    return nearest_indices(cloud, cloud, count)[0].numpy()


def _axes(points: Floats, neighbours: Numbers) -> tuple[Floats, Floats, Floats]:
    match_torch_threads()
    return find_axes(points, neighbours)


def _extremes(values: Floats, group: Numbers, groups: int) -> tuple[Floats, Floats]:
    """The lowest and the highest value of each group, none of which is empty."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups))
    return np.minimum.reduceat(values[order], starts), np.maximum.reduceat(values[order], starts)


def smooth_segments(points: Floats) -> list[Numbers]:
    """For each of the tolerances (M,): the number of each point's segment."""
    neighbours = _nearest(points, NEIGHBOURS)
    values, normals, _ = _axes(points, neighbours)
    near = neighbours[:, 1:LINKED]
    between = points[near] - points[:, None]
    distance = np.linalg.norm(between, axis=2)
    cosine = np.abs(np.einsum("mi,mki->mk", normals, normals[near]))
    here = np.abs(np.einsum("mki,mi->mk", between, normals))
    there = np.abs(np.einsum("mki,mki->mk", between, normals[near]))
    off_plane = np.maximum(here, there) - OFF_PLANE_PER_METRE * distance
    smooth = np.sqrt(np.maximum(values[:, 0], 0.0)) < ROUGHEST
    possible = (distance < 3 * PATCH) & smooth[:, None] & smooth[near]
    segments = []
    for angle, offset in TOLERANCES:
        cell, place = np.nonzero(possible & (cosine > math.cos(math.radians(angle))) & (off_plane < offset))
        links = coo_array((np.ones(len(cell), np.int8), (cell, near[cell, place])), shape=(len(points), len(points)))
        segments.append(connected_components(links, directed=False)[1].astype(np.int64))
    return segments
