"""Upright boxes: a rectangle on the floor, rotated to fit the points, and a height."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STRAY = 0.0025
"""The share of points that can be outside each side of a box: noise and wrong labels."""
MOST_POINTS = 2000
"""The most points used to find the rotation of a box."""
CORNERS = np.array([(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]) / 2
TRIANGLES = np.array(
    [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7)]
    + [triangle for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)) for triangle in ((a, b, b + 4), (a, b + 4, a + 4))],
    np.int32,
)
"""The faces of ``corners``, counter-clockwise seen from outside."""
EDGES = np.array([edge for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)) for edge in ((a, b), (a + 4, b + 4), (a, a + 4))])
"""The twelve edges between ``corners``."""


@dataclass(frozen=True)
class UprightBox:
    """An upright box; lengths in the unit of the points."""

    centre: tuple[float, float, float]
    size: tuple[float, float, float]
    """Length, width and height; the length is the longer side."""
    yaw: float
    """The angle of the longer side with the x axis, from 0 to below π."""

    @property
    def corners(self) -> Floats:
        """The corners (8, 3): the bottom four counter-clockwise, then the top four."""
        return CORNERS * self.size @ turn(self.yaw).T + self.centre

    def is_over(self, place: Floats) -> bool:
        """Return whether a point is above, below or in the box."""
        along, across, _ = (place - self.centre) @ turn(self.yaw)
        return 2 * abs(along) <= self.size[0] and 2 * abs(across) <= self.size[1]


def upright_box(xyz: NDArray[np.floating]) -> UprightBox:
    """Find the box of least floor area around points (N, 3), ignoring a few strays."""
    middle = xyz.mean(axis=0)
    local = np.asarray(xyz - middle, np.float64)
    sample = local[:: -(-len(local) // MOST_POINTS), :2]
    rough = _best_angle(sample, np.radians(np.arange(0, 90, 1.0)))
    yaw = _best_angle(sample, rough + np.radians(np.arange(-1, 1, 0.1)))
    turned = local @ turn(yaw)
    low, high = np.quantile(turned, [STRAY, 1 - STRAY], axis=0)
    x, y, z = turn(yaw) @ ((low + high) / 2) + middle
    length, width, height = (high - low).tolist()
    if width > length:
        length, width, yaw = width, length, yaw + math.pi / 2
    return UprightBox((float(x), float(y), float(z)), (length, width, height), yaw % math.pi)


def turn(yaw: float) -> Floats:
    """Return the matrix (3, 3) of a rotation about the vertical axis."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _best_angle(xy: Floats, angles: Floats) -> float:
    """Return the first angle whose area is within a thousandth of the least, so that rounding cannot rotate a box."""
    along = np.outer(np.cos(angles), xy[:, 0]) + np.outer(np.sin(angles), xy[:, 1])
    across = np.outer(np.cos(angles), xy[:, 1]) - np.outer(np.sin(angles), xy[:, 0])
    sides = [np.subtract(*np.quantile(part, [1 - STRAY, STRAY], axis=1)) for part in (along, across)]
    areas = (sides[0] + 1e-3) * (sides[1] + 1e-3)  # a millimetre, so that lines have an area
    return float(angles[np.argmax(areas <= areas.min() * 1.001)])
