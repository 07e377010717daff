"""Which point a person means who clicks into the picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

REACH = 0.004
"""Radians: how far from the ray a point may lie; a few pixels in a window of usual size."""


def pick(xyz: NDArray[np.float32], origin: ArrayLike, direction: ArrayLike, reach: float = REACH) -> int | None:
    """The number of the nearest of the points (N, 3) along the ray; None where the click meets none."""
    away = xyz - np.asarray(origin, np.float32)
    ahead = np.asarray(direction, np.float64)
    depth = away @ (ahead / np.linalg.norm(ahead)).astype(np.float32)
    beside = np.sqrt(np.maximum(np.einsum("nd,nd->n", away, away) - depth**2, 0))
    met = np.flatnonzero((depth > 0) & (beside <= np.tan(reach) * depth))
    return int(met[np.argmin(depth[met])]) if len(met) else None
