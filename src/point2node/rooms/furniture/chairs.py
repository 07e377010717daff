"""Chairs in their styles; the sitter looks to -y."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from point2node.rooms.furniture.sofas import pad
from point2node.rooms.materials import Material, metal, plastic, upholstery, wood
from point2node.rooms.pieces import Piece, piece
from point2node.rooms.surfaces import Surfaces, box, cushion, drum, join, rod


def four_legged(rng: Generator) -> Piece:
    """A dining or visitor's chair: four legs, flat or padded seat, one of several backs, sometimes arms."""
    width, depth, seat = rng.uniform(0.38, 0.54), rng.uniform(0.38, 0.52), rng.uniform(0.42, 0.48)
    frame, cover = _frame(rng), upholstery(rng)
    radius, square = rng.uniform(0.011, 0.022), rng.uniform() < 0.4
    legs = []
    for x in (-1, 1):
        for y in (-1, 1):
            if square:
                legs.append(box((2 * radius, 2 * radius, seat), (x * width / 2.3, y * depth / 2.3, 0), frame))
            else:
                foot = (x * width / 2.2, y * depth / 2.2, 0)
                legs.append(rod(foot, (x * width / 2.4, y * depth / 2.4, seat), radius, frame))
    parts = [*legs, pad(rng, (width, depth, rng.uniform(0.03, 0.1)), (0, 0, seat - 0.01), cover, hard=0.5)]
    parts.append(_back(rng, width, depth / 2, seat, cover, frame))
    if rng.uniform() < 0.25:
        parts += _open_arms(width / 2, depth, seat, rng.uniform(0.18, 0.25), frame)
    return piece("chair", parts)


def swivel(rng: Generator) -> Piece:
    """An office chair on a five-star base with castors, from a typist's to an executive's, often with arms."""
    width, depth, seat = rng.uniform(0.42, 0.56), rng.uniform(0.4, 0.52), rng.uniform(0.42, 0.56)
    frame, cover = plastic(rng), upholstery(rng)
    radius, start = rng.uniform(0.26, 0.35), rng.uniform(0, math.tau)
    parts = [rod((0, 0, 0.08), (0, 0, seat), rng.uniform(0.025, 0.045), frame)]
    for angle in start + np.arange(5) * math.tau / 5:
        tip = (radius * math.cos(angle), radius * math.sin(angle), 0.07)
        parts += [rod((0, 0, 0.11), tip, 0.022, frame, 0.7), drum(0.025, 0.06, (tip[0], tip[1], 0), frame)]
    parts.append(pad(rng, (width, depth, rng.uniform(0.06, 0.13)), (0, 0, seat), cover, hard=0.1))
    high, tilt = rng.uniform(0.35, 0.8), rng.uniform(0.05, 0.25)
    size = (width * rng.uniform(0.75, 1.0), rng.uniform(0.03, 0.12), high)
    back = [pad(rng, size, (0, 0, rng.uniform(0.05, 0.18)), cover, hard=0.15)]
    if rng.uniform() < 0.2:
        back.append(pad(rng, (width * 0.55, 0.08, 0.16), (0, 0, high + 0.2), cover, hard=0.1))
    parts.append(join(back).turned(-tilt, "x").moved((0, depth / 2, seat)))
    parts.append(rod((0, depth / 4, seat), (0, depth / 2 + 0.06, seat + 0.3), 0.025, frame))
    if rng.uniform() < 0.7:
        height = rng.uniform(0.17, 0.26)
        if rng.uniform() < 0.6:
            parts += [_t_arm(side * (width / 2 + 0.03), seat, height, frame) for side in (-1, 1)]
        else:
            parts += _open_arms(width / 2 + 0.02, depth * 0.7, seat, height, frame)
    return piece("chair", [join(parts).turned(rng.normal(0, 0.5))])


