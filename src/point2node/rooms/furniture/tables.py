"""Styles of tables; people sit at the front, -y."""

from __future__ import annotations

import math

from numpy.random import Generator

from point2node.rooms.materials import Material, furniture_finish, metal, wood
from point2node.rooms.pieces import Piece, Top, piece
from point2node.rooms.surfaces import Surfaces, box, cushion, disc, drum, join, rod

HEIGHT = (0.68, 0.78)


def four_legged_table(rng: Generator, width: float = 0.0, depth: float = 0.0) -> Piece:
    """A top on four legs, round or square, with or without a frame below the top."""
    width, depth = width or rng.uniform(1.0, 1.8), depth or rng.uniform(0.6, 0.9)
    height, thick = rng.uniform(*HEIGHT), rng.uniform(0.018, 0.05)
    top, leg = furniture_finish(rng), _leg_finish(rng)
    parts = [box((width, depth, thick), (0, 0, height - thick), top)]
    inset, radius, square = rng.uniform(0.03, 0.08), rng.uniform(0.015, 0.04), rng.uniform() < 0.5
    for x in (-width / 2 + inset, width / 2 - inset):
        for y in (-depth / 2 + inset, depth / 2 - inset):
            if square:
                parts.append(box((2 * radius, 2 * radius, height - thick), (x, y, 0), leg))
            else:
                parts.append(rod((x, y, 0), (x, y, height - thick), radius, leg))
    if rng.uniform() < 0.5:
        parts += [
            box((width * 0.9, 0.02, 0.07), (0, y * (depth / 2 - 0.06), height - thick - 0.07), leg) for y in (-1, 1)
        ]
    return piece("table", parts, [_top(width, depth, height)])


def panel_desk(rng: Generator, width: float = 0.0, depth: float = 0.0) -> Piece:
    """A desk on side panels with a pedestal of drawers and often a modesty panel."""
    width, depth = width or rng.uniform(1.2, 1.9), depth or rng.uniform(0.65, 0.9)
    height, thick = rng.uniform(*HEIGHT), rng.uniform(0.02, 0.04)
    top, body = furniture_finish(rng), furniture_finish(rng)
    parts = [box((width, depth, thick), (0, 0, height - thick), top)]
    parts += [box((thick, depth * 0.95, height - thick), (x * (width - thick) / 2, 0, 0), body) for x in (-1, 1)]
    if rng.uniform() < 0.7:
        parts.append(box((width, 0.018, rng.uniform(0.3, height - thick)), (0, depth / 2 - 0.08, 0.02), body))
    for side in (-1, 1):
        if rng.uniform() < 0.55:
            parts.append(_drawers(rng, height - thick - 0.02, depth, body).moved((side * (width / 2 - 0.25), 0, 0)))
    return piece("table", parts, [_top(width, depth, height)])


def t_leg_desk(rng: Generator, width: float = 0.0, depth: float = 0.0) -> Piece:
    """A desk on two metal T-shaped feet, as height-adjustable desks have."""
    width, depth = width or rng.uniform(1.2, 1.8), depth or rng.uniform(0.7, 0.85)
    height = rng.choice([rng.uniform(*HEIGHT), rng.uniform(0.78, 1.15)], p=[0.85, 0.15])
    top, leg = furniture_finish(rng), metal(rng)
    parts = [box((width, depth, 0.028), (0, 0, height - 0.028), top)]
    for x in (-width / 2 + 0.12, width / 2 - 0.12):
        parts += [box((0.07, depth * 0.85, 0.04), (x, 0, 0), leg), box((0.08, 0.06, height - 0.028), (x, 0.05, 0), leg)]
    parts.append(box((width - 0.3, 0.04, 0.06), (0, 0.05, height - 0.12), leg))
    if rng.uniform() < 0.5:
        drawers = _drawers(rng, rng.uniform(0.5, 0.6), 0.6, furniture_finish(rng))
        parts.append(drawers.moved((rng.choice([-1, 1]) * (width / 2 - 0.4), 0, 0)))
    return piece("table", parts, [_top(width, depth, height)])


