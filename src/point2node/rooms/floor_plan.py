"""Outlines of floors, and the space that is still free: a fine grid on the floor, rectangles on each wall.

An outline (V, 2) lists its corners counter-clockwise; the lower left one is near the origin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from point2node.rooms.surfaces import Floats

Array = NDArray[Any]

CELL = 0.05  # metres


@dataclass(frozen=True)
class Footprint:
    """A rectangle on the floor: its centre, its half width and half depth in metres, and its rotation in radians."""

    x: float
    y: float
    half_width: float
    half_depth: float
    yaw: float = 0.0


class FloorPlan:
    """The floor inside an outline (V, 2), corners counter-clockwise, as cells that are free or taken."""

    def __init__(self, outline: Floats) -> None:
        self.low = outline.min(axis=0)
        columns, rows = np.ceil((outline.max(axis=0) - self.low) / CELL).astype(int)
        self.x = self.low[0] + (np.arange(columns) + 0.5) * CELL
        self.y = self.low[1] + (np.arange(rows) + 0.5) * CELL
        self.taken = ~inside(outline, self.x[:, None], self.y[None, :])

    def is_free(self, footprint: Footprint) -> bool:
        """Return whether the whole footprint is on free floor."""
        reach = self._reach(footprint)
        low_x, high_x, low_y, high_y = reach
        if low_x < 0 or low_y < 0 or high_x > len(self.x) or high_y > len(self.y):
            return False
        return not (self.taken[low_x:high_x, low_y:high_y] & self._covered(footprint, reach)).any()

    def take(self, footprint: Footprint) -> None:
        """Mark the footprint as taken."""
        low_x, high_x, low_y, high_y = self._reach(footprint)
        reach = max(0, low_x), min(len(self.x), high_x), max(0, low_y), min(len(self.y), high_y)
        self.taken[reach[0] : reach[1], reach[2] : reach[3]] |= self._covered(footprint, reach)

    def free_cells(self) -> Floats:
        """Return the centres of the free cells (F, 2)."""
        columns, rows = np.nonzero(~self.taken)
        return np.stack([self.x[columns], self.y[rows]], axis=1)

    def _reach(self, footprint: Footprint) -> tuple[int, int, int, int]:
        """Return first and last-plus-one column and row around a footprint; they may be outside the grid."""
        cos, sin = abs(math.cos(footprint.yaw)), abs(math.sin(footprint.yaw))
        half_x = cos * footprint.half_width + sin * footprint.half_depth
        half_y = sin * footprint.half_width + cos * footprint.half_depth
        x, y = footprint.x - self.low[0], footprint.y - self.low[1]
        return (
            round((x - half_x) / CELL),
            round((x + half_x) / CELL),
            round((y - half_y) / CELL),
            round((y + half_y) / CELL),
        )

    def _covered(self, footprint: Footprint, reach: tuple[int, int, int, int]) -> NDArray[np.bool_]:
        dx = self.x[reach[0] : reach[1], None] - footprint.x
        dy = self.y[None, reach[2] : reach[3]] - footprint.y
        cos, sin = math.cos(footprint.yaw), math.sin(footprint.yaw)
        across, along = np.abs(cos * dx + sin * dy), np.abs(cos * dy - sin * dx)
        covered: NDArray[np.bool_] = (across <= footprint.half_width) & (along <= footprint.half_depth)
        return covered


@dataclass
class Wall:
    """One straight wall, from ``start`` along ``direction``; the room is to its left."""

    start: Floats
    direction: Floats
    length: float
    taken: list[tuple[float, float, float, float]] = field(default_factory=list)
    """Rectangles (from, to, bottom, top) in metres that are covered by something on or in front of the wall."""

    @property
    def yaw(self) -> float:
        """The rotation in radians that turns the back of a piece, +y, to this wall."""
        return math.atan2(-self.direction[1], -self.direction[0])

    @property
    def inward(self) -> Floats:
        """Unit vector into the room."""
        return np.array([-self.direction[1], self.direction[0]])

    def at(self, distance: float, off: float = 0.0) -> Floats:
        """Return the point (2,) at this distance along the wall and ``off`` metres into the room."""
        place: Floats = self.start + distance * self.direction + off * self.inward
        return place

    def is_free(self, low: float, high: float, bottom: float, top: float) -> bool:
        """Return whether this part of the wall is free and the wall is long enough."""
        if low < 0.02 or high > self.length - 0.02:
            return False
        return all(high <= a or b <= low or top <= c or d <= bottom for a, b, c, d in self.taken)


def walls_of(outline: Floats) -> list[Wall]:
    """Return the walls between the corners of an outline, in its order."""
    steps = np.roll(outline, -1, axis=0) - outline
    lengths = np.hypot(steps[:, 0], steps[:, 1])
    return [
        Wall(start, step / length, float(length)) for start, step, length in zip(outline, steps, lengths, strict=True)
    ]


def inside(outline: Floats, x: Array, y: Array) -> NDArray[np.bool_]:
    """Return whether each (x, y) is inside the outline: a ray to +x crosses it an odd number of times."""
    result = np.zeros(np.broadcast_shapes(x.shape, y.shape), bool)
    for (x0, y0), (x1, y1) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if y0 != y1:
            result ^= ((y0 > y) != (y1 > y)) & (x < x0 + (x1 - x0) * (y - y0) / (y1 - y0))
    return result


def rectangle(width: float, depth: float) -> Floats:
    """Return the outline of a rectangle."""
    return np.array([[0, 0], [width, 0], [width, depth], [0, depth]], float)


def l_shape(width: float, depth: float, cut_width: float, cut_depth: float) -> Floats:
    """Return the outline of a rectangle without its upper right part."""
    x, y = width - cut_width, depth - cut_depth
    return np.array([[0, 0], [width, 0], [width, y], [x, y], [x, depth], [0, depth]], float)


def niche(width: float, depth: float, start: float, niche_width: float, niche_depth: float) -> Floats:
    """Return the outline of a rectangle with a recess in its upper side."""
    end, high = start + niche_width, depth + niche_depth
    corners = [[0, 0], [width, 0], [width, depth], [end, depth], [end, high], [start, high], [start, depth], [0, depth]]
    return np.array(corners, float)


def chamfered(width: float, depth: float, cut: float) -> Floats:
    """Return the outline of a rectangle with its upper right corner cut off at an angle."""
    return np.array([[0, 0], [width, 0], [width, depth - cut], [width - cut, depth], [0, depth]], float)


def slanted(width: float, depth: float, shift: float) -> Floats:
    """Return the outline of a room with a slanted right wall."""
    return np.array([[0, 0], [width, 0], [width + shift, depth], [0, depth]], float)


def vary(rng: Generator, width: float, depth: float) -> Floats:
    """Draw the outline of a room of about this size in one of the shapes, most often a rectangle."""
    shape = rng.choice(["rectangle", "l_shape", "niche", "chamfered", "slanted"], p=[0.6, 0.18, 0.12, 0.06, 0.04])
    if shape == "l_shape":
        return l_shape(width, depth, width * rng.uniform(0.2, 0.5), depth * rng.uniform(0.2, 0.5))
    if shape == "niche":
        start, long = width * rng.uniform(0.1, 0.4), width * rng.uniform(0.25, 0.5)
        return niche(width, depth, start, long, rng.uniform(0.2, 1.2))
    if shape == "chamfered":
        return chamfered(width, depth, min(width, depth) * rng.uniform(0.15, 0.4))
    if shape == "slanted":
        return slanted(width, depth, width * rng.uniform(-0.2, 0.2))
    return rectangle(width, depth)
