"""What merged scans lack: patches that nobody saw, the ceiling, a part of the room, all beyond the doors."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from point2node.rooms.floor_plan import inside
from point2node.rooms.scanners import Scanner
from point2node.rooms.scene import LABELS
from point2node.rooms.settings import RoomSettings
from point2node.rooms.surfaces import Floats

MOST_PATCHES = 6
LARGEST_CUT = 0.35  # share of the room's length


def choose_survivors(
    rng: Generator,
    xyz: NDArray[np.float32],
    labels: NDArray[np.int32],
    outline: Floats,
    scanner: Scanner,
    settings: RoomSettings,
) -> NDArray[np.bool_]:
    """Which points (N,) are in the final scan."""
    kept = within(xyz, outline, settings.margin)
    if rng.uniform() < scanner.lost_ceiling:
        kept &= labels != LABELS["ceiling"]
    if rng.uniform() < settings.cut_room:
        angle = rng.uniform(0, math.tau)
        along = math.cos(angle) * xyz[:, 0] + math.sin(angle) * xyz[:, 1]
        kept &= along < along.max() - rng.uniform(0.1, LARGEST_CUT) * np.ptp(along)
    if rng.uniform() < settings.lost_patches and len(xyz):
        for centre in xyz[rng.integers(len(xyz), size=rng.integers(1, MOST_PATCHES + 1))]:
            # an ellipsoid, so that patches on a wall are not all round
            x, y, z = ((xyz[:, axis] - centre[axis]) / np.float32(rng.uniform(0.1, 0.7)) for axis in range(3))
            kept &= x * x + y * y + z * z > 1
    return kept


def at_most_each(rng: Generator, numbers: NDArray[np.int32], most: int) -> NDArray[np.bool_]:
    """Which points (N,) remain when every number has at most about ``most`` of them, drawn at random."""
    counts = np.bincount(numbers)
    share = most / np.maximum(counts, 1)
    kept: NDArray[np.bool_] = rng.uniform(size=len(numbers)) < share[numbers]
    return kept


def within(xyz: NDArray[np.float32], outline: Floats, margin: float) -> NDArray[np.bool_]:
    """Which points are inside the outline or at most ``margin`` outside it."""
    result = inside(outline, xyz[:, 0], xyz[:, 1])
    outside = np.flatnonzero(~result)
    places = xyz[outside, :2]
    nearest = np.full(len(outside), np.inf)
    for start, end in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        (dx, dy), (x, y) = end - start, (places - start).T
        share = np.clip((x * dx + y * dy) / (dx * dx + dy * dy), 0, 1)
        nearest = np.minimum(nearest, np.hypot(x - share * dx, y - share * dy))
    result[outside] = nearest <= margin
    return result