def l_desk(rng: Generator) -> Piece:
    """A desk with a return on one side."""
    width, depth, reach = rng.uniform(1.5, 2.0), rng.uniform(0.6, 0.8), rng.uniform(1.3, 1.8)
    height, side = rng.uniform(*HEIGHT), rng.choice([-1, 1])
    top, leg = furniture_finish(rng), _leg_finish(rng)
    wing = 0.55
    back = reach / 2
    parts = [
        box((width, depth, 0.03), (0, back - depth / 2, height - 0.03), top),
        box((wing, reach - depth, 0.03), (side * (width - wing) / 2, -depth / 2, height - 0.03), top),
        box((0.03, depth * 0.9, height - 0.03), (-side * (width / 2 - 0.03), back - depth / 2, 0), leg),
        box((wing, 0.03, height - 0.03), (side * (width - wing) / 2, -back + 0.03, 0), leg),
        box((width, 0.02, height * 0.6), (0, back - 0.05, 0.1), leg),
        _drawers(rng, height - 0.05, wing, top)
        .turned(-side * math.pi / 2)
        .moved((side * (width - wing) / 2, -back + 0.4, 0)),
    ]
    main = Top((-width / 2, back - depth), (width / 2, back), height)
    low_x, high_x = sorted((side * width / 2, side * (width / 2 - wing)))
    return piece("table", parts, [main, Top((low_x, -back), (high_x, back - depth), height)])


def round_table(rng: Generator) -> Piece:
    """A round top on a column or on three or four legs."""
    radius, height, thick = rng.uniform(0.35, 0.65), rng.uniform(*HEIGHT), rng.uniform(0.02, 0.04)
    top, leg = furniture_finish(rng), _leg_finish(rng)
    parts = [drum(radius, thick, (0, 0, height - thick), top), disc(radius, (0, 0, height - thick), top)]
    if rng.uniform() < 0.6:
        parts += [rod((0, 0, 0), (0, 0, height - thick), 0.04, leg), drum(radius * 0.6, 0.03, (0, 0, 0), leg, 0.8)]
    else:
        legs = rng.integers(3, 5)
        for angle in (math.tau * number / legs for number in range(legs)):
            foot = (radius * 0.75 * math.cos(angle), radius * 0.75 * math.sin(angle))
            parts.append(rod((*foot, 0), (foot[0] * 0.9, foot[1] * 0.9, height - thick), 0.022, leg))
    return piece("table", parts, [_top(radius * 1.3, radius * 1.3, height)])


def conference_table(rng: Generator, width: float = 0.0, depth: float = 0.0) -> Piece:
    """A long top on two or three panel feet."""
    width, depth = width or rng.uniform(2.2, 4.5), depth or rng.uniform(1.0, 1.4)
    height, thick = rng.uniform(*HEIGHT), rng.uniform(0.03, 0.06)
    top, foot = furniture_finish(rng), furniture_finish(rng)
    parts = [box((width, depth, thick), (0, 0, height - thick), top)]
    feet = 2 if width < 3 else 3
    for number in range(feet):
        x = (number / (feet - 1) - 0.5) * (width - 0.9)
        parts.append(box((rng.uniform(0.06, 0.4), depth * 0.55, height - thick), (x, 0, 0), foot))
    return piece("table", parts, [_top(width, depth, height)])