def stool(rng: Generator) -> Piece:
    """A seat without a back on a column or on legs, at sitting or bar height."""
    seat, radius = rng.choice([rng.uniform(0.4, 0.5), rng.uniform(0.6, 0.78)]), rng.uniform(0.15, 0.23)
    frame, cover = _frame(rng), upholstery(rng)
    if rng.uniform() < 0.5:
        base = [drum(radius * 1.1, 0.03, (0, 0, 0), frame), rod((0, 0, 0.03), (0, 0, seat), 0.03, frame)]
    else:
        corners = [(x * radius, y * radius, 0.0) for x in (-1, 1) for y in (-1, 1)]
        base = [rod(foot, (foot[0] * 0.6, foot[1] * 0.6, seat), 0.015, frame) for foot in corners]
    if rng.uniform() < 0.5:
        return piece("chair", [*base, drum(radius, rng.uniform(0.03, 0.09), (0, 0, seat), cover)])
    return piece("chair", [*base, pad(rng, (2 * radius, 2 * radius, rng.uniform(0.03, 0.12)), (0, 0, seat), cover)])


def conference(rng: Generator) -> Piece:
    """A padded armchair for meetings: thick seat, low back, closed arms, on legs or on a column."""
    width, depth, seat = rng.uniform(0.54, 0.7), rng.uniform(0.5, 0.62), rng.uniform(0.36, 0.44)
    frame, cover = _frame(rng), upholstery(rng)
    if rng.uniform() < 0.5:
        base = [rod((0, 0, 0.04), (0, 0, seat), 0.04, frame), drum(0.26, 0.04, (0, 0, 0), frame)]
    else:
        base = [box((0.04, 0.04, seat), (x * width / 2.3, y * depth / 2.3, 0), frame) for x in (-1, 1) for y in (-1, 1)]
    back = pad(rng, (width, 0.12, rng.uniform(0.34, 0.55)), (0, 0, 0), cover).turned(-rng.uniform(0, 0.25), "x")
    tall = rng.uniform(0.18, 0.28)
    arms = [pad(rng, (0.09, depth, tall), (x * (width / 2 - 0.04), 0, seat), cover) for x in (-1, 1)]
    seat_pad = pad(rng, (width - 0.1, depth, 0.14), (0, 0, seat - 0.02), cover)
    return piece("chair", [*base, seat_pad, back.moved((0, depth / 2 - 0.04, seat)), *arms])


def armchair(rng: Generator) -> Piece:
    """An easy chair for one: deep seat, thick back, arms of wood or upholstery."""
    width, depth, seat = rng.uniform(0.6, 0.85), rng.uniform(0.62, 0.82), rng.uniform(0.34, 0.44)
    frame, cover = _frame(rng), upholstery(rng)
    inner = width - 2 * rng.uniform(0.06, 0.12)
    parts = [pad(rng, (inner, depth - 0.06, rng.uniform(0.12, 0.2)), (0, -0.03, seat - 0.14), cover, hard=0.1)]
    back = pad(rng, (inner, rng.uniform(0.1, 0.18), rng.uniform(0.45, 0.7)), (0, 0, -0.05), cover, hard=0.1)
    parts.append(back.turned(-rng.uniform(0.1, 0.45), "x").moved((0, depth / 2 - 0.16, seat)))
    if rng.uniform() < 0.5:
        parts += _open_arms(width / 2 - 0.03, depth * 0.85, seat, rng.uniform(0.15, 0.24), frame)
        parts += [
            rod(
                (x * (width / 2 - 0.04), y * depth * 0.4, 0),
                (x * (width / 2 - 0.04), y * depth * 0.36, seat),
                0.02,
                frame,
            )
            for x in (-1, 1)
            for y in (-1, 1)
        ]
    else:
        arm, tall = (width - inner) / 2 + 0.03, rng.uniform(0.45, 0.6)
        parts += [pad(rng, (arm, depth, tall), (x * (width - arm) / 2, 0, 0.06), cover, hard=0.2) for x in (-1, 1)]
        parts.append(box((inner, depth * 0.9, seat - 0.18), (0, 0, 0.08), cover))
    return piece("chair", parts)


