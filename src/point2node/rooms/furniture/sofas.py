"""Sofas and upholstered armchairs in their styles; the sitter looks to -y."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from point2node.rooms.materials import Material, fabric, leather, metal, wood
from point2node.rooms.pieces import Piece, piece
from point2node.rooms.surfaces import Point, Surfaces, ball, box, cushion, join, rod

Range = tuple[float, float]
SEATS, SEATS_SHARES = (1, 2, 3, 4), (0.25, 0.35, 0.33, 0.07)


@dataclass(frozen=True)
class Build:
    """The dimensions of one kind of sofa in metres, and how often its parts have sharp edges."""

    each: Range
    depth: Range
    arm: Range
    arm_height: Range
    seat: Range
    back: Range
    hard: float
    feet: float
    """Probability of feet; without feet, the base reaches the floor."""


BUILDS = {
    "boxy": Build((0.52, 0.72), (0.72, 0.95), (0.08, 0.24), (0.5, 0.65), (0.36, 0.46), (0.66, 0.9), 0.5, 0.5),
    "soft": Build((0.55, 0.8), (0.8, 1.05), (0.16, 0.32), (0.52, 0.68), (0.38, 0.5), (0.72, 1.0), 0.0, 0.3),
    "low": Build((0.6, 0.85), (0.8, 1.0), (0.1, 0.3), (0.38, 0.5), (0.3, 0.4), (0.55, 0.7), 0.25, 0.4),
}


def boxy(rng: Generator) -> Piece:
    """Straight arms, loose cushions at the back."""
    return piece("sofa", [_body(rng, BUILDS["boxy"], _seats(rng), _cover(rng))])


def soft(rng: Generator) -> Piece:
    """Thick round arms, bulging seats and back."""
    return piece("sofa", [_body(rng, BUILDS["soft"], _seats(rng), _cover(rng))])


def low(rng: Generator) -> Piece:
    """Low and wide, with arms lower than the back."""
    return piece("sofa", [_body(rng, BUILDS["low"], _seats(rng), _cover(rng))])


def armless(rng: Generator) -> Piece:
    """A bench for waiting rooms: seat and back without arms, on feet."""
    seats = int(rng.integers(1, 4))
    width, depth, cover, foot = seats * rng.uniform(0.55, 0.7), rng.uniform(0.6, 0.85), _cover(rng), metal(rng)
    seat, back, thick = rng.uniform(0.38, 0.46), rng.uniform(0.32, 0.5), rng.uniform(0.12, 0.22)
    parts = [pad(rng, (width, depth, thick), (0, 0, seat - thick), cover, hard=0.3)]
    if rng.uniform() < 0.85:
        upright = pad(rng, (width, 0.15, back), (0, 0, -0.05), cover, hard=0.3).turned(-rng.uniform(0.05, 0.25), "x")
        parts.append(upright.moved((0, depth / 2 - 0.08, seat)))
    parts += _feet(width, depth, seat - thick, foot)
    return piece("sofa", parts)


def l_shaped(rng: Generator) -> Piece:
    """Two or three seats with a chaise along one side."""
    cover, seats, side = _cover(rng), int(rng.integers(2, 4)), rng.choice([-1, 1])
    build = BUILDS[str(rng.choice(list(BUILDS)))]
    body = _body(rng, build, seats, cover)
    low_corner, high_corner = body.bounds()
    wing_depth, wing_width = rng.uniform(0.6, 1.0), rng.uniform(0.7, 0.95)
    at = (side * (high_corner[0] - wing_width / 2), low_corner[1] - wing_depth / 2 + 0.05, 0.02)
    wing = pad(rng, (wing_width, wing_depth + 0.1, rng.uniform(0.36, 0.46)), at, cover, hard=0.3)
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


def _seats(rng: Generator) -> int:
    return int(rng.choice(SEATS, p=SEATS_SHARES))


def _cover(rng: Generator) -> Material:
    return fabric(rng) if rng.uniform() < 0.6 else leather(rng)


def _feet(width: float, depth: float, height: float, material: Material) -> list[Surfaces]:
    corners = [(x * (width / 2 - 0.08), y * (depth / 2 - 0.08)) for x in (-1, 1) for y in (-1, 1)]
    return [rod((*corner, 0), (*corner, height), 0.02, material) for corner in corners]


def _body(rng: Generator, build: Build, seats: int, cover: Material) -> Surfaces:
    """Build base, back and arms with seat and back cushions, pillows and sometimes a blanket."""
    each, depth, arm = rng.uniform(*build.each), rng.uniform(*build.depth), rng.uniform(*build.arm)
    seat, back, arms_up = rng.uniform(*build.seat), rng.uniform(*build.back), rng.uniform(*build.arm_height)
    inner, hard = seats * each, build.hard
    bottom = rng.uniform(0.06, 0.16) if rng.uniform() < build.feet else 0.02
    thick = rng.uniform(0.12, 0.2)
    base = box((inner + 1.6 * arm, depth - 0.06, seat - thick - bottom), (0, 0.01, bottom), cover)
    lean = rng.uniform(0.0, 0.15)
    upright = pad(rng, (inner + 2 * arm, 0.2, back - bottom), (0, 0, 0), cover, hard).turned(-lean, "x")
    parts = [base, upright.moved((0, depth / 2 - 0.11 - lean * (back - bottom) / 2, bottom))]
    size = (arm, depth, arms_up - bottom)
    parts += [pad(rng, size, (x * (inner + arm) / 2, 0, bottom), cover, hard) for x in (-1, 1)]
    if bottom > 0.05:
        parts += _feet(inner + 2 * arm, depth, bottom, wood(rng))
    split = rng.uniform() < 0.8 or seats == 1  # one long seat, or a cushion each
    count = seats if split else 1
    wide = inner / count
    for number in range(count):
        x = (number + 0.5) * wide - inner / 2
        parts.append(pad(rng, (wide - 0.01, depth - 0.18, thick + 0.02), (x, -0.08, seat - thick), cover, hard))
        tall = max(0.2, back - seat + rng.uniform(-0.08, 0.1))
        loose = pad(rng, (wide - 0.02, rng.uniform(0.12, 0.22), tall), (0, 0, 0), cover, hard)
        parts.append(loose.turned(-rng.uniform(0.1, 0.35), "x").moved((x, depth / 2 - 0.32, seat)))
    for _ in range(rng.integers(0, 3) if rng.uniform() < 0.5 else 0):
        pillow = cushion((0.42, rng.uniform(0.12, 0.18), 0.4), (0, 0, 0), fabric(rng)).turned(
            -rng.uniform(0.2, 0.7), "x"
        )
        place = (rng.uniform(-inner, inner) / 2.5, rng.uniform(-0.05, 0.08), seat - 0.02)
        parts.append(pillow.turned(rng.uniform(-0.5, 0.5)).moved(place))
    if rng.uniform() < 0.12:  # a blanket or clothes over an arm
        parts.append(
            cushion((arm + 0.08, depth * 0.5, arms_up * 0.7), (-(inner + arm) / 2, 0, arms_up * 0.4), fabric(rng), 6)
        )
    return join(parts)


SOFTNESS = (4, 6, 8, 10)  # exponents of cushions


def pad(rng: Generator, size: Point, at: Point, cover: Material, hard: float = 0.25) -> Surfaces:
    """Build a slab with sharp edges, with probability ``hard``, or round ones; ``at`` is the centre of its bottom."""
    if rng.uniform() < hard:
        return box(size, at, cover)
    return cushion(size, at, cover, int(rng.choice(SOFTNESS)))
