"""Styles of doors: leaf and frame, closed, ajar, open or folded back against the wall."""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.random import Generator

from point2node.rooms.building.openings import Leaf, Opening, Surroundings, frame
from point2node.rooms.materials import Material, furniture_finish, glass, metal, paint, wood
from point2node.rooms.pieces import piece
from point2node.rooms.surfaces import Surfaces, box, join, quad, rod

LeafBuilder = Callable[[float, float], Surfaces]  # from the width and height, hinged at x = 0

RECESS = (-0.015, 0.1)  # metres: depth of a closed leaf in the wall; less than 0 stands out of it
# how often a leaf is closed, ajar, open or folded back against the wall, and its angles in radians
STATES = (0.5, 0.1, 0.3, 0.1)
ANGLES = ((0.0, 0.0), (0.08, 0.5), (0.5, 1.75), (1.75, 3.0))
OUTWARDS = 0.35  # share of the open leaves that open out of the room, by up to a right angle


def flush_door(rng: Generator, around: Surroundings) -> Opening:
    """A plain leaf."""
    finish = _finish(rng, around)
    return _hinged(rng, around, 1, lambda width, height: box((width, 0.04, height), (width / 2, 0, 0), finish))


def double_door(rng: Generator, around: Surroundings) -> Opening:
    """Two plain leaves."""
    finish = _finish(rng, around)
    return _hinged(rng, around, 2, lambda width, height: box((width, 0.04, height), (width / 2, 0, 0), finish))


def panel_door(rng: Generator, around: Surroundings) -> Opening:
    """A leaf with raised panels, as in homes."""
    finish, rows = _finish(rng, around), int(rng.integers(1, 4))

    def leaf(width: float, height: float) -> Surfaces:
        parts = [box((width, 0.035, height), (width / 2, 0, 0), finish)]
        each = (height - 0.25) / rows
        for row in range(rows):
            for x in (0.29, 0.71):
                size = (width * 0.3, 0.055, each - 0.12)
                parts.append(box(size, (width * x, 0, 0.18 + row * each), finish))
        return join(parts)

    return _hinged(rng, around, 1, leaf)


def vision_door(rng: Generator, around: Surroundings) -> Opening:
    """A leaf with a narrow pane next to the handle."""
    finish, pane = _finish(rng, around), glass(rng)
    return _hinged(rng, around, 1, lambda width, height: _glazed(width, height, (0.6, 0.85), (0.4, 0.9), finish, pane))


def glass_door(rng: Generator, around: Surroundings) -> Opening:
    """A glass leaf in a thin frame, single or double."""
    finish, pane = metal(rng), glass(rng)
    leaves = int(rng.integers(1, 3))
    return _hinged(
        rng, around, leaves, lambda width, height: _glazed(width, height, (0.08, 0.92), (0.06, 0.96), finish, pane)
    )


def half_glazed_door(rng: Generator, around: Surroundings) -> Opening:
    """A leaf with a large pane above and two raised panels below."""
    finish, pane = _finish(rng, around), glass(rng)

    def leaf(width: float, height: float) -> Surfaces:
        panels = [box((width * 0.32, 0.06, height * 0.3), (width * x, 0, height * 0.08), finish) for x in (0.3, 0.7)]
        return join([_glazed(width, height, (0.18, 0.82), (0.5, 0.92), finish, pane), *panels])

    return _hinged(rng, around, 1, leaf)


def sliding_door(rng: Generator, around: Surroundings) -> Opening:
    """Two or three flat leaves one behind the other, as in closets; sometimes mirrors."""
    leaves, finish = int(rng.integers(2, 4)), _finish(rng, around)
    each, height = min(rng.uniform(0.55, 0.95), (around.length - 0.5) / leaves), _height(rng, around)
    width, y = leaves * each, rng.uniform(0.0, 0.05)
    parts = [frame(width + 0.06, height + 0.03, 0.03, 0.12, 0.05, finish, sill=False)]
    shifts = [-rng.uniform(0, 0.9) * each if number and rng.uniform() < 0.3 else 0.0 for number in range(leaves)]
    for number, shift in enumerate(shifts):
        x = (number + 0.5) * each - width / 2 + shift
        parts.append(box((each + 0.02, 0.025, height), (x, y + 0.035 * (number % 2), 0), finish))
    return Opening(width + 0.06, height + 0.03, piece("door", parts), clearance=0.6)


def bare_frame(rng: Generator, around: Surroundings) -> Opening:
    """A frame without a leaf."""
    width, height, edge = rng.uniform(0.75, 1.6), _height(rng, around), rng.uniform(0.04, 0.12)
    posts = frame(width, height, edge, rng.uniform(0.12, 0.2), 0.06, _finish(rng, around), sill=False)
    return Opening(width, height, piece("door", [posts]), clearance=0.8)