def low_table(rng: Generator) -> Piece:
    """A coffee table: a slab, or a top with a shelf below it."""
    width, depth, height = rng.uniform(0.5, 1.2), rng.uniform(0.45, 0.7), rng.uniform(0.32, 0.5)
    top, leg = furniture_finish(rng), _leg_finish(rng)
    parts = [box((width, depth, 0.03), (0, 0, height - 0.03), top)]
    parts += [
        box((0.04, 0.04, height - 0.03), (x * (width / 2 - 0.04), y * (depth / 2 - 0.04), 0), leg)
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    if rng.uniform() < 0.4:
        parts.append(box((width * 0.9, depth * 0.9, 0.02), (0, 0, height * 0.35), top))
    return piece("table", parts, [_top(width, depth, height)])


def side_table(rng: Generator) -> Piece:
    """A table next to a seat: a small round or square top on a column, legs, panels or a closed body."""
    side, height, thick = rng.uniform(0.32, 0.65), rng.uniform(0.35, 0.68), rng.uniform(0.015, 0.05)
    top, leg, form = furniture_finish(rng), _leg_finish(rng), rng.integers(4)
    round_top = rng.uniform() < 0.5
    if round_top:
        parts = [drum(side / 2, thick, (0, 0, height - thick), top), disc(side / 2, (0, 0, height - thick), top)]
    else:
        parts = [box((side, side, thick), (0, 0, height - thick), top)]
    reach = side / 2 * 0.65
    if form == 0:
        parts += [rod((0, 0, 0), (0, 0, height - thick), 0.03, leg), drum(reach, 0.025, (0, 0, 0), leg)]
    elif form == 1:
        feet = [(x * reach, y * reach) for x in (-1, 1) for y in (-1, 1)]
        parts += [rod((*foot, 0), (foot[0] * 0.9, foot[1] * 0.9, height - thick), 0.016, leg) for foot in feet]
    elif form == 2 and round_top:
        parts.append(drum(side * 0.48, height - thick, (0, 0, 0), top))
    elif form == 2:
        parts.append(box((side * 0.98, side * 0.98, height - thick), (0, 0, 0), top))
    else:
        parts += [box((0.02, side * 0.9, height - thick), (x * side * 0.45, 0, 0), top) for x in (-1, 1)]
        parts.append(box((side * 0.9, side * 0.9, 0.02), (0, 0, height * rng.uniform(0.2, 0.5)), top))
    return piece("table", parts, [_top(side * 0.7, side * 0.7, height)])


def rounded_table(rng: Generator, width: float = 0.0, depth: float = 0.0) -> Piece:
    """A top with round corners and edges, at dining or coffee height, on legs or a pedestal."""
    low = not width and rng.uniform() < 0.4
    width, depth = width or rng.uniform(0.7, 1.8), depth or rng.uniform(0.5, 1.0)
    height, thick = rng.uniform(0.32, 0.5) if low else rng.uniform(*HEIGHT), rng.uniform(0.03, 0.07)
    top, leg = furniture_finish(rng), _leg_finish(rng)
    parts = [cushion((width, depth, thick), (0, 0, height - thick), top, int(rng.choice([4, 6, 8])))]
    if rng.uniform() < 0.4:
        parts.append(box((width * 0.3, depth * 0.4, height - thick), (0, 0, 0), leg))
    else:
        corners = [(x * width * 0.38, y * depth * 0.36) for x in (-1, 1) for y in (-1, 1)]
        parts += [
            rod((*foot, 0), (foot[0] * 0.95, foot[1] * 0.95, height - thick), 0.025, leg, 1.3) for foot in corners
        ]
    return piece("table", parts, [_top(width * 0.8, depth * 0.8, height)])


def trestle_table(rng: Generator, width: float = 0.0, depth: float = 0.0) -> Piece:
    """A loose top on two trestles with slanted legs and a cross bar."""
    width, depth = width or rng.uniform(1.3, 2.0), depth or rng.uniform(0.65, 0.85)
    height, top, leg = rng.uniform(*HEIGHT), furniture_finish(rng), wood(rng)
    parts = [box((width, depth, 0.03), (0, 0, height - 0.03), top)]
    for x in (-width / 2 + 0.25, width / 2 - 0.25):
        for dx, y in ((-0.14, -1), (-0.14, 1), (0.14, -1), (0.14, 1)):
            parts.append(rod((x + dx, y * depth * 0.42, 0), (x, y * depth * 0.36, height - 0.03), 0.02, leg))
        parts += [
            box((0.05, depth * 0.8, 0.05), (x, 0, height - 0.08), leg),
            box((0.24, depth * 0.75, 0.02), (x, 0, 0.2), leg),
        ]
    return piece("table", parts, [_top(width, depth, height)])


def _top(width: float, depth: float, height: float) -> Top:
    return Top((-width / 2, -depth / 2), (width / 2, depth / 2), height)


def _leg_finish(rng: Generator) -> Material:
    return metal(rng) if rng.uniform() < 0.6 else wood(rng)


def _drawers(rng: Generator, height: float, depth: float, material: Material) -> Surfaces:
    """Build a pedestal with two to four slightly raised fronts and handles."""
    count, width = int(rng.integers(2, 5)), 0.42
    parts = [box((width, depth * 0.85, height - 0.04), (0, 0, 0.04), material)]
    each = (height - 0.06) / count
    handle = metal(rng)
    for number in range(count):
        bottom = 0.05 + number * each
        parts.append(box((width - 0.01, 0.02, each - 0.012), (0, -depth * 0.425 - 0.01, bottom), material))
        parts.append(box((0.12, 0.02, 0.012), (0, -depth * 0.425 - 0.03, bottom + each * 0.7), handle))
    return join(parts)
