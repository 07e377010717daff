"""What every room has before and after it is furnished: structure, doors, windows; lights and things on walls."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from point2node.data.rooms.building.shell import build_stub
from point2node.data.rooms.floor_plan import inside
from point2node.data.rooms.room import Room, in_room
from point2node.data.rooms.styles import Styles
from point2node.data.rooms.surfaces import Floats


def start_room(
    rng: Generator, styles: Styles, outline: Floats, *, doors: int = 1, windows: int = 1, height: float = 0.0
) -> Room:
    """An empty room with its structure, at least one door if one fits, and windows on one or two walls."""
    height = height or _draw_height(rng)
    room = Room(outline, height, styles, rng)
    for _ in range(doors):
        room.open_wall(room.pick_opening("door"))
    _add_structure(room)
    outer = sorted(room.walls, key=lambda wall: -wall.length)[rng.integers(min(2, len(room.walls)))]
    for _ in range(windows):
        wall = outer if rng.uniform() < 0.85 else None
        opening = room.pick_opening("window", height)
        if room.open_wall(opening, wall) and rng.uniform() < 0.5:
            room.hang(room.pick("radiator"), 0.12, wall)
    return room


def finish_room(room: Room, *, wall_items: int, floor_items: int) -> Room:
    """Lights in rows, ducts and vents under the ceiling, pictures and switches on the walls, things on the floor."""
    rng = room.rng
    _add_lights(room)
    for _ in range(rng.integers(0, 5)):
        _under_ceiling(room, "ceiling_item")
    if rng.uniform() < 0.4:
        for _ in range(rng.integers(1, 5)):
            _under_ceiling(room, "duct")
    for _ in range(wall_items):
        room.hang(room.pick("wall_item"), rng.uniform(1.0, 1.6))
    for _ in range(rng.integers(1, 6)):
        room.hang(room.pick("small_wall_item"), rng.choice([0.25, 1.05, 1.4]))
    if room.openings and rng.uniform() < 0.35:
        wall, _, opening = room.openings[rng.integers(len(room.openings))]
        if opening.bottom > 0:
            room.hang(room.pick("curtain", height=room.height * 0.85), 0.08, wall)
    for _ in range(floor_items):
        item = room.pick("floor_item")
        if rng.uniform() < 0.6:
            room.stand_at_wall(item)
        else:
            room.stand_somewhere(item)
    return room


def _draw_height(rng: Generator) -> float:
    if rng.uniform() < 0.05:
        return float(rng.uniform(3.6, 5.0))
    return float(np.clip(rng.normal(2.7, 0.25), 2.3, 3.6))


def _add_structure(room: Room) -> None:
    """Columns half in the walls or free, a stub of a wall, beams from wall to wall."""
    rng, low, high = room.rng, room.outline.min(axis=0), room.outline.max(axis=0)
    large = np.prod(high - low) > 35
    if rng.uniform() < (0.75 if large else 0.42):
        for _ in range(rng.integers(1, 6 if large else 3)):
            column = room.pick("column", height=room.height)
            if not large or rng.uniform() < 0.6:
                room.stand_at_wall(column, sunk=column.size[1] * rng.uniform(0.0, 0.6))
            else:
                room.stand_somewhere(column, aligned=True, gap=0.5)
    if rng.uniform() < 0.12:
        room.stand_at_wall(build_stub(rng, rng.uniform(0.4, 1.6), room.height), front=0.5)
    if rng.uniform() < 0.25:
        _add_beams(room, low, high)


def _add_beams(room: Room, low: Floats, high: Floats) -> None:
    """One to four like beams, all along x or all along y; walls hide what would stick out of the outline."""
    rng, (width, depth) = room.rng, high - low
    along_x = bool(rng.uniform() < 0.5)
    beam = room.pick("beam", length=width if along_x else depth)
    for share in (np.arange(rng.integers(1, 5)) + rng.uniform(0.03, 0.5)) / 4:
        x = low[0] + width * (0.5 if along_x else share)
        y = low[1] + depth * (share if along_x else 0.5)
        room.pieces.append(beam.placed(x, y, room.height, 0.0 if along_x else math.pi / 2))


def _add_lights(room: Room) -> None:
    """Rows of one kind of light, parallel to the walls."""
    rng, low, high = room.rng, room.outline.min(axis=0), room.outline.max(axis=0)
    spacing, yaw = rng.uniform(1.3, 2.6), room.walls[0].yaw + rng.choice([0.0, math.pi / 2])
    light = room.pick("light")
    columns, rows = np.maximum(1, np.round((high - low) / spacing)).astype(int)
    for column in range(columns):
        for row in range(rows):
            share = (np.array([column, row]) + 0.5) / (columns, rows)
            x, y = low + share * (high - low)
            if inside(room.outline, x, y):
                room.pieces.append(light.placed(x, y, room.height, yaw))


def _under_ceiling(room: Room, purpose: str) -> None:
    """Something anywhere under the ceiling that does not reach through a wall."""
    piece = room.pick(purpose)
    half = piece.size / 2
    yaw = room.walls[0].yaw + room.rng.choice([0.0, math.pi / 2])
    for _ in range(4):
        x, y = room.rng.uniform(room.outline.min(axis=0), room.outline.max(axis=0))
        corners = [in_room((x, y, yaw), np.array([a * half[0], b * half[1]])) for a in (-1, 1) for b in (-1, 1)]
        if inside(room.outline, *np.array(corners).T).all():
            room.pieces.append(piece.placed(x, y, room.height, yaw))
            return
