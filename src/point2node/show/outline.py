"""The outline of a room from above: the border of its points, straightened along its walls."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from point2node.geometry.components import connected_components
from point2node.inference.labelled import LabelledCloud
from point2node.show.planes import WallPlane

Floats = NDArray[np.float64]
Cells = NDArray[np.bool_]
CELL = 0.05
CLOSED = 6
"""Cells: gaps of up to twice this width, where the scanner saw nothing, are closed."""
ROUGHNESS = 0.12
"""The largest distance in metres of the border of cells from a straight side."""
SHORTEST = 0.2
"""Metres: shorter sides are noise."""
TO_WALL = 0.35
"""The largest distance in metres of a side from the wall that it is moved onto."""
WIDE = 1.5
"""Metres: points behind a shorter wall may belong to the same room."""
VIEWS = 0.15
"""The largest share of points behind a wall that counts as views through its openings; with more, it is a room."""
SAME_DIRECTION = math.radians(12)


def trace_outline(scene: LabelledCloud, walls: Sequence[WallPlane]) -> Floats:
    """Trace the outline (V, 2), counter-clockwise. A side near a wall lies on the wall's inner face."""
    xy = _without_views(np.asarray(scene.xyz[scene.placed, :2], np.float64), walls)
    main = max(walls, key=lambda wall: wall.length)
    angle = math.atan2(main.end[1] - main.start[1], main.end[0] - main.start[0])
    cos, sin = math.cos(angle), math.sin(angle)
    turned = np.array([[cos, -sin], [sin, cos]])  # along the longest wall, so that sides follow the cells
    local = xy @ turned
    origin = local.min(axis=0) - (CLOSED + 2) * CELL
    rough = _largest_loop(_room_cells(local - origin)) * CELL + origin
    sides = [side for side in _sides(_simplify(rough)) if np.linalg.norm(side[1] - side[0]) >= SHORTEST]
    lines = [np.array([wall.start, wall.end]) @ turned for wall in walls if wall.length >= SHORTEST]
    outline = _meet([_onto_wall(side, lines) for side in sides])
    if len(outline) < 3 or not 0.8 < area_of(outline) / area_of(rough) < 1.25:
        outline = _simplify(rough)
    return outline @ turned.T


def _without_views(xy: Floats, walls: Sequence[WallPlane]) -> Floats:
    """Remove what the scanner saw through doors and windows: the few points behind a wall."""
    for wall in walls:
        if wall.length < WIDE:
            continue
        along, off = wall.frame(xy)
        alongside = (along > -CELL) & (along < wall.length + CELL)
        behind = alongside & (off < -CELL)
        if behind.sum() < VIEWS * (alongside & (off > 0)).sum():
            xy = xy[~behind]
    return xy


def area_of(polygon: Floats) -> float:
    """Return the area of a polygon (V, 2), positive if it is counter-clockwise."""
    x, y = polygon[:, 0], polygon[:, 1]
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def _room_cells(local: Floats) -> Cells:
    """Return the cells inside the room, with an empty margin."""
    cells = np.floor(local / CELL).astype(np.int64)
    mask = np.zeros(tuple(cells.max(axis=0) + CLOSED + 3), bool)
    mask[cells[:, 0], cells[:, 1]] = True
    mask = ~_widen(~_widen(mask, CLOSED), CLOSED)
    inside = np.argwhere(mask)
    parts = connected_components(np.pad(inside, ((0, 0), (0, 1))).astype(np.float64), 1.0)
    kept = inside[parts == np.bincount(parts).argmax()]
    room = np.zeros_like(mask)
    room[kept[:, 0], kept[:, 1]] = True
    return room


def _widen(mask: Cells, by: int) -> Cells:
    """Set all cells within ``by`` steps, along both axes, of a cell that is set."""
    for axis in (0, 1):
        sums = np.cumsum(np.pad(mask, [(by + 1, by) if a == axis else (0, 0) for a in (0, 1)]), axis=axis)
        window = 2 * by + 1
        high = np.take(sums, range(window, sums.shape[axis]), axis=axis)
        low = np.take(sums, range(sums.shape[axis] - window), axis=axis)
        mask = high > low
    return mask


