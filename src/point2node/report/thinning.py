"""Choosing fewer points that show the same scan: evenly over its surfaces, and the same ones every time."""

from __future__ import annotations

import numpy as np

from point2node.report.scene import Array

COARSE = 64  # cells along the longest side when the surface is estimated


def thin(xyz: Array, most: int) -> Array:
    """The numbers of at most ``most`` of the points, ascending: each cell of a grid gives a point in turn."""
    if len(xyz) <= most:
        return np.arange(len(xyz))
    cells = _cells(xyz, spacing(xyz, most))
    order = np.random.default_rng(0).permutation(len(xyz))
    order = order[np.argsort(cells[order], kind="stable")]  # by cell, in random order within it
    first = np.flatnonzero(np.diff(cells[order], prepend=-1))
    rank = np.arange(len(xyz)) - np.repeat(first, np.diff(first, append=len(xyz)))
    return np.sort(order[np.argsort(rank, kind="stable")[:most]])


def spacing(xyz: Array, points: int | None = None) -> float:
    """How far neighbours would be apart if ``points`` of them (all if None) lay evenly on the cloud's surfaces."""
    extent = float(np.ptp(xyz, axis=0).max())
    if extent == 0:
        return 1.0
    side = extent / COARSE
    return side * float(np.sqrt(len(np.unique(_cells(xyz, side))) / (points or len(xyz))))


def _cells(xyz: Array, side: float) -> Array:
    """The number of the grid cell of each point."""
    places = np.floor((xyz - xyz.min(axis=0)) / side).astype(np.int64)
    shape = places.max(axis=0) + 1
    return np.asarray((places[:, 0] * shape[1] + places[:, 1]) * shape[2] + places[:, 2])
