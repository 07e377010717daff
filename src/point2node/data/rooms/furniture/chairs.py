"""Chairs in their styles; the sitter looks to -y."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from point2node.data.rooms.materials import Material, metal, plastic, upholstery, wood
from point2node.data.rooms.pieces import Piece, piece
from point2node.data.rooms.surfaces import Surfaces, box, drum, join, rod


def four_legged(rng: Generator) -> Piece:
    """A dining or visitor's chair: four legs, flat seat, one of three backs."""
    width, depth, seat = rng.uniform(0.4, 0.52), rng.uniform(0.4, 0.5), rng.uniform(0.42, 0.48)
    frame, cover = _frame(rng), upholstery(rng)
    legs = [
        rod(
            (x * width / 2.2, y * depth / 2.2, 0),
            (x * width / 2.4, y * depth / 2.4, seat),
            rng.uniform(0.011, 0.02),
            frame,
        )
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    cushion = box((width, depth, rng.uniform(0.03, 0.08)), (0, 0, seat), cover)
    return piece("chair", [*legs, cushion, _back(rng, width, depth / 2, seat, cover, frame)])


def swivel(rng: Generator) -> Piece:
    """An office chair on a five-star base with castors, often with arms."""
    width, depth, seat = rng.uniform(0.44, 0.54), rng.uniform(0.42, 0.52), rng.uniform(0.42, 0.54)
    frame, cover = plastic(rng), upholstery(rng)
    radius, start = rng.uniform(0.27, 0.34), rng.uniform(0, math.tau)
    parts = [rod((0, 0, 0.08), (0, 0, seat), 0.03, frame)]
    for angle in start + np.arange(5) * math.tau / 5:
        tip = (radius * math.cos(angle), radius * math.sin(angle), 0.07)
        parts += [rod((0, 0, 0.11), tip, 0.022, frame, 0.7), drum(0.025, 0.06, (tip[0], tip[1], 0), frame)]
    parts.append(box((width, depth, rng.uniform(0.06, 0.11)), (0, 0, seat), cover))
    back_height, tilt = rng.uniform(0.42, 0.75), rng.uniform(0.05, 0.25)
    back = box((width * rng.uniform(0.8, 1.0), 0.06, back_height), (0, 0, rng.uniform(0.08, 0.16)), cover)
    parts.append(back.turned(-tilt, "x").moved((0, depth / 2, seat)))
    parts.append(rod((0, depth / 4, seat), (0, depth / 2 + 0.06, seat + 0.3), 0.025, frame))
    if rng.uniform() < 0.7:
        parts += [_arm(side * (width / 2 + 0.03), seat, rng.uniform(0.18, 0.24), frame) for side in (-1, 1)]
    return piece("chair", [join(parts).turned(rng.normal(0, 0.35))])


def stool(rng: Generator) -> Piece:
    """A seat without a back on a column or on legs, at sitting or bar height."""
    seat, radius = rng.choice([rng.uniform(0.42, 0.5), rng.uniform(0.6, 0.76)]), rng.uniform(0.16, 0.22)
    frame, cover = _frame(rng), upholstery(rng)
    if rng.uniform() < 0.5:
        base = [drum(radius * 1.1, 0.03, (0, 0, 0), frame), rod((0, 0, 0.03), (0, 0, seat), 0.03, frame)]
    else:
        corners = [(x * radius, y * radius, 0.0) for x in (-1, 1) for y in (-1, 1)]
        base = [rod(foot, (foot[0] * 0.6, foot[1] * 0.6, seat), 0.015, frame) for foot in corners]
    if rng.uniform() < 0.6:
        return piece("chair", [*base, drum(radius, rng.uniform(0.03, 0.09), (0, 0, seat), cover)])
    return piece("chair", [*base, box((2 * radius, 2 * radius, rng.uniform(0.03, 0.09)), (0, 0, seat), cover)])


def conference(rng: Generator) -> Piece:
    """A padded armchair for meetings: thick seat, low back, closed arms, on legs or on a column."""
    width, depth, seat = rng.uniform(0.56, 0.68), rng.uniform(0.5, 0.6), rng.uniform(0.38, 0.44)
    frame, cover = _frame(rng), upholstery(rng)
    if rng.uniform() < 0.5:
        base = [rod((0, 0, 0.04), (0, 0, seat), 0.04, frame), drum(0.26, 0.04, (0, 0, 0), frame)]
    else:
        base = [box((0.04, 0.04, seat), (x * width / 2.3, y * depth / 2.3, 0), frame) for x in (-1, 1) for y in (-1, 1)]
    back = box((width, 0.1, rng.uniform(0.36, 0.5)), (0, 0, 0), cover).turned(-rng.uniform(0, 0.2), "x")
    arms = [box((0.07, depth, rng.uniform(0.18, 0.26)), (x * (width / 2 - 0.035), 0, seat), cover) for x in (-1, 1)]
    cushion = box((width - 0.1, depth, 0.12), (0, 0, seat - 0.02), cover)
    return piece("chair", [*base, cushion, back.moved((0, depth / 2, seat)), *arms])


def shell(rng: Generator) -> Piece:
    """A one-piece shell of moulded plastic or plywood on splayed legs."""
    width, depth, seat = rng.uniform(0.44, 0.5), rng.uniform(0.4, 0.46), rng.uniform(0.42, 0.46)
    frame = _frame(rng)
    cover = plastic(rng) if rng.uniform() < 0.6 else wood(rng)
    legs = [
        rod((x * width / 2, y * depth / 2, 0), (x * width / 4, y * depth / 4, seat), 0.012, frame)
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    return piece("chair", [*legs, _bent_shell(width, depth, rng.uniform(0.34, 0.46), cover).moved((0, 0, seat))])


def cantilever(rng: Generator) -> Piece:
    """A bent tube without back legs carries seat and back."""
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
    """A full panel, a panel held by two posts, or slats."""
    height, tilt = rng.uniform(0.34, 0.5), rng.uniform(0.05, 0.2)
    posts = [rod((x * width / 2.3, 0, 0), (x * width / 2.3, 0, height), 0.013, frame) for x in (-1, 1)]
    form = rng.integers(3)
    if form == 0:
        parts = [box((width, 0.03, height), (0, 0, 0), cover)]
    elif form == 1:
        parts = [*posts, box((width, 0.03, height * 0.5), (0, 0, height * 0.5), cover)]
    else:
        parts = [
            *posts,
            *(box((width * 0.9, 0.015, 0.05), (0, 0, height * share), frame) for share in (0.25, 0.55, 0.85)),
        ]
    return join(parts).turned(-tilt, "x").moved((0, edge - 0.02, seat))


def _arm(x: float, seat: float, height: float, frame: Material) -> Surfaces:
    post = rod((x, 0.05, seat), (x, 0.05, seat + height), 0.02, frame)
    return join([post, box((0.06, 0.26, 0.03), (x, 0.02, seat + height), frame)])


def _bent_shell(width: float, depth: float, height: float, cover: Material) -> Surfaces:
    """Seat, bend and back as three thin slabs, with low sides."""
    seat = box((width, depth, 0.012), (0, 0, 0), cover)
    bend = box((width, 0.012, 0.13), (0, 0, 0), cover).turned(-0.8, "x").moved((0, depth / 2, 0))
    back = box((width * 0.95, 0.012, height), (0, 0, 0), cover).turned(-0.15, "x").moved((0, depth / 2 + 0.09, 0.09))
    sides = [box((0.012, depth * 0.7, 0.05), (x * width / 2, 0.05, 0), cover) for x in (-1, 1)]
    return join([seat, bend, back, *sides])
