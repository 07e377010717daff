"""Floor, ceiling and walls around a furnished room, with holes where its openings are."""

from __future__ import annotations

from numpy.random import Generator

from point2node.data.rooms.building.openings import Opening
from point2node.data.rooms.floor_plan import Wall
from point2node.data.rooms.materials import Material, fabric, paint, panelled, stone, wood
from point2node.data.rooms.pieces import Piece, piece
from point2node.data.rooms.surfaces import Floats, Surfaces, box, quad

BEYOND = 1.5  # metres: how far floor and ceiling go on behind open doors
THICKNESS = 0.15  # metres: depth of the reveals
Hole = tuple[float, Opening]


def build_floor(rng: Generator, outline: Floats) -> Piece:
    """One level surface; what lies outside the outline is hidden by the walls, save through open doors."""
    finish = (fabric, fabric, wood, stone, paint)[rng.integers(5)](rng)
    if rng.uniform() < 0.3:
        finish = panelled(finish, rng.uniform(0.3, 0.8))
    return piece("floor", [_level(outline, 0.0, finish)])


def build_ceiling(rng: Generator, outline: Floats, height: float) -> Piece:
    """One level surface, tiled in half of all rooms."""
    finish = stone(rng) if rng.uniform() < 0.1 else paint(rng)
    if rng.uniform() < 0.5:
        finish = panelled(finish, rng.choice([0.6, 0.625, 1.2]))
    return piece("ceiling", [_level(outline, height, finish)])


def build_walls(
    rng: Generator, walls: list[Wall], openings: list[tuple[Wall, float, Opening]], height: float
) -> list[Piece]:
    """One piece for each wall: the face around the holes, the reveals and a skirting board."""
    finish, accent = _wall_finish(rng), _wall_finish(rng)
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


def _wall_finish(rng: Generator) -> Material:
    return (paint, paint, paint, paint, stone, wood)[rng.integers(6)](rng)


def _level(outline: Floats, z: float, material: Material) -> Surfaces:
    low, high = outline.min(axis=0) - BEYOND, outline.max(axis=0) + BEYOND
    return quad((*low, z), (high[0] - low[0], 0, 0), (0, high[1] - low[1], 0), material)


def _upright(
    wall: Wall, low: float, high: float, bottom: float, top: float, off: float, material: Material
) -> Surfaces:
    """A rectangle parallel to the wall, ``off`` metres into the room."""
    along = wall.direction * (high - low)
    return quad((*wall.at(low, off), bottom), (*along, 0), (0, 0, top - bottom), material)


def _face(wall: Wall, holes: list[Hole], height: float, material: Material) -> list[Surfaces]:
    """The wall in strips: full height between the holes, above and below each hole."""
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
    """The cut sides of the wall around each hole."""
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
    """A board along the foot of the wall, interrupted by doors."""
    parts, reached = [], 0.0
    ends = [(at - hole.width / 2, at + hole.width / 2) for at, hole in holes if hole.bottom < height]
    for low, high in [*ends, (wall.length, wall.length)]:
        if low - reached > 0.05:
            parts.append(_upright(wall, reached, low, 0.0, height, 0.012, material))
            corner = (*wall.at(reached), height)
            parts.append(quad(corner, (*(wall.direction * (low - reached)), 0), (*(0.012 * wall.inward), 0), material))
        reached = high
    return parts


def build_stub(rng: Generator, length: float, height: float) -> Piece:
    """A short wall that stands into the room, along y."""
    return piece("wall", [box((rng.uniform(0.08, 0.25), length, height), (0, 0, 0), _wall_finish(rng))])