def _finish(rng: Generator, around: Surroundings) -> Material:
    """Return the finish of the wall, or a different one."""
    if rng.uniform() < 0.35:
        return around.finish
    return (wood, wood, paint, paint, furniture_finish)[rng.integers(5)](rng)


def _height(rng: Generator, around: Surroundings) -> float:
    return float(min(rng.uniform(1.95, 2.35), around.height - 0.2))


def _hinged(rng: Generator, around: Surroundings, leaves: int, build_leaf: LeafBuilder) -> Opening:
    """Build one or two leaves in a frame, sometimes with a panel above them or a pane next to them."""
    each, height = rng.uniform(0.7, 1.05), _height(rng, around)
    edge = 0.012 if rng.uniform() < 0.15 else rng.uniform(0.03, 0.12)
    deep, proud = rng.uniform(0.08, 0.2), rng.uniform(0.0, 0.025)
    trim = _finish(rng, around)
    width = leaves * each + 2 * edge
    recess, clearance, side_clearance = rng.uniform(*RECESS), 0.8, 0.0
    parts = [frame(width, height + edge, edge, deep, deep / 2 - proud, trim, sill=False)]
    first, hung = int(rng.choice([-1, 1])), []
    for number in range(leaves):
        side = first if number == 0 else -first
        leaf = join([build_leaf(each, height), _handles(each, metal(rng))])
        if side == 1:  # hinged at the other post
            leaf = leaf.turned(math.pi)
        angle = _angle(rng)
        hung.append(Leaf("right" if side == 1 else "left", angle))
        if angle > 0:
            clearance, side_clearance = 1.1, max(side_clearance, each if angle > ANGLES[-1][0] else 0.0)
        y = recess if abs(angle) < 0.5 else (-0.03 if angle > 0 else 0.1)
        parts.append(leaf.turned(side * angle).moved((side * each * leaves / 2, y, 0.01)))
    total, tall = width, height + edge
    space = around.height - 0.1 - tall
    if space > 0.15 and rng.uniform() < 0.18:  # a panel or a pane above the door
        above = space if rng.uniform() < 0.6 else min(space, rng.uniform(0.2, 0.6))
        fill = glass(rng) if rng.uniform() < 0.4 else trim
        parts.append(box((width, 0.04, above), (0, recess + 0.02, tall), fill))
        tall += above
    if rng.uniform() < 0.08:  # a pane next to it
        extra = rng.uniform(0.25, 0.6)
        parts.append(box((extra, 0.03, tall), (width / 2 + extra / 2, recess + 0.02, 0), glass(rng)))
        parts.append(box((0.05, deep, tall), (width / 2 + extra - 0.025, deep / 2 - proud, 0), trim))
        parts, total = [join(parts).moved((-extra / 2, 0, 0))], width + extra
    return Opening(
        total, tall, piece("door", parts), clearance=clearance, side_clearance=side_clearance, leaves=tuple(hung)
    )


def _angle(rng: Generator) -> float:
    """Draw the angle by which a leaf is open, in radians; less than 0 opens out of the room."""
    angle = float(rng.uniform(*ANGLES[rng.choice(len(STATES), p=STATES)]))
    return -min(angle, 1.6) if rng.uniform() < OUTWARDS else angle


def _glazed(
    width: float, height: float, across: tuple[float, float], up: tuple[float, float], finish: Material, pane: Material
) -> Surfaces:
    """Build a leaf with a pane between the given shares of its width and height."""
    left, right, bottom, top = across[0] * width, across[1] * width, up[0] * height, up[1] * height
    return join(
        [
            box((left, 0.04, height), (left / 2, 0, 0), finish),
            box((width - right, 0.04, height), ((width + right) / 2, 0, 0), finish),
            box((right - left, 0.04, bottom), ((left + right) / 2, 0, 0), finish),
            box((right - left, 0.04, height - top), ((left + right) / 2, 0, top), finish),
            quad((left, 0, bottom), (right - left, 0, 0), (0, 0, top - bottom), pane),
        ]
    )


def _handles(width: float, metal_: Material) -> Surfaces:
    """Build a lever on each side."""
    x, z = width - 0.07, 1.03
    levers = [rod((x, y, z), (x - 0.12, y, z), 0.01, metal_) for y in (-0.07, 0.07)]
    return join([rod((x, -0.07, z), (x, 0.07, z), 0.012, metal_), *levers])
