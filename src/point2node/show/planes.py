"""Walls, floor and ceiling of a labelled scan as planes with their areas."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from point2node.inference.labelled import LabelledCloud

Floats = NDArray[np.float64]
IN_WALLS = ("window", "door", "board", "column", "curtain")
"""Classes with points that may also lie in a wall's plane, so that a door does not end the wall."""
LEAST_SHARE = 0.4
"""The smallest share of wall points in such a plane: the leaf of a door is not a wall."""
CELL = 0.05
"""Metres: the side of the cells in which walls are searched, seen from above."""
STOREY = 0.1
"""Metres: the side of the cells in which heights of walls and areas are counted."""
ANGLES = np.radians(np.arange(0.0, 180.0, 1.0))
NEAR = 0.07
"""The largest distance in metres of a wall's points from its plane."""
CORNER = 2.5 * NEAR
"""Metres at the end of a wall that also belong to the next wall."""
WIDEST_GAP = 1.2
"""Metres without any point within one wall, hidden by furniture in front of it."""
SHORTEST = 0.35
LOWEST = 0.8
"""Metres: anything lower is not a wall."""
MOST_WALLS = 80
LEAST_AREA = 0.5
"""Square metres of a floor or ceiling."""
LEVEL = 0.06
"""Metres above and below a level that still belong to it."""


@dataclass(frozen=True)
class Plane:
    """A flat part of a wall, a floor or a ceiling, in metres."""

    kind: str
    area: float
    """Square metres covered by points, in cells of 10 cm: parts hidden by furniture are not counted."""
    points: int
    normal: tuple[float, float, float]
    """Into the room for a wall, judging by the scan's points; up for a floor, down for a ceiling."""
    centre: tuple[float, float, float]


@dataclass(frozen=True)
class WallPlane(Plane):
    """A straight piece of wall, seen from above as a line."""

    start: tuple[float, float]
    end: tuple[float, float]
    bottom: float
    top: float

    @property
    def length(self) -> float:
        """The distance from start to end in metres."""
        return math.dist(self.start, self.end)

    def moved(self, by: Floats) -> WallPlane:
        """Return the wall moved by an offset (3,)."""
        x, y, z = (float(one) for one in by)
        (x0, y0), (x1, y1), (cx, cy, cz) = self.start, self.end, self.centre
        return replace(
            self,
            start=(x0 + x, y0 + y),
            end=(x1 + x, y1 + y),
            bottom=self.bottom + z,
            top=self.top + z,
            centre=(cx + x, cy + y, cz + z),
        )

    def frame(self, xy: Floats) -> tuple[Floats, Floats]:
        """Return how far places (N, 2) lie along the wall, from its start, and in front of it."""
        start = np.array(self.start)
        direction = (np.array(self.end) - start) / self.length
        return (xy - start) @ direction, (xy - start) @ np.array(self.normal[:2])


def find_planes(scene: LabelledCloud) -> list[Plane]:
    """Find the walls, floors and ceilings of a scene in metres, the largest of each first."""
    planes: list[Plane] = []
    for kind in ("floor", "ceiling"):
        planes += _find_levels(_points_of(scene, (kind,)), kind)
    return [*planes, *find_walls(scene)]


def find_walls(scene: LabelledCloud) -> list[WallPlane]:
    """Find vertical planes through the points of walls and of objects in walls, the largest first.

    Lines are searched in the cells that, seen from above, have points at many heights: the line through the most cells
    (a Hough transform) is fitted to its cells, cut at wide gaps and removed, and the search is repeated.
    """
    own, further = _points_of(scene, ("wall",)), _points_of(scene, IN_WALLS)
    walls: list[WallPlane] = []
    if not len(own):
        return walls
    xyz = np.concatenate([own, further])
    origin = xyz.min(axis=0)
    local = xyz - origin
    inside = np.median(scene.xyz[scene.placed], axis=0)[:2] - origin[:2]
    cells, weights = _tall_cells(local)
    every_cell = cells
    while len(cells) and len(walls) < MOST_WALLS:
        direction, middle = _fit_line(cells, weights)
        normal = np.array([-direction[1], direction[0]])
        near = np.abs((cells - middle) @ normal) <= NEAR
        pieces = _cut(np.sort((cells[near] - middle) @ direction))
        pieces = [(low, high) for low, high in pieces if high - low >= SHORTEST]
        if near.sum() * CELL < SHORTEST or not pieces:
            break
        cells, weights = cells[~near], weights[~near]
        if (inside - middle) @ normal < 0:
            normal = -normal
        on_line = every_cell[np.abs((every_cell - middle) @ normal) <= NEAR]
        for piece in pieces:
            low, high = _lengthen(piece, (on_line - middle) @ direction)
            wall = _measure_wall(local, len(own), _Stretch(middle, direction, normal, low, high))
            if wall is not None:
                walls.append(wall)
    walls = [wall.moved(origin) for wall in walls]
    return sorted(walls, key=lambda wall: -wall.area)


def _points_of(scene: LabelledCloud, names: tuple[str, ...]) -> Floats:
    places = [place for place, one in enumerate(scene.classes) if one.name in names]
    return np.asarray(scene.xyz[np.isin(scene.places, places) & scene.placed], np.float64)


