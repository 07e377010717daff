"""The shell of a room: floor, ceiling, walls with holes for the openings, and styles of columns and beams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from point2node.rooms.building.openings import Opening
from point2node.rooms.floor_plan import Wall
from point2node.rooms.materials import Material, ceiling_paint, fabric, metal, paint, panelled, stone, wall_finish, wood
from point2node.rooms.pieces import Piece, piece
from point2node.rooms.surfaces import Floats, Surfaces, box, join, quad, rod

BEYOND = 1.5  # metres: how far floor and ceiling continue behind doors
THICKNESS = 0.2  # metres: depth of the reveals
Hole = tuple[float, Opening]
Rectangle = tuple[float, float, float, float]  # low x, high x, low y, high y
Openings = Sequence[tuple[Wall, float, Opening]]


def build_floor(rng: Generator, outline: Floats, openings: Openings) -> Piece:
    """Build one level surface, and another behind each door."""
    finish = (fabric, fabric, wood, wood, stone, stone, paint)[rng.integers(7)](rng)
    if rng.uniform() < 0.3:
        finish = panelled(finish, rng.uniform(0.3, 0.8))
    low, high = outline.min(axis=0), outline.max(axis=0)
    inner = quad((*low, 0.0), (high[0] - low[0], 0, 0), (0, high[1] - low[1], 0), finish)
    return piece("floor", [inner, *_thresholds(openings, 0.0, finish)])


def build_ceiling(
    rng: Generator, outline: Floats, height: float, rise: float, holes: Sequence[Rectangle], openings: Openings
) -> Piece:
    """Build a level ceiling with holes for its lamps, or one that rises by ``rise`` metres; tiled in many rooms."""
    finish = stone(rng) if rng.uniform() < 0.1 else ceiling_paint(rng)
    if rng.uniform() < 0.4:
        finish = panelled(finish, rng.choice([0.6, 0.625, 1.2]))
    low, high = outline.min(axis=0) - 0.02, outline.max(axis=0) + 0.02
    width, depth = high - low
    if not rise:
        parts = _around((low[0], high[0], low[1], high[1]), holes, height, finish)
        return piece("ceiling", [*parts, *_thresholds(openings, height, finish)])
    if rng.uniform() < 0.5:  # one slope
        return piece("ceiling", [quad((*low, height), (width, 0, 0), (0, depth, rise), finish)])
    ridge = depth * rng.uniform(0.3, 0.7)
    return piece(
        "ceiling",
        [
            quad((*low, height), (width, 0, 0), (0, ridge, rise), finish),
            quad((low[0], high[1], height), (width, 0, 0), (0, ridge - depth, rise), finish),
        ],
    )


def build_walls(rng: Generator, walls: list[Wall], openings: Openings, height: float, finish: Material) -> list[Piece]:
    """Build one piece for each wall: the face around the holes, the reveals and a skirting board."""
    accent = wall_finish(rng)
    skirting = paint(rng) if rng.uniform() < 0.5 else wood(rng)
    skirting_height = rng.uniform(0.05, 0.14) if rng.uniform() < 0.7 else 0.0
    pieces = []
    for wall in walls:
        material = accent if rng.uniform() < 0.2 else finish
        holes = sorted(((at, opening) for on, at, opening in openings if on is wall), key=lambda hole: hole[0])
        parts = [*_face(wall, holes, height, material), *_reveals(wall, holes, material)]
        if skirting_height:
            parts += _skirting(wall, holes, skirting_height, skirting)
        pieces.append(piece("wall", parts))
    return pieces


def build_stub(rng: Generator, length: float, height: float, finish: Material) -> Piece:
    """Build a short wall that projects into the room, along y."""
    return piece("wall", [box((rng.uniform(0.08, 0.25), length, height), (0, 0, 0), finish)])


def _thresholds(openings: Openings, z: float, material: Material) -> list[Surfaces]:
    """Build the floor or ceiling behind the doors."""
    parts = []
    for wall, at, opening in openings:
        if opening.bottom == 0:
            half = opening.width / 2 + 0.6
            along, outward = wall.direction * 2 * half, -BEYOND * wall.inward
            parts.append(quad((*wall.at(at - half), z), (*along, 0), (*outward, 0), material))
    return parts


def _around(bounds: Rectangle, holes: Sequence[Rectangle], z: float, material: Material) -> list[Surfaces]:
    """Build a level rectangle without its holes, in strips along x."""
    edges = np.unique([*bounds[2:], *(y for hole in holes for y in hole[2:])])
    edges = edges[(edges >= bounds[2]) & (edges <= bounds[3])]
    parts = []
    for low_y, high_y in pairwise(edges):
        reached = bounds[0]
        inside = sorted(hole[:2] for hole in holes if hole[2] <= low_y and high_y <= hole[3])
        for low_x, high_x in [*inside, (bounds[1], bounds[1])]:
            if low_x > reached:
                size = (low_x - reached, 0, 0), (0, high_y - low_y, 0)
                parts.append(quad((reached, low_y, z), *size, material))
            reached = max(reached, high_x)
    return parts


def _upright(
    wall: Wall, low: float, high: float, bottom: float, top: float, off: float, material: Material
) -> Surfaces:
    """Build a rectangle parallel to the wall, ``off`` metres into the room."""
    along = wall.direction * (high - low)
    return quad((*wall.at(low, off), bottom), (*along, 0), (0, 0, top - bottom), material)


def _face(wall: Wall, holes: list[Hole], height: float, material: Material) -> list[Surfaces]:
    """Build the wall in strips: full height between the holes, and above and below each hole."""
    parts, reached = [], 0.0
    for at, hole in holes:
        low, high = at - hole.width / 2, at + hole.width / 2
        if low > reached:
            parts.append(_upright(wall, reached, low, 0.0, height, 0.0, material))
        if hole.bottom > 0:
            parts.append(_upright(wall, low, high, 0.0, hole.bottom, 0.0, material))
        parts.append(_upright(wall, low, high, hole.bottom + hole.height, height, 0.0, material))
        reached = max(reached, high)
    if wall.length > reached:
        parts.append(_upright(wall, reached, wall.length, 0.0, height, 0.0, material))
    return parts


def _reveals(wall: Wall, holes: list[Hole], material: Material) -> list[Surfaces]:
    """Build the sides of the wall inside each hole."""
    parts = []
    outward = -THICKNESS * wall.inward
    for at, hole in holes:
        low, along = wall.at(at - hole.width / 2), wall.direction * hole.width
        for corner in (low, low + along):
            parts.append(quad((*corner, hole.bottom), (*outward, 0), (0, 0, hole.height), material))
        heights = [hole.bottom + hole.height] + [hole.bottom] * (hole.bottom > 0)
        parts += [quad((*low, z), (*along, 0), (*outward, 0), material) for z in heights]
    return parts


def _skirting(wall: Wall, holes: list[Hole], height: float, material: Material) -> list[Surfaces]:
    """Build a board along the foot of the wall, interrupted by doors."""
    parts, reached = [], 0.0
    ends = [(at - hole.width / 2, at + hole.width / 2) for at, hole in holes if hole.bottom < height]
    for low, high in [*ends, (wall.length, wall.length)]:
        if low - reached > 0.05:
            parts.append(_upright(wall, reached, low, 0.0, height, 0.012, material))
            corner = (*wall.at(reached), height)
            parts.append(quad(corner, (*(wall.direction * (low - reached)), 0), (*(0.012 * wall.inward), 0), material))
        reached = high
    return parts


def round_column(rng: Generator, height: float, finish: Material) -> Piece:
    """A cylinder from floor to ceiling, sometimes on a base."""
    radius, finish = rng.uniform(0.12, 0.35), _finish(rng, finish)
    parts = [rod((0, 0, 0), (0, 0, height), radius, finish)]
    if rng.uniform() < 0.3:
        parts.append(rod((0, 0, 0), (0, 0, 0.25), radius * 1.15, finish))
    return piece("column", parts)


def square_column(rng: Generator, height: float, finish: Material) -> Piece:
    """A square or rectangular pillar, sometimes with a skirting board."""
    width, depth, finish = rng.uniform(0.2, 0.7), rng.uniform(0.2, 0.6), _finish(rng, finish)
    parts = [box((width, depth, height), (0, 0, 0), finish)]
    if rng.uniform() < 0.3:
        parts.append(box((width + 0.024, depth + 0.024, 0.1), (0, 0, 0), paint(rng)))
    return piece("column", parts)


def pilaster(rng: Generator, height: float, finish: Material) -> Piece:
    """A flat pillar on a wall: wide, and projecting only a little."""
    size = (rng.uniform(0.3, 1.0), rng.uniform(0.05, 0.25), height)
    return piece("column", [box(size, (0, 0, 0), _finish(rng, finish))])


def octagonal_column(rng: Generator, height: float, finish: Material) -> Piece:
    """Two boxes, one turned against the other, which gives eight ridges."""
    side, finish = rng.uniform(0.3, 0.5), _finish(rng, finish)
    core = box((side, side, height), (0, 0, 0), finish)
    return piece("column", [core, core.turned(math.pi / 4)])


def solid_beam(rng: Generator, length: float, finish: Material) -> Piece:
    """A concrete or boxed-in beam along x, its top at z = 0."""
    drop = rng.uniform(0.12, 0.5)
    return piece("beam", [box((length, rng.uniform(0.12, 0.5), drop), (0, 0, -drop), _finish(rng, finish))])


def steel_beam(rng: Generator, length: float, finish: Material) -> Piece:
    """An I-shaped steel beam along x, its top at z = 0."""
    drop, width, steel = rng.uniform(0.2, 0.4), rng.uniform(0.14, 0.26), metal(rng) if rng.uniform() < 0.6 else finish
    flanges = [box((length, width, 0.02), (0, 0, z), steel) for z in (-0.02, -drop)]
    return piece("beam", [join(flanges), box((length, 0.015, drop), (0, 0, -drop), steel)])


def soffit(rng: Generator, length: float, width: float, drop: float, finish: Material) -> Piece:
    """A boxed-in part of the ceiling along a wall, with its back at +y and its top at z = 0."""
    return piece("beam", [box((length, width, drop), (0, 0, -drop), _finish(rng, finish))])


def _finish(rng: Generator, wall: Material) -> Material:
    """Return the finish of the walls in most cases, otherwise a different one."""
    if rng.uniform() < 0.6:
        return wall
    finish = paint(rng) if rng.uniform() < 0.6 else stone(rng)
    return panelled(finish, 0.6) if rng.uniform() < 0.1 else finish
