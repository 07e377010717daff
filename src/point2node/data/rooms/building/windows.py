"""Windows in their styles: frame, panes that let most rays through, and sill."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from point2node.data.rooms.building.openings import Opening, frame
from point2node.data.rooms.materials import Material, fabric, glass, metal, paint, stone, wood
from point2node.data.rooms.pieces import piece
from point2node.data.rooms.surfaces import Surfaces, box, join, quad


def casement(rng: Generator, room_height: float) -> Opening:
    """One to three sashes above a parapet."""
    sill = rng.uniform(0.8, 1.1)
    return _window(rng, rng.uniform(1.0, 2.6), min(rng.uniform(1.1, 1.7), room_height - sill - 0.25), sill, rows=1)


def ribbon(rng: Generator, room_height: float) -> Opening:
    """A long row of panes, as office fronts have."""
    sill = rng.uniform(0.75, 1.3)
    return _window(rng, rng.uniform(2.2, 4.5), min(rng.uniform(0.7, 1.6), room_height - sill - 0.2), sill, rows=1)


def full_height(rng: Generator, room_height: float) -> Opening:
    """Glass from near the floor to near the ceiling."""
    sill = rng.uniform(0.02, 0.35)
    return _window(
        rng, rng.uniform(1.0, 3.6), room_height - sill - rng.uniform(0.1, 0.4), sill, rows=int(rng.integers(1, 3))
    )


def muntin(rng: Generator, room_height: float) -> Opening:
    """Small panes between glazing bars."""
    sill = rng.uniform(0.6, 1.0)
    height = min(rng.uniform(1.2, 1.9), room_height - sill - 0.2)
    return _window(rng, rng.uniform(0.9, 1.8), height, sill, rows=int(rng.integers(3, 5)), pane_width=0.35)


def _window(rng: Generator, width: float, height: float, bottom: float, rows: int, pane_width: float = 0.0) -> Opening:
    """Panes in a grid of bars, recessed; at times a blind behind them that returns rays."""
    finish, pane, recess = _finish(rng), glass(rng), rng.uniform(0.04, 0.2)
    edge = rng.uniform(0.04, 0.08)
    columns = max(1, round(width / (pane_width or rng.uniform(0.6, 1.1))))
    parts = [frame(width, height, edge, 0.06, recess, finish, sill=True)]
    for column in range(1, columns):
        parts.append(box((edge * 0.8, 0.05, height), (column * width / columns - width / 2, recess, 0), finish))
    for row in range(1, rows):
        parts.append(box((width, 0.05, edge * 0.8), (0, recess, row * height / rows), finish))
    parts.append(quad((-width / 2, recess, 0), (width, 0, 0), (0, 0, height), pane))
    if rng.uniform() < 0.6:
        reach = rng.uniform(0.02, 0.2)
        ledge = (stone, wood, paint)[rng.integers(3)](rng)
        parts.append(box((width + 0.06, recess + reach, 0.03), (0, (recess - reach) / 2, -0.03), ledge))
    if rng.uniform() < 0.55:
        parts.append(_blind(rng, width, height, recess))
    return Opening(width, height, piece("window", parts), bottom)


def _finish(rng: Generator) -> Material:
    return (metal, paint, wood)[rng.integers(3)](rng)


def _blind(rng: Generator, width: float, height: float, recess: float) -> Surfaces:
    """A roller blind drawn some way down, or slats."""
    drop, y = height * rng.uniform(0.15, 1.0), recess - 0.045
    if rng.uniform() < 0.5:
        return box((width * 0.97, 0.01, drop), (0, y, height - drop), fabric(rng))
    finish = metal(rng)
    slat = box((width * 0.97, 0.045, 0.003), (0, 0, 0), finish).turned(0.6, "x")
    heights = height - 0.03 - 0.05 * np.arange(1 + int(drop / 0.05))
    slats = slat.copied([(0, y, z) for z in heights])
    return join([box((width * 0.97, 0.05, 0.04), (0, y, height - 0.04), finish), slats])