def _find_levels(xyz: Floats, kind: str) -> list[Plane]:
    """Find level planes at the heights with the most points."""
    planes: list[Plane] = []
    while len(xyz):
        heights = np.floor((xyz[:, 2] - xyz[:, 2].min()) / LEVEL).astype(np.int64)
        peak = int(np.bincount(heights).argmax())
        level = float(np.median(xyz[heights == peak, 2]))
        near = np.abs(xyz[:, 2] - level) <= LEVEL
        here = xyz[near]
        area = _covered(here[:, :2])
        if area < LEAST_AREA:
            break
        x, y = (here[:, :2].min(axis=0) + here[:, :2].max(axis=0)) / 2
        up = 1.0 if kind == "floor" else -1.0
        planes.append(Plane(kind, area, len(here), (0.0, 0.0, up), (float(x), float(y), level)))
        xyz = xyz[~near]
    return planes


def _covered(places: Floats) -> float:
    """Return the area of the cells of 10 cm that contain places (N, 2)."""
    cells = np.floor((places - places.min(axis=0)) / STOREY).astype(np.int64)
    return len(np.unique(cells[:, 0] * (cells[:, 1].max() + 1) + cells[:, 1])) * STOREY**2


def _tall_cells(local: Floats) -> tuple[Floats, Floats]:
    """Return the mean places (M, 2) of cells with points at many heights, and the metres of height they cover (M,)."""
    cells = np.floor(local[:, :2] / CELL).astype(np.int64)
    keys, cell_of_point = np.unique(cells[:, 0] * (cells[:, 1].max() + 1) + cells[:, 1], return_inverse=True)
    storeys = np.floor(local[:, 2] / STOREY).astype(np.int64)
    different = np.unique(cell_of_point * (storeys.max() + 1) + storeys) // (storeys.max() + 1)
    heights = np.bincount(different, minlength=len(keys)) * STOREY
    counts = np.bincount(cell_of_point)
    places = np.stack([np.bincount(cell_of_point, local[:, axis]) / counts for axis in (0, 1)], axis=1)
    tall = heights >= LOWEST / 2
    return places[tall], heights[tall].astype(np.float64)


def _fit_line(cells: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the direction and one place of the line with the most weight near it."""
    offsets = np.outer(np.cos(ANGLES), cells[:, 1]) - np.outer(np.sin(ANGLES), cells[:, 0])
    bins = np.floor((offsets - offsets.min()) / CELL).astype(np.int64)
    width = int(bins.max()) + 2
    flat = (bins + np.arange(len(ANGLES))[:, None] * width).ravel()
    votes = np.bincount(flat, np.tile(weights, len(ANGLES)), minlength=len(ANGLES) * width).reshape(-1, width)
    angle, offset = np.unravel_index(int((votes[:, :-1] + votes[:, 1:]).argmax()), (len(ANGLES), width - 1))
    direction = np.array([math.cos(ANGLES[angle]), math.sin(ANGLES[angle])])
    normal = np.array([-direction[1], direction[0]])
    middle = normal * (offsets.min() + (offset + 1) * CELL)
    for _ in range(3):
        near = np.abs((cells - middle) @ normal) <= NEAR
        middle = np.average(cells[near], axis=0, weights=weights[near])
        centred = (cells[near] - middle) * np.sqrt(weights[near])[:, None]
        direction = np.linalg.eigh(centred.T @ centred)[1][:, 1]
        normal = np.array([-direction[1], direction[0]])
    return direction, middle


def _cut(along: Floats) -> list[tuple[float, float]]:
    """Return the stretches of a line between wide gaps."""
    parts = np.split(along, np.flatnonzero(np.diff(along) > WIDEST_GAP) + 1)
    return [(float(part[0]), float(part[-1])) for part in parts]


def _lengthen(piece: tuple[float, float], along: Floats) -> tuple[float, float]:
    """Extend a stretch of a line by the corners at its ends, where cells were taken by another wall."""
    low, high = piece
    corners = along[(along >= low - CORNER) & (along <= high + CORNER)]
    return float(corners.min()), float(corners.max())


@dataclass(frozen=True, eq=False)
class _Stretch:
    """A part of a line, seen from above."""

    middle: Floats
    direction: Floats
    normal: Floats
    low: float
    high: float


def _measure_wall(xyz: Floats, own: int, line: _Stretch) -> WallPlane | None:
    """Measure the wall along a line; None if it is too low, or has too few of the first ``own`` points."""
    along, off = (xyz[:, :2] - line.middle) @ line.direction, (xyz[:, :2] - line.middle) @ line.normal
    here = (np.abs(off) <= NEAR) & (along >= line.low - CELL) & (along <= line.high + CELL)
    if not here.any():
        return None
    bottom, top = np.quantile(xyz[here, 2], [0.005, 0.995])
    if top - bottom < LOWEST or here[:own].sum() < LEAST_SHARE * here.sum():
        return None
    start, end = (line.middle + place * line.direction for place in (line.low, line.high))
    centre = (start + end) / 2
    return WallPlane(
        kind="wall",
        area=_covered(np.stack([along[here], xyz[here, 2]], axis=1)),
        points=int(here.sum()),
        normal=(float(line.normal[0]), float(line.normal[1]), 0.0),
        centre=(float(centre[0]), float(centre[1]), float((bottom + top) / 2)),
        start=(float(start[0]), float(start[1])),
        end=(float(end[0]), float(end[1])),
        bottom=float(bottom),
        top=float(top),
    )
