"""What every room has before it is furnished (structure, doors, windows) and after (lights, things on the walls)."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from point2node.rooms.building.openings import Opening
from point2node.rooms.building.shell import build_stub
from point2node.rooms.floor_plan import Wall, inside
from point2node.rooms.pieces import Piece, Styles
from point2node.rooms.room import Room, in_room
from point2node.rooms.surfaces import Floats

HEADROOM = 2.08  # metres below a soffit
SLOPED = 0.06  # share of the rooms with a sloped ceiling


def start_room(
    rng: Generator,
    styles: Styles,
    outline: Floats,
    *,
    doors: int = 1,
    windows: int = 1,
    height: float = 0.0,
    structure: float = 1.0,
    curtains: float = 0.3,
) -> Room:
    """Create an empty room with its structure, at least one door if one fits, and windows on one or two walls.

    Args:
        doors, windows: the numbers to try.
        height: height of the ceiling in metres; drawn if 0.
        structure: factor on the frequency of columns and beams; homes have fewer.
        curtains: probability that the windows have curtains.
    """
    rise = float(rng.uniform(0.4, 1.6)) if rng.uniform() < SLOPED else 0.0
    room = Room(outline, height or _draw_height(rng), styles, rng, rise)
    if not rise and rng.uniform() < 0.35 * structure:
        _add_soffit(room)
    for number in range(doors):
        for _ in range(3 if number == 0 else 1):
            wall = room.random_wall()
            if room.open_wall(room.pick_opening("door", wall), wall):
                break
    if not rise:
        _add_structure(room, structure)
    outer = sorted(room.walls, key=lambda wall: -wall.length)[rng.integers(min(2, len(room.walls)))]
    curtained = bool(rng.uniform() < curtains)
    for _ in range(windows):
        wall = outer if rng.uniform() < 0.85 else room.random_wall()
        opening = room.pick_opening("window", wall)
        if room.open_wall(opening, wall):
            if curtained:
                draw_curtains(room, wall, room.openings[-1][1], opening)
            elif rng.uniform() < 0.4:
                room.hang(room.pick("radiator"), 0.12, wall)
    return room


def finish_room(room: Room, *, wall_items: int, floor_items: int) -> Room:
    """Add lights in rows, ducts and vents under the ceiling, pictures and switches on walls, things on the floor."""
    rng = room.rng
    if not room.rise:
        _add_lights(room)
        for _ in range(rng.integers(0, 5)):
            _under_ceiling(room, "ceiling_item")
        if rng.uniform() < 0.3:
            for _ in range(rng.integers(1, 5)):
                _under_ceiling(room, "duct")
    if rng.uniform() < 0.25:
        wall = room.random_wall()
        room.hang(
            room.pick("channel", length=wall.length * rng.uniform(0.4, 0.9)), rng.uniform(0.2, room.height - 0.5), wall
        )
    for _ in range(wall_items):
        room.hang(room.pick("wall_item"), rng.uniform(0.9, 1.6))
    for _ in range(rng.integers(1, 6)):
        room.hang(room.pick("small_wall_item"), rng.choice([0.25, 1.05, 1.4]))
    for _ in range(floor_items):
        item = room.pick("floor_item")
        if rng.uniform() < 0.6:
            room.stand_at_wall(item)
        else:
            room.stand_somewhere(item)
    return room


def draw_curtains(room: Room, wall: Wall, at: float, window: Opening) -> None:
    """Hang curtains in front of a window: at its sides, or covering it."""
    rng = room.rng
    top = min(window.bottom + window.height + rng.uniform(0.05, 0.25), room.height - 0.03)
    bottom = rng.uniform(0.02, 0.1) if rng.uniform() < 0.7 else max(0.02, window.bottom - 0.2)
    drawn = (
        rng.uniform(0.12, 0.3) if rng.uniform() < 0.65 else rng.uniform(0.35, 0.52)
    )  # share of the window, each side
    width = drawn * window.width + 0.15
    for side in (-1, 1):
        distance = at + side * (window.width / 2 + 0.15 - width / 2)
        if distance - width / 2 > 0 and distance + width / 2 < wall.length:
            curtain = room.pick("curtain", height=top - bottom, width=width)
            x, y = wall.at(distance)
            room.pieces.append(curtain.placed(x, y, bottom, wall.yaw))


def _draw_height(rng: Generator) -> float:
    if rng.uniform() < 0.06:
        return float(rng.uniform(3.6, 5.0))
    return float(np.clip(rng.normal(2.8, 0.3), 2.3, 3.6))


def _add_soffit(room: Room) -> None:
    """Add a lowered part of the ceiling along one wall, down to just above the doors at most."""
    rng, number = room.rng, int(room.rng.integers(len(room.walls)))
    wall = room.walls[number]
    deepest = room.height - HEADROOM
    if deepest < 0.2 or wall.length < 1.2:
        return
    drop = float(rng.uniform(0.15, deepest))
    across = np.ptp(room.outline @ wall.inward)
    width = float(min(rng.uniform(0.25, 1.4), 0.45 * across))
    piece = room.pick("soffit", length=wall.length, width=width, drop=drop, finish=room.finish)
    x, y = wall.at(wall.length / 2, width / 2)
    room.pieces.append(piece.placed(x, y, room.height, wall.yaw))
    before, after = room.walls[number - 1], room.walls[(number + 1) % len(room.walls)]
    bottom = room.height - drop
    wall.taken.append((0.0, wall.length, bottom, room.height))
    before.taken.append((before.length - width, before.length, bottom, room.height))
    after.taken.append((0.0, width, bottom, room.height))


def _add_structure(room: Room, factor: float) -> None:
    """Add columns in corners, half in the walls or free-standing, a stub of a wall, and beams from wall to wall."""
    rng, low, high = room.rng, room.outline.min(axis=0), room.outline.max(axis=0)
    large = np.prod(high - low) > 35
    if rng.uniform() < (0.75 if large else 0.55) * factor:
        for _ in range(rng.integers(1, 6 if large else 3)):
            column = room.pick("column", height=room.height, finish=room.finish)
            drawn = rng.uniform()
            if drawn < 0.4:
                room.stand_in_corner(column)
            elif not large or drawn < 0.75:
                room.stand_at_wall(column, sunk=column.size[1] * rng.uniform(0.02, 0.6))
            else:
                room.stand_somewhere(column, aligned=True, gap=0.5)
    if rng.uniform() < 0.12:
        room.stand_at_wall(build_stub(rng, rng.uniform(0.4, 1.6), room.height, room.finish), front=0.5)
    if rng.uniform() < 0.28 * factor:
        _add_beams(room, low, high)


def _add_beams(room: Room, low: Floats, high: Floats) -> None:
    """Add one to four identical beams, all along x or all along y; walls hide what sticks out of the outline."""
    rng, (width, depth) = room.rng, high - low
    along_x = bool(rng.uniform() < 0.5)
    beam = room.pick("beam", length=width if along_x else depth, finish=room.finish)
    for share in (np.arange(rng.integers(1, 5)) + rng.uniform(0.03, 0.5)) / 4:
        x = low[0] + width * (0.5 if along_x else share)
        y = low[1] + depth * (share if along_x else 0.5)
        room.pieces.append(beam.placed(x, y, room.height, 0.0 if along_x else math.pi / 2))


def _add_lights(room: Room) -> None:
    """Add rows of one kind of light, parallel to the walls; recessed lights get holes in the ceiling."""
    rng, low, high = room.rng, room.outline.min(axis=0), room.outline.max(axis=0)
    spacing, yaw = rng.uniform(1.3, 2.6), room.walls[0].yaw + rng.choice([0.0, math.pi / 2])
    light = room.pick("light")
    columns, rows = np.maximum(1, np.round((high - low) / spacing)).astype(int)
    for column in range(columns):
        for row in range(rows):
            share = (np.array([column, row]) + 0.5) / (columns, rows)
            x, y = low + share * (high - low)
            placed = light.placed(x, y, room.height, yaw)
            corners = np.array(placed.extent)[:, :2]
            if not inside(room.outline, corners[:, :1], corners[None, :, 1]).all():
                continue
            if light.extent[1][2] > 0.02 and not _sink(room, placed):
                continue
            room.pieces.append(placed)


def _sink(room: Room, light: Piece) -> bool:
    """Make a hole in the ceiling for a lamp; return False if there already is one."""
    low, high = light.extent
    hole = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
    if any(a < hole[1] and hole[0] < b and c < hole[3] and hole[2] < d for a, b, c, d in room.holes):
        return False
    room.holes.append(hole)
    return True


def _under_ceiling(room: Room, purpose: str) -> None:
    """Put a piece for a purpose anywhere under the ceiling where it does not reach through a wall."""
    piece = room.pick(purpose)
    half = piece.size / 2
    yaw = room.walls[0].yaw + room.rng.choice([0.0, math.pi / 2])
    for _ in range(4):
        x, y = room.rng.uniform(room.outline.min(axis=0), room.outline.max(axis=0))
        corners = [in_room((x, y, yaw), np.array([a * half[0], b * half[1]])) for a in (-1, 1) for b in (-1, 1)]
        if inside(room.outline, *np.array(corners).T).all():
            room.pieces.append(piece.placed(x, y, room.height, yaw))
            return
