"""Clutter on walls (back at y = 0, bottom at z = 0)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from point2node.data.rooms.materials import Material, fabric, furniture_finish, metal, paper, plastic
from point2node.data.rooms.pieces import Piece, piece
from point2node.data.rooms.surfaces import ball, box, drum, quad, rod


def picture(rng: Generator) -> Piece:
    """A framed picture or a bare poster."""
    width, height = rng.uniform(0.25, 1.2), rng.uniform(0.25, 1.0)
    parts = [box((width, 0.01, height), (0, -0.005, 0), paper(rng))]
    if rng.uniform() < 0.6:
        frame = furniture_finish(rng)
        parts += [box((width, 0.025, 0.03), (0, -0.0125, z), frame) for z in (0, height - 0.03)]
        parts += [box((0.03, 0.025, height), (x * (width / 2 - 0.015), -0.0125, 0), frame) for x in (-1, 1)]
    return piece("clutter", parts)


def radiator(rng: Generator) -> Piece:
    """A ribbed or flat radiator above the floor."""
    width, height, material = rng.uniform(0.6, 1.8), rng.uniform(0.4, 0.65), metal(rng)
    if rng.uniform() < 0.5:
        rib = box((0.05, 0.1, height), (0.04 - width / 2, -0.09, 0), material)
        return piece("clutter", [rib.copied([(x, 0, 0) for x in np.arange(0, width, 0.08)])])
    return piece(
        "clutter",
        [
            box((width, 0.07, height), (0, -0.075, 0), material),
            rod((width / 2, -0.08, 0.05), (width / 2, -0.08, -0.12), 0.012, material),
        ],
    )


def television(rng: Generator) -> Piece:
    """A television or a display on a bracket."""
    width = rng.uniform(0.8, 1.6)
    body = plastic(rng)
    return piece(
        "clutter", [box((width, 0.05, width * 0.57), (0, -0.1, 0), body), box((0.3, 0.08, 0.3), (0, -0.04, 0.1), body)]
    )


def switch(rng: Generator) -> Piece:
    """A switch, a socket, a thermostat or a sign."""
    size = rng.uniform(0.07, 0.22)
    return piece("clutter", [box((size, 0.02, rng.uniform(0.8, 1.6) * size), (0, -0.01, 0), plastic(rng))])


def clock(rng: Generator) -> Piece:
    """A round clock."""
    dial = drum(rng.uniform(0.12, 0.2), 0.04, (0, 0, 0), plastic(rng)).turned(np.pi / 2, "x")
    return piece("clutter", [dial.moved((0, 0, 0.2))])


def extinguisher(rng: Generator) -> Piece:
    """A fire extinguisher on a bracket."""
    red = Material((rng.uniform(0.5, 0.9), 0.1, 0.1))
    return piece(
        "clutter",
        [
            drum(0.08, 0.45, (0, -0.1, 0), red),
            drum(0.03, 0.1, (0, -0.1, 0.45), metal(rng)),
            rod((0.03, -0.1, 0.5), (0.12, -0.1, 0.15), 0.012, plastic(rng)),
        ],
    )


def coats(rng: Generator) -> Piece:
    """Hooks with coats and bags."""
    width = rng.uniform(0.5, 1.2)
    parts = [box((width, 0.03, 0.1), (0, -0.015, 0.9), furniture_finish(rng))]
    for x in np.arange(-width / 2 + 0.12, width / 2, 0.22):
        if rng.uniform() < 0.6:
            parts.append(ball((0.13, 0.1, rng.uniform(0.3, 0.48)), (x, -0.11, 0.48), fabric(rng)))
    return piece("clutter", parts)


def curtain(rng: Generator, height: float = 2.2) -> Piece:
    """Cloth in folds."""
    width, material = rng.uniform(0.3, 0.9), fabric(rng)
    folds = max(4, round(width / 0.08))
    x = np.linspace(-width / 2, width / 2, folds + 1)
    y = -0.06 - 0.05 * (np.arange(folds + 1) % 2) * rng.uniform(0.6, 1.0, folds + 1)
    parts = [
        quad((x[n], y[n], 0), (x[n + 1] - x[n], y[n + 1] - y[n], 0), (0, 0, height), material) for n in range(folds)
    ]
    return piece(
        "clutter", [*parts, rod((-width / 2 - 0.1, -0.08, height), (width / 2 + 0.1, -0.08, height), 0.015, metal(rng))]
    )
