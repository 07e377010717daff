"""Bookcases and cabinets in their styles, with what stands in them; the back is to the wall, +y."""

from __future__ import annotations

from numpy.random import Generator

from point2node.data.rooms.materials import Material, books, furniture_finish, glass, metal, paper
from point2node.data.rooms.pieces import Piece, Top, piece
from point2node.data.rooms.surfaces import Surfaces, box, quad

BOARD = 0.022  # metres: how thick shelves and sides are


def open_shelves(rng: Generator) -> Piece:
    """Tall or half-height shelves, filled with books, folders and gaps."""
    width, depth, height = rng.uniform(0.6, 1.3), rng.uniform(0.26, 0.42), rng.uniform(0.9, 2.3)
    body = furniture_finish(rng)
    parts = _carcass(width, depth, height, body)
    if rng.uniform() < 0.35:
        parts.append(box((BOARD, depth, height - 0.05), (0, 0, 0.03), body))
    parts += _filled_shelves(rng, width, depth, height, body)
    return piece("bookcase", parts, [_lid(width, depth, height)])


def cabinet(rng: Generator) -> Piece:
    """A closed cupboard with doors or drawers; low ones carry things."""
    width, depth = rng.uniform(0.6, 1.6), rng.uniform(0.35, 0.55)
    height = rng.choice([rng.uniform(0.7, 1.3), rng.uniform(1.6, 2.2)], p=[0.55, 0.45])
    body, handle = furniture_finish(rng), metal(rng)
    parts = [box((width, depth, height - 0.03), (0, 0, 0.03), body)]
    columns = max(1, round(width / rng.uniform(0.4, 0.8)))
    rows = int(rng.choice([1, 2, 4]))
    each_width, each_height = width / columns, (height - 0.05) / rows
    for column in range(columns):
        for row in range(rows):
            x, bottom = (column + 0.5) * each_width - width / 2, 0.04 + row * each_height
            parts.append(box((each_width - 0.01, 0.018, each_height - 0.01), (x, -depth / 2 - 0.009, bottom), body))
            grip = (0.1, 0.025, 0.012) if rows > 1 else (0.015, 0.025, 0.15)
            shift = 0.0 if rows > 1 else each_width * 0.4
            parts.append(box(grip, (x + shift, -depth / 2 - 0.03, bottom + each_height * 0.6), handle))
    return piece("bookcase", parts, [_lid(width, depth, height)])


def glass_front(rng: Generator) -> Piece:
    """Shelves behind glass doors above closed ones."""
    width, depth, height = rng.uniform(0.8, 1.3), rng.uniform(0.35, 0.45), rng.uniform(1.7, 2.2)
    body, pane = furniture_finish(rng), glass(rng)
    closed = rng.uniform(0.4, 0.9)
    parts = _carcass(width, depth, height, body)
    parts += _filled_shelves(rng, width, depth - 0.04, height, body, lowest=closed)
    parts.append(box((width, 0.02, closed), (0, -depth / 2 + 0.01, 0), body))
    for x in (-1, 1):
        corner = (x * width / 4 - width / 4, -depth / 2, closed)
        parts.append(quad(corner, (width / 2, 0, 0), (0, 0, height - closed), pane))
        for edge in (0.02, width / 2 - 0.02):
            parts.append(box((0.04, 0.02, height - closed), (corner[0] + edge, -depth / 2, closed), body))
    return piece("bookcase", parts, [_lid(width, depth, height)])


def rack(rng: Generator) -> Piece:
    """A store-room rack of metal posts and shelves, with boxes."""
    width, depth, height = rng.uniform(0.8, 1.6), rng.uniform(0.4, 0.6), rng.uniform(1.7, 2.3)
    frame = metal(rng)
    posts = [box((0.035, 0.035, height), (x * width / 2, y * depth / 2, 0), frame) for x in (-1, 1) for y in (-1, 1)]
    return piece("bookcase", [*posts, *_filled_shelves(rng, width, depth, height, frame, boxes=0.75)])


