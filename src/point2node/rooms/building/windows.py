"""Styles of windows: frame, panes that return rays in patches, sill and blind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from point2node.rooms.building.openings import Opening, Surroundings, frame
from point2node.rooms.materials import Material, fabric, glass, metal, paint, stone, wood
from point2node.rooms.pieces import piece
from point2node.rooms.surfaces import Surfaces, box, join, quad

# how often panes return rays everywhere, and in patches; the others return few
FILLED, PATCHY = 0.45, 0.3
PATCH = (0.25, 0.7)  # metres
WAVY, LARGEST_WAVE = 0.4, 0.05  # share of the panes that a depth camera sees bent, and by how many metres at most


def casement(rng: Generator, around: Surroundings) -> Opening:
    """One to three sashes above a parapet."""
    sill = rng.uniform(0.75, 1.1)
    return _window(rng, around, rng.uniform(0.8, 2.4), rng.uniform(1.1, 1.8), sill, rows=1)


def ribbon(rng: Generator, around: Surroundings) -> Opening:
    """A long row of panes, as in office buildings."""
    sill = rng.uniform(0.75, 1.3)
    return _window(rng, around, rng.uniform(2.0, 4.5), rng.uniform(0.7, 1.6), sill, rows=1)


def full_height(rng: Generator, around: Surroundings) -> Opening:
    """Glass from near the floor to near the ceiling."""
    return _window(
        rng, around, rng.uniform(0.9, 3.6), around.height, rng.uniform(0.02, 0.35), rows=int(rng.integers(1, 3))
    )


def whole_wall(rng: Generator, around: Surroundings) -> Opening:
    """Panes from one end of the wall to the other, above a parapet or from the floor."""
    sill = rng.uniform(0.02, 0.2) if rng.uniform() < 0.35 else rng.uniform(0.6, 1.0)
    return _window(
        rng, around, around.length * rng.uniform(0.7, 0.96), around.height, sill, rows=int(rng.integers(1, 4))
    )


def muntin(rng: Generator, around: Surroundings) -> Opening:
    """Small panes between glazing bars."""
    return _window(
        rng,
        around,
        rng.uniform(0.9, 1.8),
        rng.uniform(1.2, 1.9),
        rng.uniform(0.6, 1.0),
        rows=int(rng.integers(3, 5)),
        pane_width=0.35,
    )


def _window(
    rng: Generator, around: Surroundings, width: float, height: float, bottom: float, rows: int, pane_width: float = 0.0
) -> Opening:
    """Build recessed panes in a grid of bars, as large as the wall allows; sometimes with a blind."""
    width = min(width, around.length - 0.25)
    height = min(height, around.height - bottom - rng.uniform(0.1, 0.3))
    finish, recess = _finish(rng, around), rng.uniform(0.02, 0.2)
    edge = rng.uniform(0.03, 0.09)
    columns = max(1, round(width / (pane_width or rng.uniform(0.6, 1.3))))
    parts = [frame(width, height, edge, 0.06, recess, finish, sill=True)]
    for column in range(1, columns):
        parts.append(box((edge * 0.8, 0.05, height), (column * width / columns - width / 2, recess, 0), finish))
    for row in range(1, rows):
        parts.append(box((width, 0.05, edge * 0.8), (0, recess, row * height / rows), finish))
    parts.append(_panes(rng, width, height, recess))
    if rng.uniform() < 0.6:
        reach = rng.uniform(0.02, 0.3)
        ledge = around.finish if rng.uniform() < 0.3 else (stone, wood, paint)[rng.integers(3)](rng)
        parts.append(box((width + 0.06, recess + reach, 0.03), (0, (recess - reach) / 2, -0.03), ledge))
    if rng.uniform() < 0.5:
        parts.append(_blind(rng, width, height, recess))
    return Opening(width, height, piece("window", parts), bottom)


def _finish(rng: Generator, around: Surroundings) -> Material:
    return around.finish if rng.uniform() < 0.15 else (metal, paint, paint, wood)[rng.integers(4)](rng)


def _panes(rng: Generator, width: float, height: float, recess: float) -> Surfaces:
    """Build glass that returns rays everywhere, in patches or rarely; some are bent, as depth cameras see them."""
    answer, pane = rng.uniform(), glass(rng)
    wave = rng.uniform(0, LARGEST_WAVE) if rng.uniform() < WAVY else 0.0
    columns, rows = (max(1, round(side / rng.uniform(*PATCH))) for side in (width, height))
    dx, dz = width / columns, height / rows
    if not wave and not FILLED <= answer < FILLED + PATCHY:
        columns, rows, dx, dz = 1, 1, width, height
    parts = []
    for column in range(columns):
        for row in range(rows):
            one = pane
            if answer < FILLED:
                one = replace(pane, transmission=0.0, absorption=rng.uniform(0, 0.1))
            elif answer < FILLED + PATCHY:
                one = replace(pane, transmission=0.0, absorption=float(rng.choice([0.0, 0.1, 0.6, 1.0])))
            y = recess + rng.normal(0, wave)
            tilt = rng.normal(0, wave, 2)
            corner = (column * dx - width / 2, y, row * dz)
            parts.append(quad(corner, (dx, tilt[0], 0), (0, tilt[1], dz), one))
    return join(parts)


def _blind(rng: Generator, width: float, height: float, recess: float) -> Surfaces:
    """Build a roller blind that is partly down, horizontal slats, or vertical ones."""
    drop, y = height * rng.uniform(0.15, 1.0), recess - 0.045
    form = rng.integers(3)
    if form == 0:
        return box((width * 0.97, 0.01, drop), (0, y, height - drop), fabric(rng))
    finish = metal(rng) if rng.uniform() < 0.5 else paint(rng)
    head = box((width * 0.97, 0.05, 0.04), (0, y, height - 0.04), finish)
    if form == 1:
        slat = box((width * 0.97, 0.045, 0.003), (0, 0, 0), finish).turned(0.6, "x")
        heights = height - 0.03 - 0.05 * np.arange(1 + int(drop / 0.05))
        return join([head, slat.copied([(0, y, z) for z in heights])])
    slat = box((0.09, 0.003, height * 0.95), (0, 0, 0), finish).turned(rng.uniform(0.1, 1.2))
    covered = width * rng.uniform(0.3, 0.97)
    places = np.arange(0.05, covered, 0.085) - width / 2
    return join([head, slat.copied([(x, y, height * 0.03) for x in places])])
