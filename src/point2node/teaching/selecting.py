"""What a click selects: a segment, a brush stroke, a single point, or all points inside a shape drawn on the screen.

Pure functions of the points in metres, z up. All return ascending indices of these points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.path import Path as Outline
from numpy.typing import ArrayLike, NDArray

from point2node.geometry.surroundings import PATCH, cells_of, smooth_segments

Floats = NDArray[np.floating]
Indices = NDArray[np.int64]

CHUNK = 0.3
"""Metres: points that are too rough for a smooth segment are cut into cubes with this side."""
FEWEST_CELLS = 6
"""Smaller segments count as rough: as segments, they would take a click for every few centimetres."""
SCREEN_CELL = 0.015
"""Side of the squares in which the foremost point hides what is behind it, as a share of the picture's height."""


def find_segments(xyz: Floats) -> Indices:
    """Return the segment number of each point (N,), from 0 without gaps.

    A smooth surface of any size is one segment: a table top, a wall, a door leaf. What remains is rough or small and is
    grouped by cubes. The result depends on nothing but the points, so it is computed once for each scan.
    """
    if not len(xyz):
        return np.empty(0, np.int64)
    means, cell = cells_of(np.array(xyz, np.float64), PATCH)
    segment = smooth_segments(means)[-1]  # with the strictest tolerance, so that a board is not merged with its wall
    rough = np.bincount(segment)[segment] < FEWEST_CELLS
    cubes = np.floor((means - means.min(axis=0)) / CHUNK).astype(np.int64)
    _, cube = np.unique(cubes, axis=0, return_inverse=True)
    joined = np.where(rough, segment.max() + 1 + cube.reshape(-1), segment)
    return np.unique(joined, return_inverse=True)[1].reshape(-1)[cell]


def select_segment(segments: Indices, point: int) -> Indices:
    """Return all points of the segment that a point belongs to."""
    return np.flatnonzero(segments == segments[point])


def select_brush(xyz: Floats, point: int, radius: float) -> Indices:
    """Return all points within ``radius`` metres of a point, itself included."""
    return np.flatnonzero(((xyz - xyz[point]) ** 2).sum(axis=1) <= max(radius, 0.0) ** 2)


def select_point(point: int) -> Indices:
    """Return this point alone."""
    return np.array([point], np.int64)


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera: its position, orientation and field of view."""

    position: NDArray[np.float64]
    """(3,) metres."""
    rotation: NDArray[np.float64]
    """(3, 3): its columns are the camera's axes: right, down and forward."""
    fov: float
    """Vertical field of view in radians."""
    aspect: float
    """Width over height."""

    def project(self, xyz: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return screen positions (N, 2), from (0, 0) top left to (1, 1), and depths (N,) of points (N, 3) in metres.

        Points that are not in front of the camera have the position NaN.
        """
        seen = (np.asarray(xyz, np.float64) - self.position) @ self.rotation
        depth = seen[:, 2]
        height = 2 * np.tan(self.fov / 2) * np.where(depth > 0, depth, np.nan)
        positions = seen[:, :2] / height[:, None] / np.array([self.aspect, 1.0]) + 0.5
        return positions, depth

    def unproject(self, positions: ArrayLike, depth: float) -> NDArray[np.float64]:
        """Return the points (N, 3) that are seen at positions (N, 2) of the screen, at a depth of ``depth`` metres."""
        middle = np.asarray(positions, np.float64) - 0.5
        height = 2 * np.tan(self.fov / 2) * depth
        seen = np.column_stack([middle * np.array([self.aspect, 1.0]) * height, np.full(len(middle), depth)])
        return seen @ self.rotation.T + self.position

    def sees_as(self, other: Camera) -> bool:
        """Return whether a position on the screen means the same for both cameras."""
        pairs = ((self.position, other.position), (self.rotation, other.rotation))
        shapes = ((self.fov, other.fov), (self.aspect, other.aspect))
        return all(np.allclose(one, two, atol=1e-3) for one, two in (*pairs, *shapes))


def camera_of(position: ArrayLike, wxyz: ArrayLike, fov: float, aspect: float) -> Camera:
    """Return a camera whose axes are rotated by a quaternion (w, x, y, z)."""
    w, x, y, z = np.asarray(wxyz, np.float64) / np.linalg.norm(wxyz)
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return Camera(np.asarray(position, np.float64), rotation, fov, aspect)


def select_lasso(xyz: Floats, camera: Camera, polygon: ArrayLike, behind: float | None = None) -> Indices:
    """Return the points inside a polygon (P, 2) on the screen, from (0, 0) top left to (1, 1).

    With ``behind``, points more than this many metres behind the foremost ones at the same position on the screen are
    left out: the user means the chair, not the wall behind it.
    """
    corners = np.asarray(polygon, np.float64)
    if len(corners) < 3:
        return np.empty(0, np.int64)
    positions, depth = camera.project(xyz)
    ahead = np.flatnonzero(depth > 0)
    inside = ahead[Outline(corners).contains_points(positions[ahead])]
    if behind is None or not len(inside):
        return inside
    squares = np.floor(positions[inside] * np.array([camera.aspect, 1.0]) / SCREEN_CELL).astype(np.int64)
    _, square = np.unique(squares, axis=0, return_inverse=True)
    square = square.reshape(-1)
    foremost = np.full(square.max() + 1, np.inf)
    np.minimum.at(foremost, square, depth[inside])
    return inside[depth[inside] <= foremost[square] + behind]


def rectangle(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Return the rectangle between two opposite corners as a polygon (4, 2)."""
    (x1, y1), (x2, y2) = np.asarray(first, np.float64), np.asarray(second, np.float64)
    return np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]])
