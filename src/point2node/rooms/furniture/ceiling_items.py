"""Clutter under the ceiling; the ceiling is at z = 0 and long things run along y."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from point2node.rooms.materials import Material, metal, plastic
from point2node.rooms.pieces import Piece, piece
from point2node.rooms.surfaces import Surfaces, ball, box, disc, quad, rod


def flat_light(rng: Generator) -> Piece:
    """A luminaire flush with the ceiling or just below it."""
    width, length = rng.choice([(0.6, 0.6), (0.3, 1.2), (0.6, 1.2), (0.2, 1.5)])
    drop = rng.uniform(0.005, 0.09)
    return piece("clutter", [box((width, length, drop), (0, 0, -drop), _lit(rng))])


def sunk_light(rng: Generator) -> Piece:
    """A luminaire in a hole in the ceiling: its sides and its top as seen from below."""
    width, length = rng.choice([(0.6, 0.6), (0.3, 1.2), (0.6, 1.2), (0.5, 0.9)])
    up, body, lit = rng.uniform(0.03, 0.15), metal(rng), _lit(rng)
    low = (-width / 2, -length / 2)
    parts = [quad((*low, up), (width, 0, 0), (0, length, 0), lit)]
    for corner, along in (
        (low, (width, 0, 0)),
        ((low[0], -low[1]), (width, 0, 0)),
        (low, (0, length, 0)),
        ((-low[0], low[1]), (0, length, 0)),
    ):
        parts.append(quad((*corner, 0), along, (0, 0, up), body))
    if rng.uniform() < 0.5:  # tubes or a louvre
        parts += [box((0.05, length * 0.95, 0.03), (x * width, 0, up * 0.3), lit) for x in (-0.2, 0.2)]
    return piece("clutter", parts)


def hanging_light(rng: Generator) -> Piece:
    """A tube light or a shade on wires."""
    drop, frame = rng.uniform(0.25, 0.8), metal(rng)
    if rng.uniform() < 0.6:
        length = rng.uniform(1.1, 2.4)
        wires = [rod((0, y * length * 0.4, -drop), (0, y * length * 0.4, 0), 0.006, frame) for y in (-1, 1)]
        return piece("clutter", [box((rng.uniform(0.08, 0.3), length, 0.07), (0, 0, -drop - 0.07), _lit(rng)), *wires])
    shade = rod((0, 0, -drop - 0.25), (0, 0, -drop), rng.uniform(0.15, 0.3), _lit(rng), 0.3)
    return piece("clutter", [shade, rod((0, 0, -drop), (0, 0, 0), 0.006, frame)])


def spot(rng: Generator) -> Piece:
    """Spots, sprinklers and smoke detectors."""
    return piece(
        "clutter",
        [
            rod((0, 0, -rng.uniform(0.03, 0.1)), (0, 0, 0), rng.uniform(0.04, 0.09), _lit(rng)),
            disc(0.06, (0, 0, -0.03), _lit(rng)),
        ],
    )


def duct(rng: Generator) -> Piece:
    """Air ducts, pipes and cable trays under the ceiling, along y."""
    length, drop, material = rng.uniform(1.5, 5.0), rng.uniform(0.05, 0.3), metal(rng)
    if rng.uniform() < 0.5:
        radius = rng.uniform(0.06, 0.2)
        return piece("clutter", [_lying(radius, length, -drop - radius, material)])
    size = (rng.uniform(0.15, 0.6), length, rng.uniform(0.08, 0.3))
    return piece("clutter", [box(size, (0, 0, -drop - size[2]), material)])


def vent(rng: Generator) -> Piece:
    """A ventilation grille."""
    side, material = rng.uniform(0.3, 0.6), metal(rng)
    slat = box((side, 0.03, 0.02), (0, 0, -0.02), material)
    return piece("clutter", [slat.copied([(0, y, 0) for y in np.arange(-side / 2, side / 2, 0.06)])])


def projector(rng: Generator) -> Piece:
    """A projector on a pole."""
    drop, body = rng.uniform(0.15, 0.6), plastic(rng)
    return piece(
        "clutter",
        [box((0.34, 0.28, 0.12), (0, 0, -drop - 0.12), body), rod((0, 0, -drop), (0, 0, 0), 0.025, metal(rng))],
    )


def globe_light(rng: Generator) -> Piece:
    """A glass globe on a rod."""
    drop, radius = rng.uniform(0.2, 0.6), rng.uniform(0.1, 0.2)
    return piece(
        "clutter",
        [ball((radius,) * 3, (0, 0, -drop - radius), _lit(rng)), rod((0, 0, -drop), (0, 0, 0), 0.012, metal(rng))],
    )


def _lying(radius: float, length: float, z: float, material: Material) -> Surfaces:
    return rod((0, -length / 2, z), (0, length / 2, z), radius, material)


def _lit(rng: Generator) -> Material:
    """Return the material of a lamp, bright if it is on."""
    value = rng.uniform(0.6, 1.6)
    return Material((value, value * rng.uniform(0.9, 1.0), value * rng.uniform(0.75, 1.0)), contrast=0.05)