def tub(rng: Generator) -> Piece:
    """A round seat inside a low wall that is back and arms in one."""
    radius, seat, tall = rng.uniform(0.28, 0.38), rng.uniform(0.38, 0.46), rng.uniform(0.68, 0.85)
    frame, cover, thick = _frame(rng), upholstery(rng), rng.uniform(0.04, 0.09)
    parts = [drum(radius * 0.95, 0.1, (0, 0, seat - 0.1), cover)]
    count, reach = 11, rng.uniform(1.6, 2.3)  # slabs around the back, and radians to either side
    for angle in np.linspace(-reach, reach, count):
        drop = (tall - seat) * 0.45 * (abs(angle) / reach) ** 2
        slab = cushion(
            (radius * 2 * reach / count * 1.5, thick, tall - seat + 0.1 - drop), (0, radius, seat - 0.1), cover, 6
        )
        parts.append(slab.turned(angle))
    if rng.uniform() < 0.5:
        parts += [rod((0, 0, 0.03), (0, 0, seat - 0.1), 0.035, frame), drum(radius * 0.8, 0.03, (0, 0, 0), frame)]
    else:
        corners = [(x * radius * 0.75, y * radius * 0.75) for x in (-1, 1) for y in (-1, 1)]
        parts += [rod((*foot, 0), (foot[0] * 0.8, foot[1] * 0.8, seat - 0.1), 0.018, frame) for foot in corners]
    return piece("chair", parts)


def shell(rng: Generator) -> Piece:
    """A one-piece shell of moulded plastic or plywood on splayed legs or a column."""
    width, depth, seat = rng.uniform(0.42, 0.52), rng.uniform(0.38, 0.47), rng.uniform(0.42, 0.47)
    frame = _frame(rng)
    cover = plastic(rng) if rng.uniform() < 0.6 else wood(rng)
    if rng.uniform() < 0.2:
        legs = [rod((0, 0, 0.03), (0, 0, seat), 0.03, frame), drum(0.24, 0.03, (0, 0, 0), frame)]
    else:
        legs = [
            rod((x * width / 2, y * depth / 2, 0), (x * width / 4, y * depth / 4, seat), 0.012, frame)
            for x in (-1, 1)
            for y in (-1, 1)
        ]
    parts = [*legs, _bent_shell(width, depth, rng.uniform(0.32, 0.46), cover).moved((0, 0, seat))]
    if rng.uniform() < 0.15:  # a tablet to write on
        parts.append(box((0.28, 0.4, 0.02), (width / 2, -depth / 3, seat + 0.25), wood(rng)))
    return piece("chair", parts)


def folding(rng: Generator) -> Piece:
    """Thin seat and back between crossed legs."""
    width, depth, seat = rng.uniform(0.4, 0.48), rng.uniform(0.36, 0.42), rng.uniform(0.42, 0.46)
    frame, cover, top = metal(rng), upholstery(rng), rng.uniform(0.75, 0.86)
    parts = [
        box((width, depth, 0.02), (0, 0, seat), cover),
        box((width, 0.015, 0.16), (0, depth / 2, top - 0.18), cover),
    ]
    for x in (-width / 2, width / 2):
        parts += [
            rod((x, -depth / 2 - 0.05, 0), (x, depth / 2, top), 0.012, frame),
            rod((x, depth / 2 + 0.06, 0), (x, -depth / 4, seat), 0.012, frame),
        ]
    return piece("chair", parts)


def row_of_seats(rng: Generator) -> Piece:
    """Two to four seats on one beam, as in waiting rooms."""
    count, each, seat = int(rng.integers(2, 5)), rng.uniform(0.5, 0.58), rng.uniform(0.4, 0.46)
    frame, cover = metal(rng), upholstery(rng)
    width, depth, tall = count * each, rng.uniform(0.42, 0.5), rng.uniform(0.32, 0.45)
    padded = rng.uniform() < 0.5
    parts = [box((width, 0.06, 0.06), (0, 0.05, seat - 0.1), frame)]
    for number in range(count):
        x = (number + 0.5) * each - width / 2
        if padded:
            back = pad(rng, (each * 0.9, 0.08, tall), (0, 0, 0.03), cover).turned(-0.15, "x")
            parts += [pad(rng, (each * 0.9, depth, 0.08), (x, 0, seat - 0.04), cover), back.moved((x, depth / 2, seat))]
        else:
            parts.append(_bent_shell(each * 0.88, depth, tall, cover).moved((x, 0, seat)))
    for x in (-width * 0.35, width * 0.35):
        parts += [box((0.06, 0.06, seat - 0.1), (x, 0.05, 0), frame), box((0.06, depth, 0.03), (x, 0.05, 0), frame)]
    return piece("chair", parts)


