"""Opening a room for the eye: where to cut its ceiling off, and which walls stand between it and the viewer."""

from __future__ import annotations

import numpy as np

from point2node.show.scene import Array, LabelledScene

DIRECTIONS = 8
"""Viewers are told apart by the nearest of so many directions around the room, the first along x."""
MOST_COLUMNS = 100_000
BELOW_CEILING, THICKNESS, SKIRTING, COLUMN = 0.2, 0.12, 0.08, 0.08  # shares of the room's height


def ceiling_cut(scene: LabelledScene) -> float | None:
    """The height to cut a room open at, a little below its ceiling; None if no class of that name says where it is."""
    ceiling = _heights(scene, "ceiling")
    heights = scene.xyz[scene.placed, 2]
    if not len(ceiling) or np.median(ceiling) <= np.median(heights):  # such a ceiling is a mistake of the labels
        return None
    floor, top = float(np.quantile(heights, 0.01)), float(np.median(ceiling))
    return top - BELOW_CEILING * (top - floor)


def walls_towards(scene: LabelledScene) -> Array | None:
    """(N,) uint8: bit d is set where a point belongs to a wall towards a viewer in direction d.

    Seen from there, each column of the room loses what lies at or outside its outermost wall, down to the skirting.
    None without a class called wall, or for a scene that is far too flat to be a room. Every point needs a position.
    """
    place = _place(scene, "wall")
    wall = scene.labels == place
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
    """The middle one of five neighbours: a door leaves no wall in its column, a stray point too much of it."""
    padded = np.pad(outermost, 2, mode="edge")
    return np.median(np.stack([padded[by : by + len(outermost)] for by in range(5)]), axis=0)


def _heights(scene: LabelledScene, name: str) -> Array:
    return np.asarray(scene.xyz[scene.placed & (scene.labels == _place(scene, name)), 2])


def _place(scene: LabelledScene, name: str) -> int | None:
    return next((n for n, one in enumerate(scene.classes) if one.name.strip().lower() == name), None)
