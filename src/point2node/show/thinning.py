"""Choosing and ordering points for display: fewer that show the same scan, neighbours together."""

from __future__ import annotations

import numpy as np

from point2node.show.scene import Array

COARSE = 64  # cells along the longest side when the surface is estimated


def thin(xyz: Array, most: int) -> Array:
    """The numbers of at most ``most`` of the points, ascending and the same every time.

    Each cell of a grid gives a point in turn, so that they lie evenly on the surfaces.
    """
    if len(xyz) <= most:
        return np.arange(len(xyz))
    cells = _cells(xyz, spacing(xyz, most))
    order = np.random.default_rng(0).permutation(len(xyz))
    order = order[np.argsort(cells[order], kind="stable")]  # by cell, in random order within it
    first = np.flatnonzero(np.diff(cells[order], prepend=-1))
    rank = np.arange(len(xyz)) - np.repeat(first, np.diff(first, append=len(xyz)))
    return np.sort(order[np.argsort(rank, kind="stable")[:most]])


def spatial_order(xyz: Array) -> Array:
    """The numbers of the points along a Z-order curve: neighbours in space stand together, so they deflate well."""
    lower, extent = xyz.min(axis=0), np.ptp(xyz, axis=0)
    places = ((xyz - lower) / np.where(extent > 0, extent, 1) * 1023).astype(np.int64)
    code = np.zeros(len(xyz), np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= (places[:, axis] >> bit & 1) << (3 * bit + axis)
    return np.argsort(code, kind="stable")


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
