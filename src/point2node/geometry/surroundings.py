"""Features of the surroundings of a point, from a few centimetres to the whole room.

A network that sees a few thousand points of a block sees neither the fine relief of a surface nor the room around the
block; these features describe both. They are computed from cells, not from points, so that they hardly depend on the
density of a scan. Rotating a scan about the vertical changes them only through the positions of the cells.
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
"""Metres: the side of the cells that are described; points of one cell share their features."""
SCALES = (0.04, 0.10, 0.25, 0.50)
"""Metres: the cells of each scale of ``shape``; 16 of them reach about two sides."""
NEIGHBOURS = 16
COLUMNS = (0.1, 0.4)
"""Metres: the sides of the columns."""
STOREY = 0.1
"""Metres: the height of the cells that measure how full a column is."""
FARTHEST = 5.0
"""Metres: the upper limit of distances and extents."""
RASTER, LARGEST_RASTER = 0.05, 2**24
"""Metres: the side of the squares of the footprint, increased if there would be more squares than the limit."""
CLOSED = 4
"""Squares: gaps in the footprint up to twice this width are closed."""
INDOORS = 3.0
"""Metres: the upper limit of the distance to the edge of the footprint."""
PATCH, LINKED = 0.06, 12
"""Metres: the side of the cells of segments; and how many of its nearest cells a cell can be joined with."""
TOLERANCES = ((8.0, 0.01), (5.0, 0.006))
"""Of a segment: the largest angle between neighbours in degrees, and the largest distance in metres from each other's
plane; the second pair separates surfaces that the first one joins."""
OFF_PLANE_PER_METRE = 0.1
"""How much farther from the plane a neighbour can be, per metre between them."""
ROUGHEST = 0.02
"""Metres: a cell whose neighbours spread more across their plane is not smooth and becomes a separate segment."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Features of N points, stored for the M cells that contain them."""

    number: Numbers
    """(N,) the cell of each point."""
    table: NDArray[np.float32]
    """(M, width) the features of each cell, concatenated."""


def describe_surroundings(xyz: NDArray[np.floating], wanted: Sequence[Feature]) -> Surroundings:
    """Compute the wanted ``DESCRIPTIONS`` of one cloud (N, 3) in metres, z up; at least one point."""
    means, number = cells_of(np.array(xyz, np.float64), CELL)  # a copy: torch does not accept read-only arrays
    means = means - [*means[:, :2].min(axis=0), floor_height(means[:, 2].astype(np.float32))]
    table = np.concatenate([DESCRIPTIONS[name](means) for name in wanted], axis=1)
    assert table.shape[1] == sum(WIDTHS[name] for name in wanted)
    return Surroundings(number, table.astype(np.float32))


def describe_shape(means: Floats) -> Floats:
    """Describe the 16 nearest cells at four scales, (M, 24).

    From the eigenvalues λ₁ ≥ λ₂ ≥ λ₃ of their covariance: linearity (λ₁ − λ₂)/λ₁, planarity (λ₂ − λ₃)/λ₁, the root of
    the surface variation λ₃/Σλ, the thickness √λ₃ in sides of a cell; and |z| of the normal and of the main direction,
    which says how upright they are.
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
    """Return metres down to the lowest and up to the highest point of the column that contains a cell, and how many
    metres of the column's height are filled, for narrow and for wide columns, (M, 6).
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
    """Return metres to the edge of the scan's footprint, with gaps closed and holes filled, (M, 1)."""
    raster = max(RASTER, math.sqrt(float(np.prod(np.ptp(means[:, :2], axis=0))) / LARGEST_RASTER))
    places = np.floor(means[:, :2] / raster).astype(np.int64) + CLOSED + 1
    footprint = np.zeros(places.max(axis=0) + CLOSED + 2, bool)
    footprint[places[:, 0], places[:, 1]] = True
    footprint = binary_fill_holes(binary_closing(footprint, iterations=CLOSED))
    inside = distance_transform_edt(footprint) * raster
    return np.minimum(inside[places[:, 0], places[:, 1]], INDOORS)[:, None]


def describe_segment(means: Floats) -> Floats:
    """Describe the smooth segment of each cell at two tolerances, (M, 14): size, lowest and highest point, extents and
    normal.

    Cells form a segment if their normals agree and each is on the other's plane. The size is the logarithm of the
    number of its cells, the extents are standard deviations along its three main directions, in metres, and the normal
    is given as |z|.
    """
    points, number = cells_of(means, PATCH)
    segments = smooth_segments(points)
    return np.concatenate([measure_segments(points, segment) for segment in segments], axis=1)[number]


def measure_segments(points: Floats, segment: Numbers) -> Floats:
    """Return size, lowest, highest, three extents and |z| of the normal of each point's segment, (M, 7)."""
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
"""The functions that compute these features from the mean points (M, 3) of a cloud's cells, z above the floor."""


def cells_of(xyz: Floats, side: float) -> tuple[Floats, Numbers]:
    """Return the mean points (M, 3) of the occupied cells, and the cell of each point (N,)."""
    _, found = grid_sampling(torch.from_numpy(xyz), side)
    number = found.numpy()
    count = np.bincount(number)
    lower = xyz.min(axis=0)  # near 0, so that no digits are lost
    sums = [np.bincount(number, xyz[:, axis] - lower[axis]) for axis in range(3)]
    return lower + np.stack(sums, axis=1) / count[:, None], number


def _nearest(points: Floats, count: int) -> Numbers:
    """Return the nearest cells of each cell, itself first, (M, K)."""
    cloud = torch.from_numpy(points)[None]
    return nearest_indices(cloud, cloud, count)[0].numpy()


def _axes(points: Floats, neighbours: Numbers) -> tuple[Floats, Floats, Floats]:
    match_torch_threads()
    return find_axes(points, neighbours)


def _extremes(values: Floats, group: Numbers, groups: int) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value of each group; no group may be empty."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups))
    return np.minimum.reduceat(values[order], starts), np.maximum.reduceat(values[order], starts)


def smooth_segments(points: Floats) -> list[Numbers]:
    """Return, for each tolerance, the segment of each point (M,)."""
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
