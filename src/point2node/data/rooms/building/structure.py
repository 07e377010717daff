"""Columns and beams in their styles."""

from __future__ import annotations

import math

from numpy.random import Generator

from point2node.data.rooms.materials import Material, metal, paint, panelled, stone
from point2node.data.rooms.pieces import Piece, piece
from point2node.data.rooms.surfaces import box, join, rod


def round_column(rng: Generator, height: float) -> Piece:
    """A cylinder from floor to ceiling, at times on a base."""
    radius, finish = rng.uniform(0.15, 0.35), _finish(rng)
    parts = [rod((0, 0, 0), (0, 0, height), radius, finish)]
    if rng.uniform() < 0.3:
        parts.append(rod((0, 0, 0), (0, 0, 0.25), radius * 1.15, finish))
    return piece("column", parts)


def square_column(rng: Generator, height: float) -> Piece:
    """A pillar, square or oblong."""
    return piece("column", [box((rng.uniform(0.25, 0.7), rng.uniform(0.25, 0.6), height), (0, 0, 0), _finish(rng))])


def octagonal_column(rng: Generator, height: float) -> Piece:
    """Two boxes turned against each other: eight ridges."""
    side, finish = rng.uniform(0.3, 0.5), _finish(rng)
    core = box((side, side, height), (0, 0, 0), finish)
    return piece("column", [core, core.turned(math.pi / 4)])


def solid_beam(rng: Generator, length: float) -> Piece:
    """A concrete or boxed-in beam along x, its top at z = 0."""
    drop = rng.uniform(0.15, 0.5)
    return piece("beam", [box((length, rng.uniform(0.15, 0.5), drop), (0, 0, -drop), _finish(rng))])


def steel_beam(rng: Generator, length: float) -> Piece:
    """An I-shaped steel beam along x, its top at z = 0."""
    drop, width, finish = rng.uniform(0.2, 0.4), rng.uniform(0.14, 0.26), metal(rng)
    flanges = [box((length, width, 0.02), (0, 0, z), finish) for z in (-0.02, -drop)]
    return piece("beam", [join(flanges), box((length, 0.015, drop), (0, 0, -drop), finish)])


def _finish(rng: Generator) -> Material:
    finish = paint(rng) if rng.uniform() < 0.65 else stone(rng)
    return panelled(finish, 0.6) if rng.uniform() < 0.1 else finish