def cube_grid(rng: Generator) -> Piece:
    """A grid of square compartments without a back, some with inserts."""
    columns, rows, side = int(rng.integers(2, 5)), int(rng.integers(2, 6)), rng.uniform(0.33, 0.4)
    width, height, depth = columns * side, rows * side, rng.uniform(0.36, 0.42)
    body = furniture_finish(rng)
    parts = [box((0.03, depth, height), (column * side - width / 2, 0, 0), body) for column in range(columns + 1)]
    parts += [box((width, depth, 0.03), (0, 0, row * side), body) for row in range(rows + 1)]
    for column in range(columns):
        for row in range(rows):
            x, z = (column + 0.5) * side - width / 2, row * side + 0.03
            if rng.uniform() < 0.35:
                parts.append(box((side - 0.04, depth * 0.9, side - 0.05), (x, 0, z), paper(rng)))
            elif rng.uniform() < 0.7:
                parts += _books(rng, x - side / 2 + 0.02, x + side / 2 - 0.02, depth, z, side - 0.03)
    return piece("bookcase", parts, [_lid(width, depth, height + 0.03)])


def _carcass(width: float, depth: float, height: float, body: Material) -> list[Surfaces]:
    """Two sides, a back and a lid."""
    parts = [box((BOARD, depth, height), (x * (width - BOARD) / 2, 0, 0), body) for x in (-1, 1)]
    parts.append(box((width, BOARD / 2, height), (0, depth / 2 - BOARD / 4, 0), body))
    parts.append(box((width, depth, BOARD), (0, 0, height - BOARD), body))
    return parts


def _filled_shelves(
    rng: Generator,
    width: float,
    depth: float,
    height: float,
    body: Material,
    *,
    lowest: float = 0.06,
    boxes: float = 0.15,
) -> list[Surfaces]:
    """Shelves from ``lowest`` up; each holds books or, with probability ``boxes``, boxes, or stays empty."""
    parts: list[Surfaces] = []
    step = rng.uniform(0.28, 0.42)
    bottom = lowest
    fullness = rng.uniform(0.5, 1.0)
    while bottom < height - 0.2:
        parts.append(box((width - 2 * BOARD, depth, BOARD), (0, 0, bottom), body))
        space = min(step, height - bottom) - BOARD
        if rng.uniform() < fullness:
            row = _boxes if rng.uniform() < boxes else _books
            parts += row(rng, -width / 2 + BOARD, width / 2 - BOARD, depth, bottom + BOARD, space)
        bottom += step
    return parts


def _books(rng: Generator, left: float, right: float, depth: float, bottom: float, space: float) -> list[Surfaces]:
    """Groups of upright books of like height with gaps between the groups."""
    parts: list[Surfaces] = []
    x = left
    while x < right - 0.05:
        length = min(rng.uniform(0.08, 0.4), right - x)
        tall, deep = space * rng.uniform(0.55, 0.95), min(depth - 0.04, rng.uniform(0.15, 0.26))
        back = depth / 2 - 0.02 - deep / 2 - rng.uniform(0, 0.05)
        parts.append(box((length, deep, tall), (x + length / 2, back, bottom), books(rng)))
        x += length + (rng.uniform(0.05, 0.3) if rng.uniform() < 0.3 else 0.0)
    return parts


def _boxes(rng: Generator, left: float, right: float, depth: float, bottom: float, space: float) -> list[Surfaces]:
    """Boxes side by side, never quite aligned."""
    parts: list[Surfaces] = []
    x = left
    while x < right - 0.15:
        length = min(rng.uniform(0.2, 0.5), right - x)
        size = (length * 0.94, depth * rng.uniform(0.6, 0.95), space * rng.uniform(0.4, 0.95))
        parts.append(box(size, (x + length / 2, rng.uniform(-0.03, 0.03), bottom), paper(rng)))
        x += length + rng.uniform(0, 0.15)
    return parts


def _lid(width: float, depth: float, height: float) -> Top:
    return Top((-width / 2, -depth / 2), (width / 2, depth / 2), height)
