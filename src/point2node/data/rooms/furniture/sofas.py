"""Sofas and upholstered armchairs in their styles; the sitter looks to -y."""

from __future__ import annotations

from numpy.random import Generator

from point2node.data.rooms.materials import Material, fabric, leather, metal, wood
from point2node.data.rooms.pieces import Piece, piece
from point2node.data.rooms.surfaces import Surfaces, ball, box, join, rod


def boxy(rng: Generator) -> Piece:
    """One to three seats between straight arms, loose cushions at the back."""
    return piece("sofa", [_body(rng, int(rng.integers(1, 4)), _cover(rng))])


def armless(rng: Generator) -> Piece:
    """A bench for waiting rooms: seat and back without arms, on feet."""
    seats = int(rng.integers(1, 4))
    width, cover, foot = seats * rng.uniform(0.55, 0.7), _cover(rng), metal(rng)
    seat, back = rng.uniform(0.38, 0.45), rng.uniform(0.32, 0.45)
    parts = [box((width, 0.7, 0.18), (0, 0, seat - 0.18), cover)]
    parts.append(box((width, 0.14, back), (0, 0, 0), cover).turned(-0.12, "x").moved((0, 0.3, seat)))
    parts += [
        rod((x * (width / 2 - 0.08), y * 0.28, 0), (x * (width / 2 - 0.08), y * 0.28, seat - 0.18), 0.02, foot)
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    return piece("sofa", parts)


def l_shaped(rng: Generator) -> Piece:
    """Two or three seats with a chaise along one side."""
    cover, seats, side = _cover(rng), int(rng.integers(2, 4)), rng.choice([-1, 1])
    body = _body(rng, seats, cover)
    low, high = body.bounds()
    wing_depth, wing_width = rng.uniform(0.7, 1.0), rng.uniform(0.7, 0.85)
    wing = box(
        (wing_width, wing_depth, 0.42), (side * (high[0] - wing_width / 2), low[1] - wing_depth / 2, 0.02), cover
    )
    return piece("sofa", [join([body, wing]).moved((0, wing_depth / 2, 0))])


def rolled_arm(rng: Generator) -> Piece:
    """Round arms and bulging cushions on turned feet."""
    seats, cover, foot = int(rng.integers(1, 4)), _cover(rng), wood(rng)
    inner, depth, seat = seats * rng.uniform(0.55, 0.65), rng.uniform(0.8, 0.95), rng.uniform(0.4, 0.46)
    parts = [box((inner + 0.4, depth, seat - 0.2), (0, 0, 0.1), cover)]
    for side in (-1, 1):
        arm = side * (inner / 2 + 0.14)
        parts += [
            box((0.16, depth, 0.4), (arm, 0, 0.15), cover),
            rod((arm, -depth / 2, 0.6), (arm, depth / 2, 0.6), 0.14, cover),
            ball((0.14, 0.04, 0.14), (arm, -depth / 2, 0.6), cover),
        ]
        parts += [rod((arm, y * depth * 0.42, 0), (arm, y * depth * 0.42, 0.12), 0.03, foot) for y in (-1, 1)]
    parts.append(rod((-inner / 2, depth * 0.38, 0.75), (inner / 2, depth * 0.38, 0.75), 0.13, cover))
    parts.append(box((inner, 0.2, 0.4), (0, depth * 0.38, 0.35), cover))
    for number in range(seats):
        x = (number + 0.5) * inner / seats - inner / 2
        parts.append(ball((inner / seats / 2, depth * 0.42, 0.14), (x, -0.05, seat - 0.06), cover))
    return piece("sofa", parts)


def _cover(rng: Generator) -> Material:
    return fabric(rng) if rng.uniform() < 0.6 else leather(rng)


def _body(rng: Generator, seats: int, cover: Material) -> Surfaces:
    """Base, back and arms with seat and back cushions."""
    each, depth, arm = rng.uniform(0.55, 0.72), rng.uniform(0.75, 0.95), rng.uniform(0.1, 0.24)
    seat, back = rng.uniform(0.38, 0.46), rng.uniform(0.68, 0.88)
    inner = seats * each
    parts = [
        box((inner + 2 * arm, depth, seat - 0.2), (0, 0, 0.06), cover),
        box((inner + 2 * arm, 0.18, back - 0.06), (0, depth / 2 - 0.09, 0.06), cover),
    ]
    parts += [box((arm, depth, rng.uniform(0.5, 0.62)), (x * (inner + arm) / 2, 0, 0.06), cover) for x in (-1, 1)]
    for number in range(seats):
        x = (number + 0.5) * each - inner / 2
        parts.append(box((each - 0.01, depth - 0.2, 0.16), (x, -0.09, seat - 0.16), cover))
        cushion = box((each - 0.03, 0.14, back - seat + rng.uniform(-0.05, 0.08)), (0, 0, 0), cover)
        parts.append(cushion.turned(-rng.uniform(0.1, 0.3), "x").moved((x, depth / 2 - 0.3, seat)))
    if rng.uniform() < 0.4:  # a loose pillow
        pillow = ball((0.22, 0.08, 0.2), (0, 0, 0), fabric(rng)).turned(-0.4, "x")
        parts.append(pillow.turned(rng.uniform(-0.3, 0.3)).moved((rng.uniform(-inner, inner) / 2.5, 0.05, seat + 0.2)))
    return join(parts)
