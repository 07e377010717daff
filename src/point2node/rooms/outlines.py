"""Floor outlines (V, 2): corners counter-clockwise, the lower left one near the origin."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from point2node.rooms.surfaces import Floats


def rectangle(width: float, depth: float) -> Floats:
    """Four corners."""
    return np.array([[0, 0], [width, 0], [width, depth], [0, depth]], float)


def l_shape(width: float, depth: float, cut_width: float, cut_depth: float) -> Floats:
    """A rectangle without its upper right part."""
    x, y = width - cut_width, depth - cut_depth
    return np.array([[0, 0], [width, 0], [width, y], [x, y], [x, depth], [0, depth]], float)


def niche(width: float, depth: float, start: float, niche_width: float, niche_depth: float) -> Floats:
    """A rectangle with a recess in its upper side."""
    end, high = start + niche_width, depth + niche_depth
    corners = [[0, 0], [width, 0], [width, depth], [end, depth], [end, high], [start, high], [start, depth], [0, depth]]
    return np.array(corners, float)


def chamfered(width: float, depth: float, cut: float) -> Floats:
    """A rectangle with its upper right corner cut off at an angle."""
    return np.array([[0, 0], [width, 0], [width, depth - cut], [width - cut, depth], [0, depth]], float)


def slanted(width: float, depth: float, shift: float) -> Floats:
    """A room whose right wall leans."""
    return np.array([[0, 0], [width, 0], [width + shift, depth], [0, depth]], float)


def vary(rng: Generator, width: float, depth: float) -> Floats:
    """A room of about this size in one of the shapes, rectangles most often."""
    shape = rng.choice(["rectangle", "l_shape", "niche", "chamfered", "slanted"], p=[0.6, 0.18, 0.12, 0.06, 0.04])
    if shape == "l_shape":
        return l_shape(width, depth, width * rng.uniform(0.2, 0.5), depth * rng.uniform(0.2, 0.5))
    if shape == "niche":
        start, long = width * rng.uniform(0.1, 0.4), width * rng.uniform(0.25, 0.5)
        return niche(width, depth, start, long, rng.uniform(0.2, 1.2))
    if shape == "chamfered":
        return chamfered(width, depth, min(width, depth) * rng.uniform(0.15, 0.4))
    if shape == "slanted":
        return slanted(width, depth, width * rng.uniform(-0.2, 0.2))
    return rectangle(width, depth)