def _largest_loop(mask: Cells) -> Floats:
    """Return the corners (V, 2) of the largest loop around set cells, counter-clockwise; holes are ignored."""
    follow: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for step, start, end in (
        ((0, -1), (0, 0), (1, 0)),
        ((1, 0), (1, 0), (1, 1)),
        ((0, 1), (1, 1), (0, 1)),
        ((-1, 0), (0, 1), (0, 0)),
    ):
        outside = mask & ~np.roll(mask, (-step[0], -step[1]), (0, 1))
        for i, j in np.argwhere(outside).tolist():
            follow[i + start[0], j + start[1]].append((i + end[0], j + end[1]))
    loops = []
    while follow:
        first = next(iter(follow))
        loop = [first]
        while True:
            ends = follow[loop[-1]]
            end = ends.pop()
            if not ends:
                del follow[loop[-1]]
            if end == first:
                break
            loop.append(end)
        loops.append(np.array(loop, np.float64))
    return max(loops, key=area_of)


def _simplify(loop: Floats) -> Floats:
    """Reduce the corners of a loop within the allowed roughness (Douglas and Peucker)."""
    start = int(np.argmax(((loop - loop.mean(axis=0)) ** 2).sum(axis=1)))
    loop = np.roll(loop, -start, axis=0)
    far = int(np.argmax(((loop - loop[0]) ** 2).sum(axis=1)))
    closed = np.concatenate([loop, loop[:1]])
    return np.concatenate([_simplify_line(closed[: far + 1])[:-1], _simplify_line(closed[far:])[:-1]])


def _simplify_line(line: Floats) -> Floats:
    first, last = line[0], line[-1]
    length = max(float(np.linalg.norm(last - first)), 1e-9)
    step = (last - first) / length
    off = np.abs((line[:, 0] - first[0]) * step[1] - (line[:, 1] - first[1]) * step[0])
    worst = int(off.argmax())
    if off[worst] <= ROUGHNESS:
        return np.stack([first, last])
    return np.concatenate([_simplify_line(line[: worst + 1])[:-1], _simplify_line(line[worst:])])


def _sides(polygon: Floats) -> list[Floats]:
    return [np.stack(pair) for pair in zip(polygon, np.roll(polygon, -1, axis=0), strict=True)]


def _onto_wall(side: Floats, walls: Sequence[Floats]) -> Floats:
    """Move a side onto the nearest wall next to it; without one, align it with an axis if it nearly is."""
    length = float(np.linalg.norm(side[1] - side[0]))
    direction = (side[1] - side[0]) / length
    best, found = TO_WALL, None
    for wall in walls:
        along = (wall[1] - wall[0]) / np.linalg.norm(wall[1] - wall[0])
        if abs(along[0] * direction[1] - along[1] * direction[0]) > math.sin(SAME_DIRECTION):
            continue
        reach = np.sort((wall - side[0]) @ direction)
        overlap = min(reach[1], length) - max(reach[0], 0.0)
        normal = np.array([-along[1], along[0]])
        distance = abs((side.mean(axis=0) - wall[0]) @ normal)
        if distance < best and overlap > 0.3 * length:
            best, found = distance, np.stack([point - (point - wall[0]) @ normal * normal for point in side])
    if found is not None:
        return found
    for axis in np.eye(2):
        if abs(axis[0] * direction[1] - axis[1] * direction[0]) < math.sin(SAME_DIRECTION):
            middle = side.mean(axis=0)
            return np.stack([middle + (point - middle) @ axis * axis for point in side])
    return side


def _meet(sides: Sequence[Floats]) -> Floats:
    """Extend sides until they meet and return the polygon; parallel ones are joined at right angles."""
    corners: list[Floats] = []
    for before, after in zip([sides[-1], *sides[:-1]], sides, strict=True) if len(sides) > 2 else ():
        a, b = before[1] - before[0], after[1] - after[0]
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        cross = a[0] * b[1] - a[1] * b[0]
        if abs(cross) > math.sin(SAME_DIRECTION):
            offset = after[0] - before[0]
            corners.append(before[0] + a * (offset[0] * b[1] - offset[1] * b[0]) / cross)
            continue
        middle = (before[1] + after[0]) / 2
        if abs((after[0] - before[0]) @ np.array([-a[1], a[0]])) > SHORTEST / 4:
            corners.append(before[0] + (middle - before[0]) @ a * a)
            corners.append(after[0] + (middle - after[0]) @ b * b)
    return np.array(corners).reshape(-1, 2)
