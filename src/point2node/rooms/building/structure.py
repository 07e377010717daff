"""Columns and beams in their styles."""

from __future__ import annotations

import math

from numpy.random import Generator

from point2node.rooms.materials import Material, metal, paint, panelled, stone
from point2node.rooms.pieces import Piece, piece
from point2node.rooms.surfaces import box, join, rod


def round_column(rng: Generator, height: float, finish: Material) -> Piece:
    """A cylinder from floor to ceiling, at times on a base."""
    radius, finish = rng.uniform(0.12, 0.35), _finish(rng, finish)
    parts = [rod((0, 0, 0), (0, 0, height), radius, finish)]
    if rng.uniform() < 0.3:
        parts.append(rod((0, 0, 0), (0, 0, 0.25), radius * 1.15, finish))
    return piece("column", parts)


def square_column(rng: Generator, height: float, finish: Material) -> Piece:
    """A pillar, square or oblong, at times with a skirting board."""
    width, depth, finish = rng.uniform(0.2, 0.7), rng.uniform(0.2, 0.6), _finish(rng, finish)
    parts = [box((width, depth, height), (0, 0, 0), finish)]
    if rng.uniform() < 0.3:
        parts.append(box((width + 0.024, depth + 0.024, 0.1), (0, 0, 0), paint(rng)))
    return piece("column", parts)


def pilaster(rng: Generator, height: float, finish: Material) -> Piece:
    """A flat pillar on a wall: wide, and hardly out of it."""
    size = (rng.uniform(0.3, 1.0), rng.uniform(0.05, 0.25), height)
    return piece("column", [box(size, (0, 0, 0), _finish(rng, finish))])


def octagonal_column(rng: Generator, height: float, finish: Material) -> Piece:
    """Two boxes turned against each other: eight ridges."""
    side, finish = rng.uniform(0.3, 0.5), _finish(rng, finish)
    core = box((side, side, height), (0, 0, 0), finish)
    return piece("column", [core, core.turned(math.pi / 4)])


def solid_beam(rng: Generator, length: float, finish: Material) -> Piece:
    """A concrete or boxed-in beam along x, its top at z = 0."""
    drop = rng.uniform(0.12, 0.5)
    return piece("beam", [box((length, rng.uniform(0.12, 0.5), drop), (0, 0, -drop), _finish(rng, finish))])


def steel_beam(rng: Generator, length: float, finish: Material) -> Piece:
    """An I-shaped steel beam along x, its top at z = 0."""
    drop, width, steel = rng.uniform(0.2, 0.4), rng.uniform(0.14, 0.26), metal(rng) if rng.uniform() < 0.6 else finish
    flanges = [box((length, width, 0.02), (0, 0, z), steel) for z in (-0.02, -drop)]
    return piece("beam", [join(flanges), box((length, 0.015, drop), (0, 0, -drop), steel)])


def soffit(rng: Generator, length: float, width: float, drop: float, finish: Material) -> Piece:
    """A boxed-in part of the ceiling along a wall, with its back at +y and its top at z = 0."""
    return piece("beam", [box((length, width, drop), (0, 0, -drop), _finish(rng, finish))])


def _finish(rng: Generator, wall: Material) -> Material:
    """Painted like the walls more often than not."""
    if rng.uniform() < 0.6:
        return wall
    finish = paint(rng) if rng.uniform() < 0.6 else stone(rng)
    return panelled(finish, 0.6) if rng.uniform() < 0.1 else finish