def cantilever(rng: Generator) -> Piece:
    """A seat and a back on a bent tube without back legs."""
    width, depth, seat = rng.uniform(0.46, 0.54), rng.uniform(0.44, 0.52), rng.uniform(0.43, 0.47)
    frame, cover = metal(rng), upholstery(rng)
    top = seat + rng.uniform(0.36, 0.46)
    parts = [rod((-width / 2, depth / 2, 0.015), (width / 2, depth / 2, 0.015), 0.013, frame)]
    for x in (-width / 2, width / 2):
        parts += [
            rod((x, depth / 2, 0.015), (x, -depth / 2, 0.015), 0.013, frame),
            rod((x, -depth / 2, 0.015), (x, -depth / 2, seat), 0.013, frame),
            rod((x, -depth / 2, seat), (x, depth / 2, seat), 0.013, frame),
            rod((x, depth / 2, seat), (x, depth / 2 + 0.08, top), 0.013, frame),
        ]
    back = box((width, 0.03, (top - seat) * 0.6), (0, 0, (top - seat) * 0.4), cover).turned(-0.18, "x")
    return piece("chair", [*parts, box((width, depth, 0.04), (0, 0, seat), cover), back.moved((0, depth / 2, seat))])


def _frame(rng: Generator) -> Material:
    return metal(rng) if rng.uniform() < 0.6 else wood(rng)


def _back(rng: Generator, width: float, edge: float, seat: float, cover: Material, frame: Material) -> Surfaces:
    """Build a back: a full or a padded panel, a panel on two posts, horizontal slats, or vertical bars."""
    height, tilt = rng.uniform(0.32, 0.62), rng.uniform(0.03, 0.22)
    posts = [rod((x * width / 2.3, 0, 0), (x * width / 2.3, 0, height), 0.013, frame) for x in (-1, 1)]
    form = rng.integers(5)
    if form == 0:
        parts = [box((width, 0.03, height), (0, 0, 0), cover)]
    elif form == 1:
        parts = [pad(rng, (width, rng.uniform(0.05, 0.1), height), (0, 0, 0), cover, hard=0.0)]
    elif form == 2:
        parts = [*posts, pad(rng, (width, 0.035, height * 0.5), (0, 0, height * 0.5), cover, hard=0.6)]
    elif form == 3:
        slats = (box((width * 0.9, 0.015, 0.05), (0, 0, height * share), frame) for share in (0.25, 0.55, 0.85))
        parts = [*posts, *slats]
    else:
        bars = (rod((x * width, 0, 0), (x * width, 0, height), 0.009, frame) for x in (-0.25, -0.08, 0.08, 0.25))
        parts = [*posts, *bars, box((width * 0.95, 0.02, 0.07), (0, 0, height - 0.05), frame)]
    return join(parts).turned(-tilt, "x").moved((0, edge - 0.02, seat))


def _t_arm(x: float, seat: float, height: float, frame: Material) -> Surfaces:
    post = rod((x, 0.05, seat), (x, 0.05, seat + height), 0.02, frame)
    return join([post, box((0.06, 0.26, 0.03), (x, 0.02, seat + height), frame)])


def _open_arms(x: float, depth: float, seat: float, height: float, frame: Material) -> list[Surfaces]:
    """Build an arm rest on two posts on each side."""
    parts = []
    for side in (-x, x):
        parts.append(box((0.05, depth, 0.03), (side, 0, seat + height), frame))
        parts += [
            rod((side, y * depth, seat - 0.02), (side, y * depth, seat + height), 0.013, frame) for y in (-0.42, 0.42)
        ]
    return parts


def _bent_shell(width: float, depth: float, height: float, cover: Material) -> Surfaces:
    """Build seat, bend and back as three thin slabs, with low sides."""
    seat = box((width, depth, 0.012), (0, 0, 0), cover)
    bend = box((width, 0.012, 0.13), (0, 0, 0), cover).turned(-0.8, "x").moved((0, depth / 2, 0))
    back = box((width * 0.95, 0.012, height), (0, 0, 0), cover).turned(-0.15, "x").moved((0, depth / 2 + 0.09, 0.09))
    sides = [box((0.012, depth * 0.7, 0.05), (x * width / 2, 0.05, 0), cover) for x in (-1, 1)]
    return join([seat, bend, back, *sides])
