"""Choose the points that are shown: fewer that show the same scan, in a room that is cut open."""

from __future__ import annotations

import numpy as np

from point2node.core.point_cloud import Array
from point2node.inference.labelled import LabelledCloud

DIRECTIONS = 8
"""A viewer's direction is rounded to one of this many around the room, the first along x."""
CEILING = "ceiling"
"""The class below which a room is cut open."""
MOST_COLUMNS = 100_000
BELOW_CEILING, THICKNESS, SKIRTING, COLUMN = 0.2, 0.12, 0.08, 0.08  # shares of the room's height


def ceiling_cut(scene: LabelledCloud) -> float | None:
    """Return the height at which to cut a room open, a little below its ceiling; None if no points have that class."""
    return cut_height(scene.xyz[scene.placed, 2], _heights(scene, CEILING))


def cut_height(heights: Array, ceiling: Array | None = None) -> float | None:
    """Return the height to cut at, from the heights of all points and of the ceiling; None for it: use the top."""
    floor, top = np.quantile(heights, (0.01, 0.99))
    if ceiling is not None:
        if not len(ceiling) or np.median(ceiling) <= np.median(heights):  # labels of such a ceiling are wrong
            return None
        top = np.median(ceiling)
    return float(top - BELOW_CEILING * (top - floor))


def walls_towards(scene: LabelledCloud) -> Array | None:
    """Return bits (N,) uint8: bit d is set if a point belongs to a wall between the room and a viewer in direction d.

    Seen from there, each column of the room loses everything at or outside its outermost wall, down to the skirting.
    None without a class called wall, or for a scene that is far too flat to be a room. Every point needs a position.
    """
    place = _place(scene, "wall")
    wall = scene.places == place
    if place is None or not wall.any():
        return None
    floor, top = np.quantile(scene.xyz[:, 2], (0.01, 0.99))
    height = float(top - floor)
    if float(np.hypot(*np.ptp(scene.xyz[:, :2], axis=0))) >= MOST_COLUMNS * COLUMN * height:
        return None
    high = scene.xyz[:, 2] > floor + SKIRTING * height
    bits = np.zeros(len(scene), np.uint8)
    for number in range(DIRECTIONS):
        angle = 2 * np.pi * number / DIRECTIONS
        towards = scene.xyz[:, :2] @ [np.cos(angle), np.sin(angle)]
        across = scene.xyz[:, :2] @ [-np.sin(angle), np.cos(angle)]
        columns = np.floor((across - across.min()) / (COLUMN * height)).astype(np.int64)
        outermost = np.full(columns.max() + 1, -np.inf)
        np.maximum.at(outermost, columns[wall], towards[wall])
        hidden = high & (towards > _without_gaps(outermost)[columns] - THICKNESS * height)
        bits |= (hidden.astype(np.uint8) << number).astype(np.uint8)
    return bits


def _without_gaps(outermost: Array) -> Array:
    """Take the median of five neighbours: a door leaves a column without a wall, a stray point shifts its wall."""
    padded = np.pad(outermost, 2, mode="edge")
    return np.median(np.stack([padded[by : by + len(outermost)] for by in range(5)]), axis=0)


def _heights(scene: LabelledCloud, name: str) -> Array:
    return np.asarray(scene.xyz[scene.placed & (scene.places == _place(scene, name)), 2])


def _place(scene: LabelledCloud, name: str) -> int | None:
    return next((n for n, one in enumerate(scene.classes) if one.name.strip().lower() == name), None)


COARSE = 64  # cells along the longest side when the surface is estimated


def thin(xyz: Array, most: int) -> Array:
    """Return the indices of at most ``most`` of the points, ascending and the same every time.

    Points are taken from the cells of a grid in turn, so that they lie evenly on the surfaces.
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
    """Return the indices of the points along a Z-order curve, where neighbours are close and compress well."""
    lower, extent = xyz.min(axis=0), np.ptp(xyz, axis=0)
    places = ((xyz - lower) / np.where(extent > 0, extent, 1) * 1023).astype(np.int64)
    code = np.zeros(len(xyz), np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= (places[:, axis] >> bit & 1) << (3 * bit + axis)
    return np.argsort(code, kind="stable")


def spacing(xyz: Array, points: int | None = None) -> float:
    """Return the distance of neighbours if ``points`` points (None: all) lay evenly on the cloud's surfaces."""
    extent = float(np.ptp(xyz, axis=0).max())
    if extent == 0:
        return 1.0
    side = extent / COARSE
    return side * float(np.sqrt(len(np.unique(_cells(xyz, side))) / (points or len(xyz))))


def _cells(xyz: Array, side: float) -> Array:
    """Return the index of each point's grid cell."""
    places = np.floor((xyz - xyz.min(axis=0)) / side).astype(np.int64)
    shape = places.max(axis=0) + 1
    return np.asarray((places[:, 0] * shape[1] + places[:, 1]) * shape[2] + places[:, 2])
