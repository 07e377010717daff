"""Find open leaves of doors, seen from above: to which side a door opens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from point2node.show.planes import WallPlane

Floats = NDArray[np.float64]
OFF_WALL = (0.12, 0.25)
"""Metres in front of and behind a wall's inner face where a door's frame and handle end and an open leaf starts."""
HINGES = (0.0, 0.05, 0.1)
"""Possible distances in metres of a leaf's hinges from the end of a door: frames differ in width."""
ANGLES = np.radians(np.arange(6.0, 178.0, 3.0))
DEPTH, STEP = 0.05, 0.05
"""Metres: the largest distance of points from a leaf, and the length of steps along it."""
LEAST = 0.4
"""The length in metres of a leaf that must be covered by points."""
LATEST = 0.2
"""The largest distance in metres of the first covered step from the frame."""
WIDEST_GAP = 3
"""The largest gap in steps between covered steps, such as a pane."""
FEWEST_IN_STEP, FEWEST = 3, 20
"""The fewest points in a step and in total."""
TIP = 0.3
"""The smallest distance in metres of the tip of a leaf from the wall: walls and scans are not straight."""


@dataclass(frozen=True)
class Leaf:
    """The open leaf of a door, seen from above."""

    side: str
    """The side of its hinges, seen from inside the room: "left" or "right"."""
    inwards: bool
    """Whether it opens into the room."""
    hinge: tuple[float, float]
    tip: tuple[float, float]
    closed: tuple[float, float]
    """The position of its tip when it is closed."""

    @property
    def arc(self) -> Floats:
        """(13, 2) the path of its tip from closed to its current position."""
        centre, first, last = (np.array(place) for place in (self.hinge, self.closed, self.tip))
        (x0, y0), (x1, y1) = first - centre, last - centre
        turn = math.atan2(x0 * y1 - y0 * x1, x0 * x1 + y0 * y1)
        angles = np.linspace(0, turn, 13)
        cos, sin = np.cos(angles), np.sin(angles)
        return centre + np.stack([cos * x0 - sin * y0, sin * x0 + cos * y0], axis=1)


def place_of(xy: Floats) -> tuple[float, float]:
    """Return a place as plain numbers."""
    return float(xy[0]), float(xy[1])


def find_leaves(xy: Floats, walls: Sequence[WallPlane], number: int, door: tuple[float, float]) -> tuple[Leaf, ...]:
    """Find the open leaves of a door between two places along wall ``number``; ``xy`` are all points of doors.

    Points of doors outside the wall's plane are compared with lines from either post, into and out of the room. The
    line with the most points is a leaf; a second leaf is searched at the other post.
    """
    wall, (low, high) = walls[number], door
    along, off = wall.frame(xy)
    reach = 1.15 * (high - low)
    kept = (np.abs(off) <= reach) & (along >= low - reach) & (along <= high + reach)
    kept &= (off >= OFF_WALL[0]) | (off <= -OFF_WALL[1])
    for other in walls:  # a door in the next wall is not a leaf of this one
        places, off_other = other.frame(xy)
        if other is not wall:
            kept &= (np.abs(off_other) > OFF_WALL[0]) | (places < 0) | (places > other.length)
    along, off = along[kept], off[kept]
    leaves: list[Leaf] = []
    posts = [(low, 1.0), (high, -1.0)]
    while posts and len(along) >= FEWEST:
        line, post = max(
            ((_best_line(along, off, *post, reach), post) for post in posts), key=lambda one: one[0].covered
        )
        if line.covered < LEAST:
            break
        posts.remove(post)
        others = np.abs(line.across(along, off)) > 2 * DEPTH
        along, off = along[others], off[others]
        leaves.append(_leaf_on(wall, line))
    return tuple(leaves)


@dataclass(frozen=True)
class _Line:
    """A straight line from a hinge, in the frame of a wall."""

    hinge: float
    towards: float
    """1 if the leaf lies towards the wall's end when it is closed, -1 if towards its start."""
    front: float
    """1 into the room, -1 out of it."""
    angle: float
    covered: float = 0.0
    """The length in metres that is covered by points."""
    length: float = 0.0

    def ahead(self, along: Floats, off: Floats) -> Floats:
        """Return how far points lie along the line."""
        x, y = self.towards * (along - self.hinge), self.front * off
        return x * math.cos(self.angle) + y * math.sin(self.angle)

    def across(self, along: Floats, off: Floats) -> Floats:
        """Return the distance of points from the line, with a sign."""
        x, y = self.towards * (along - self.hinge), self.front * off
        return y * math.cos(self.angle) - x * math.sin(self.angle)


def _best_line(along: Floats, off: Floats, post: float, towards: float, reach: float) -> _Line:
    """Return the line from a post with the longest part covered by points."""
    lines = [
        _measure(_Line(post + towards * shift, towards, front, float(angle)), along[here], off[here], reach)
        for front in (1.0, -1.0)
        for here in [front * off > 0]
        for shift in HINGES
        for angle in ANGLES
    ]
    return max(lines, key=lambda line: line.covered)


def _measure(line: _Line, along: Floats, off: Floats, reach: float) -> _Line:
    """Measure the part of a line that is covered by points, up to the first wide gap."""
    far = line.ahead(along, off)[np.abs(line.across(along, off)) <= DEPTH]
    counts = np.bincount(np.floor(far[(far > 0) & (far <= reach)] / STEP).astype(np.int64))
    steps = np.flatnonzero(counts >= FEWEST_IN_STEP)
    hidden = OFF_WALL[0 if line.front > 0 else 1] / math.sin(line.angle)  # indistinguishable from the frame
    if not len(steps) or steps[0] * STEP > hidden + LATEST:
        return line
    gaps = np.flatnonzero(np.diff(steps) > WIDEST_GAP)
    steps = steps[: gaps[0] + 1] if len(gaps) else steps
    length = float(steps[-1] + 1) * STEP
    return replace(line, covered=len(steps) * STEP, length=length) if length * math.sin(line.angle) > TIP else line


def _leaf_on(wall: WallPlane, line: _Line) -> Leaf:
    """Return the leaf along a line."""
    start, normal = np.array(wall.start), np.array(wall.normal[:2])
    direction = (np.array(wall.end) - start) / wall.length
    right = np.array([-normal[1], normal[0]])  # seen from inside
    hinge, closed = start + line.hinge * direction, line.towards * line.length * direction
    tip = math.cos(line.angle) * closed + line.front * math.sin(line.angle) * line.length * normal
    side = "left" if closed @ right > 0 else "right"
    return Leaf(side, line.front > 0, place_of(hinge), place_of(hinge + tip), place_of(hinge + closed))
