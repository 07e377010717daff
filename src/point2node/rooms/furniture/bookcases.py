"""Bookcases and cabinets in their styles, with what stands in them; the back is to the wall, +y."""

from __future__ import annotations

from numpy.random import Generator

from point2node.rooms.materials import Material, books, fabric, furniture_finish, glass, metal, paper, plastic
from point2node.rooms.pieces import Piece, Top, piece
from point2node.rooms.surfaces import Surfaces, ball, box, cushion, drum, quad

BOARD = 0.022  # metres: thickness of shelves and sides


def open_shelves(rng: Generator) -> Piece:
    """Tall, half-height or low shelves, filled with books, folders, things and gaps."""
    width, depth = rng.uniform(0.4, 1.4), rng.uniform(0.22, 0.42)
    height = rng.uniform(0.6, 1.2) if rng.uniform() < 0.35 else rng.uniform(1.2, 2.4)
    body = furniture_finish(rng)
    parts = _carcass(width, depth, height, body)
    if rng.uniform() < 0.35:
        parts.append(box((BOARD, depth, height - 0.05), (0, 0, 0.03), body))
    parts += _filled_shelves(rng, width, depth, height, body)
    return piece("bookcase", parts, [_lid(width, depth, height)])


def wall_of_shelves(rng: Generator) -> Piece:
    """Bookcases side by side up to near the ceiling, full."""
    columns, each, depth, height = (
        int(rng.integers(2, 4)),
        rng.uniform(0.6, 0.9),
        rng.uniform(0.25, 0.4),
        rng.uniform(1.9, 2.3),
    )
    body, parts = furniture_finish(rng), []
    for column in range(columns):
        x = (column - (columns - 1) / 2) * each
        one = [*_carcass(each, depth, height, body), *_filled_shelves(rng, each, depth, height, body)]
        parts += [part.moved((x, 0, 0)) for part in one]
    return piece("bookcase", parts)


def cabinet(rng: Generator) -> Piece:
    """A closed cupboard with doors or drawers; low ones carry things."""
    return piece("bookcase", *cupboard(rng, furniture_finish(rng), rng.uniform(0.5, 1.6), rng.uniform(0.35, 0.6)))


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
    """A store-room rack of metal posts and shelves, with boxes and things."""
    width, depth, height = rng.uniform(0.7, 1.8), rng.uniform(0.35, 0.6), rng.uniform(1.6, 2.4)
    frame = metal(rng)
    posts = [box((0.035, 0.035, height), (x * width / 2, y * depth / 2, 0), frame) for x in (-1, 1) for y in (-1, 1)]
    return piece("bookcase", [*posts, *_filled_shelves(rng, width, depth, height, frame, boxes=0.6)])


def wall_shelves(rng: Generator) -> Piece:
    """One to four shelves on brackets on the wall, with books and things (back at y = 0, bottom at z = 0)."""
    width, depth, rows = rng.uniform(0.6, 2.4), rng.uniform(0.2, 0.32), int(rng.integers(1, 5))
    body, step = furniture_finish(rng), rng.uniform(0.28, 0.42)
    parts: list[Surfaces] = []
    for row in range(rows):
        parts.append(box((width, depth, BOARD), (0, -depth / 2, row * step), body))
        filled = _row(rng, -width / 2, width / 2, depth, row * step + BOARD, step - BOARD, boxes=0.2)
        parts += [part.moved((0, -depth / 2, 0)) for part in filled]
    return piece("bookcase", parts)


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


def cupboard(
    rng: Generator, body: Material, width: float, depth: float, height: float = 0.0
) -> tuple[list[Surfaces], list[Top]]:
    """Return the parts and the top of a closed cupboard with slightly raised fronts and handles."""
    height = height or (rng.uniform(0.55, 1.3) if rng.uniform() < 0.6 else rng.uniform(1.6, 2.2))
    handle = metal(rng)
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
    return parts, [_lid(width, depth, height)]


