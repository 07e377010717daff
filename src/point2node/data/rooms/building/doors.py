"""Doors in their styles: leaf and frame, closed or open at an angle."""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.random import Generator

from point2node.data.rooms.building.openings import Opening, frame
from point2node.data.rooms.materials import Material, furniture_finish, glass, metal, paint, wood
from point2node.data.rooms.pieces import piece
from point2node.data.rooms.surfaces import Surfaces, box, join, quad, rod

Leaf = Callable[[float, float], Surfaces]  # from the width and height, hinged at x = 0

RECESS = 0.06  # metres: how deep a closed leaf sits in the wall


def flush_door(rng: Generator) -> Opening:
    """A plain leaf."""
    return _hinged(rng, 1, lambda width, height: box((width, 0.04, height), (width / 2, 0, 0), _finish(rng)))


def double_door(rng: Generator) -> Opening:
    """Two plain leaves."""
    finish = _finish(rng)
    return _hinged(rng, 2, lambda width, height: box((width, 0.04, height), (width / 2, 0, 0), finish))


def vision_door(rng: Generator) -> Opening:
    """A leaf with a narrow pane beside the handle."""
    finish, pane = _finish(rng), glass(rng)
    return _hinged(rng, 1, lambda width, height: _glazed(width, height, (0.6, 0.85), (0.4, 0.9), finish, pane))


def glass_door(rng: Generator) -> Opening:
    """A glass leaf in a thin frame, single or double."""
    finish, pane = metal(rng), glass(rng)
    leaves = int(rng.integers(1, 3))
    return _hinged(rng, leaves, lambda width, height: _glazed(width, height, (0.08, 0.92), (0.06, 0.96), finish, pane))


def half_glazed_door(rng: Generator) -> Opening:
    """A leaf with a large pane above and two raised panels below."""
    finish, pane = _finish(rng), glass(rng)

    def leaf(width: float, height: float) -> Surfaces:
        panels = [box((width * 0.32, 0.06, height * 0.3), (width * x, 0, height * 0.08), finish) for x in (0.3, 0.7)]
        return join([_glazed(width, height, (0.18, 0.82), (0.5, 0.92), finish, pane), *panels])

    return _hinged(rng, 1, leaf)


def _finish(rng: Generator) -> Material:
    return (wood, wood, paint, furniture_finish)[rng.integers(4)](rng)


def _hinged(rng: Generator, leaves: int, build_leaf: Leaf) -> Opening:
    """One or two leaves in a frame; each closed, or open into the room or out of it."""
    each, height, edge = rng.uniform(0.72, 1.0), rng.uniform(1.98, 2.3), rng.uniform(0.03, 0.09)
    parts = [frame(leaves * each + 2 * edge, height + edge, edge, 0.14, 0.045, _finish(rng), sill=False)]
    clearance, first = 0.8, int(rng.choice([-1, 1]))
    for number in range(leaves):
        side = first if number == 0 else -first
        leaf = join([build_leaf(each, height), _handles(each, metal(rng))])
        if side == 1:  # hinged at the other post
            leaf = leaf.turned(math.pi)
        angle, y = 0.0, RECESS
        if rng.uniform() < 0.45:
            angle = rng.uniform(0.3, 1.9) if rng.uniform() < 0.6 else -rng.uniform(0.3, 1.6)
            y = -0.03 if angle > 0 else 0.1
            clearance = 1.1 if angle > 0 else clearance
        hinge = side * each * leaves / 2
        parts.append(leaf.turned(side * angle).moved((hinge, y, 0.01)))
    return Opening(leaves * each + 2 * edge, height + edge, piece("door", parts), clearance=clearance)


def _glazed(
    width: float, height: float, across: tuple[float, float], up: tuple[float, float], finish: Material, pane: Material
) -> Surfaces:
    """A leaf with a pane between the given shares of its width and height."""
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
    """A lever on either side."""
    x, z = width - 0.07, 1.03
    levers = [rod((x, y, z), (x - 0.12, y, z), 0.01, metal_) for y in (-0.07, 0.07)]
    return join([rod((x, -0.07, z), (x, 0.07, z), 0.012, metal_), *levers])
