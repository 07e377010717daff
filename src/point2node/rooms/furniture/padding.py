"""Padded parts of seats: slabs with hard or soft edges."""

from __future__ import annotations

from numpy.random import Generator

from point2node.rooms.materials import Material
from point2node.rooms.surfaces import Point, Surfaces, box, cushion

SOFTNESS = (4, 6, 8, 10)  # exponents of cushions


def pad(rng: Generator, size: Point, at: Point, cover: Material, hard: float = 0.25) -> Surfaces:
    """A slab whose edges are sharp with probability ``hard``, else round; ``at`` is the centre of its bottom."""
    if rng.uniform() < hard:
        return box(size, at, cover)
    return cushion(size, at, cover, int(rng.choice(SOFTNESS)))