def _carcass(width: float, depth: float, height: float, body: Material) -> list[Surfaces]:
    """Build two sides, a back and a lid."""
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
    """Build shelves from ``lowest`` upwards; each has books, things or (probability ``boxes``) boxes, or is empty."""
    parts: list[Surfaces] = []
    step = rng.uniform(0.26, 0.42)
    bottom = lowest
    fullness = rng.uniform(0.5, 1.0)
    while bottom < height - 0.2:
        parts.append(box((width - 2 * BOARD, depth, BOARD), (0, 0, bottom), body))
        space = min(step, height - bottom) - BOARD
        if rng.uniform() < fullness:
            parts += _row(rng, -width / 2 + BOARD, width / 2 - BOARD, depth, bottom + BOARD, space, boxes)
        bottom += step
    return parts


def _row(
    rng: Generator, left: float, right: float, depth: float, bottom: float, space: float, boxes: float
) -> list[Surfaces]:
    """Build the contents of one shelf."""
    drawn = rng.uniform()
    fill = _boxes if drawn < boxes else (_things if drawn < boxes + 0.25 else _books)
    return fill(rng, left, right, depth, bottom, space)


def _books(rng: Generator, left: float, right: float, depth: float, bottom: float, space: float) -> list[Surfaces]:
    """Build groups of upright books of similar height, some leaning ones and piles, with gaps."""
    parts: list[Surfaces] = []
    x = left
    while x < right - 0.05:
        length = min(rng.uniform(0.06, 0.4), right - x)
        tall, deep = space * rng.uniform(0.5, 0.95), min(depth - 0.04, rng.uniform(0.13, 0.26))
        back = depth / 2 - 0.02 - deep / 2 - rng.uniform(0, max(0.01, depth - deep - 0.05))
        form = rng.uniform()
        if form < 0.8:
            parts.append(box((length, deep, tall), (x + length / 2, back, bottom), books(rng)))
        elif form < 0.9:
            leaning = box((0.03, deep, tall * 0.9), (0, 0, 0), books(rng)).turned(rng.uniform(0.15, 0.5), "y")
            parts.append(leaning.moved((x + 0.02, back, bottom)))
        else:
            lying = (min(length, 0.24), deep, tall * rng.uniform(0.2, 0.7))
            parts.append(box(lying, (x + length / 2, back, bottom), paper(rng)))
        x += length + (rng.uniform(0.03, 0.3) if rng.uniform() < 0.35 else 0.0)
    return parts


def _boxes(rng: Generator, left: float, right: float, depth: float, bottom: float, space: float) -> list[Surfaces]:
    """Build boxes side by side, not quite aligned."""
    parts: list[Surfaces] = []
    x = left
    while x < right - 0.15:
        length = min(rng.uniform(0.2, 0.5), right - x)
        size = (length * 0.94, depth * rng.uniform(0.6, 1.1), space * rng.uniform(0.4, 0.95))
        parts.append(box(size, (x + length / 2, rng.uniform(-0.05, 0.03), bottom), paper(rng)))
        x += length + rng.uniform(0, 0.15)
    return parts


def _things(rng: Generator, left: float, right: float, depth: float, bottom: float, space: float) -> list[Surfaces]:
    """Build vases, bottles, bundles and bags in random order."""
    parts: list[Surfaces] = []
    x = left + 0.03
    while x < right - 0.1:
        wide, tall = rng.uniform(0.05, 0.26), space * rng.uniform(0.25, 0.9)
        deep = min(depth, wide * rng.uniform(0.7, 1.4))
        place = (x + wide / 2, rng.uniform(-0.3, 0.3) * (depth - deep), bottom)
        form = rng.integers(4)
        if form == 0:
            parts.append(drum(wide / 2, tall, place, plastic(rng), rng.uniform(0.5, 1.1)))
        elif form == 1:
            parts.append(cushion((wide, deep, tall), place, fabric(rng)))
        elif form == 2:
            parts.append(ball((wide / 2, deep / 2, tall / 2), (*place[:2], bottom + tall / 2), plastic(rng)))
        else:
            parts.append(box((wide, deep, tall), place, paper(rng)))
        x += wide + rng.uniform(0.0, 0.15)
    return parts


def _lid(width: float, depth: float, height: float) -> Top:
    return Top((-width / 2, -depth / 2), (width / 2, depth / 2), height)
