"""Textures: how a material's colour varies over a surface."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel
from point2node.rooms.hashing import mix, uniform

Array = NDArray[Any]

# the values of materials.Texture, which a kernel cannot read
SPECKLE, GRAIN, TILES, SPINES, BLOTCHES, PRINT = range(1, 7)


@kernel()
def paint_point(row: Array, u: float, v: float, key: np.uint64, out: Array) -> None:
    """The material's colour at (u, v), in metres along the surface, written to ``out``."""
    texture, scale, contrast = int(row[3]), row[4], row[5]
    u, v = u / scale, v / scale
    factor = 1.0
    if texture == SPECKLE:
        factor += contrast * (2.0 * _cell(key, u, v) - 1.0)
    elif texture == GRAIN:
        factor += contrast * (2.0 * _smooth(key, u * 0.08, v + 0.6 * _smooth(key, u * 0.2, v * 0.2)) - 1.0)
    elif texture == TILES:
        joint = u - math.floor(u) < 0.03 or v - math.floor(v) < 0.03
        factor += -contrast if joint else 0.3 * contrast * (_cell(key, u, v) - 0.5)
    elif texture == BLOTCHES:
        factor += contrast * (2.0 * _smooth(key, u, v) - 1.0)
    for k in range(3):
        out[k] = row[k] * factor
    if texture in (SPINES, PRINT):  # every cell of its own hue; a spine runs along v
        cell = mix(mix(key, math.floor(u)), math.floor(v) if texture == PRINT else 0)
        for k in range(3):
            out[k] += contrast * (0.9 * uniform(mix(cell, k)) - row[k])


@kernel()
def _cell(key: np.uint64, u: float, v: float) -> float:
    """The random number of the unit cell around (u, v)."""
    return uniform(mix(mix(key, math.floor(u)), math.floor(v)))


@kernel()
def _smooth(key: np.uint64, u: float, v: float) -> float:
    """Random numbers at whole (u, v), blended in between."""
    s, t = u - math.floor(u), v - math.floor(v)
    low = _cell(key, u, v) * (1.0 - s) + _cell(key, u + 1.0, v) * s
    high = _cell(key, u, v + 1.0) * (1.0 - s) + _cell(key, u + 1.0, v + 1.0) * s
    return low * (1.0 - t) + high * t
