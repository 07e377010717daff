"""Clutter that stands on the floor; its back is to +y."""

from __future__ import annotations

import math

from numpy.random import Generator

from point2node.rooms.furniture.desk_items import carton, plant
from point2node.rooms.materials import fabric, furniture_finish, metal, paper, plastic
from point2node.rooms.pieces import Piece, Top, piece
from point2node.rooms.surfaces import ball, box, cushion, disc, drum, join, rod


def waste_bin(rng: Generator) -> Piece:
    """A waste-paper basket, round or square, open at the top."""
    material, height = plastic(rng), rng.uniform(0.25, 0.65)
    radius = height * rng.uniform(0.35, 0.5)
    if rng.uniform() < 0.6:
        return piece(
            "clutter",
            [rod((0, 0, 0), (0, 0, height), radius * 0.8, material, 1.25), disc(radius * 0.8, (0, 0, 0.02), material)],
        )
    return piece("clutter", [box((radius * 1.4, radius * 1.8, height), (0, 0, 0), material)])


def computer(rng: Generator) -> Piece:
    """A tower case."""
    return piece(
        "clutter",
        [box((rng.uniform(0.16, 0.22), rng.uniform(0.38, 0.5), rng.uniform(0.35, 0.48)), (0, 0, 0), plastic(rng))],
    )


def cartons(rng: Generator) -> Piece:
    """One to four boxes, stacked or side by side."""
    parts, height, shift = [], 0.0, 0.0
    for _ in range(rng.integers(1, 5)):
        one = carton(rng)
        if rng.uniform() < 0.4:
            shift, height = shift + 0.5, 0.0
        parts.append(one.surfaces.moved((shift, rng.normal(0, 0.04), height)))
        height += one.size[2]
    return piece("clutter", [join(parts).moved((-shift / 2, 0, 0))])


def bag(rng: Generator) -> Piece:
    """A rucksack or a handbag."""
    material = fabric(rng)
    size = rng.uniform((0.26, 0.14, 0.28), (0.46, 0.28, 0.52))
    body = cushion(size, (0, 0, -size[2] / 2), material, int(rng.choice([4, 6])))
    low, high = body.bounds()
    strap = rod((-0.08, 0, high[2] * 0.9), (0.08, 0, high[2] * 1.3), 0.012, material)
    return piece("clutter", [join([body, strap]).turned(rng.uniform(-0.4, 0.4), "x").moved((0, 0, -low[2] * 0.92))])


def floor_lamp(rng: Generator) -> Piece:
    """A standard lamp."""
    frame, height = metal(rng), rng.uniform(1.4, 1.8)
    shade = rod((0, 0, height - 0.28), (0, 0, height), rng.uniform(0.15, 0.24), paper(rng), rng.uniform(0.6, 1.0))
    return piece(
        "clutter", [drum(0.14, 0.03, (0, 0, 0), frame), rod((0, 0, 0), (0, 0, height - 0.1), 0.014, frame), shade]
    )


def tall_plant(rng: Generator) -> Piece:
    """A plant in a tub."""
    return piece("clutter", [plant(rng, rng.uniform(0.12, 0.2), rng.uniform(0.6, 1.3))])


def copier(rng: Generator) -> Piece:
    """A photocopier with trays."""
    body = plastic(rng)
    width, depth, height = rng.uniform(0.55, 0.8), rng.uniform(0.55, 0.7), rng.uniform(0.9, 1.15)
    parts = [
        box((width, depth, height * 0.6), (0, 0, 0.04), body),
        box((width * 0.95, depth, height * 0.25), (0, 0, height * 0.75), body),
    ]
    parts += [box((width * 0.3, depth * 0.9, height), (width * 0.35, 0.02, 0), body)]
    for z in (0.1, 0.25, 0.4):
        parts.append(box((width * 0.9, 0.03, 0.11), (0, -depth / 2, z), body))
    parts.append(box((0.35, depth * 0.5, 0.02), (-width / 2 - 0.15, 0, height * 0.55), body))
    return piece("clutter", parts, [Top((-width / 2, -depth / 2), (width / 2, depth / 2), height)])


def water_cooler(rng: Generator) -> Piece:
    """A dispenser with a bottle on top."""
    bottle = drum(0.13, rng.uniform(0.3, 0.42), (0, 0, 0.98), plastic(rng))
    return piece("clutter", [box((0.32, 0.32, 0.98), (0, 0, 0), plastic(rng)), bottle])


def refrigerator(rng: Generator) -> Piece:
    """A refrigerator, small or tall, with its freezer above, below or next to it."""
    body, handle, depth = metal(rng), metal(rng), rng.uniform(0.55, 0.78)
    tall = rng.uniform() < 0.65
    width, height = rng.uniform(0.5, 0.95 if tall else 0.65), rng.uniform(*((1.4, 1.95) if tall else (0.8, 0.9)))
    parts, share = [box((width, depth, height), (0, 0, 0), body)], rng.uniform(0.25, 0.75)
    if width > 0.8:
        fronts = [(-0.25 * width, 0.05, width / 2, height - 0.06), (0.25 * width, 0.05, width / 2, height - 0.06)]
    else:
        fronts = [(0.0, 0.05, width, share * height - 0.05), (0.0, share * height, width, (1 - share) * height)]
    for x, bottom, wide, high in fronts:
        parts.append(box((wide - 0.01, 0.04, high - 0.01), (x, -depth / 2 - 0.02, bottom), body))
        parts.append(box((0.03, 0.04, high * 0.5), (x + wide * 0.4, -depth / 2 - 0.06, bottom + high * 0.2), handle))
    return piece("clutter", parts, [Top((-width / 2, -depth / 2), (width / 2, depth / 2), height)])


def crates(rng: Generator) -> Piece:
    """Cases, drawers on wheels or crates in a row."""
    parts, x = [], 0.0
    for _ in range(rng.integers(1, 4)):
        width = rng.uniform(0.25, 0.5)
        size = (width, rng.uniform(0.3, 0.5), rng.uniform(0.35, 0.75))
        parts.append(box(size, (x + width / 2, 0, rng.choice([0.0, 0.04])), furniture_finish(rng)))
        x += width + rng.uniform(0.02, 0.15)
    return piece("clutter", [join(parts).moved((-x / 2, 0, 0))])


def partition(rng: Generator) -> Piece:
    """A free-standing screen between desks."""
    width, height = rng.uniform(1.2, 1.8), rng.uniform(1.2, 1.6)
    feet = [box((0.05, 0.4, 0.03), (x * width * 0.4, 0, 0), metal(rng)) for x in (-1, 1)]
    return piece("clutter", [box((width, 0.05, height - 0.08), (0, 0, 0.08), fabric(rng)), *feet])


def coat_stand(rng: Generator) -> Piece:
    """Hooks on a pole, with some coats."""
    frame, height = metal(rng), rng.uniform(1.6, 1.85)
    parts = [drum(0.2, 0.03, (0, 0, 0), frame), rod((0, 0, 0), (0, 0, height), 0.02, frame)]
    for number in range(6):
        angle = math.tau * number / 6
        x, y = math.cos(angle), math.sin(angle)
        parts.append(rod((0, 0, height - 0.1), (0.18 * x, 0.18 * y, height), 0.01, frame))
        if rng.uniform() < 0.4:
            parts.append(ball((0.12, 0.12, 0.45), (0.18 * x, 0.18 * y, height - 0.45), fabric(rng)))
    return piece("clutter", parts)
