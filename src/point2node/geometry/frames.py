"""Frames: which axis points up, where the floor is, where a block's x and y are counted from, and how a person's
cloud is brought there: metres, z up, floor at 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError, unknown_choice
from point2node.core.point_cloud import PointCloud

Frame = Literal["room", "block"]
BELOW_FLOOR = 0.005
"""The share of the points that may lie below the floor: reflections, and what a scanner sees through a grating."""
FARTHEST_BELOW = 0.3
"""Metres: only points farther below do not decide where the floor is."""

# rows are the file's axes that become x, y and z; turned, never mirrored
UPWARDS = MappingProxyType(
    {
        "z": np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float64),
        "y": np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], np.float64),
        "x": np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]], np.float64),
        "-z": np.array([[1, 0, 0], [0, -1, 0], [0, 0, -1]], np.float64),
        "-y": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], np.float64),
        "-x": np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], np.float64),
    }
)


def centred(xyz: NDArray[np.float32]) -> NDArray[np.float32]:
    """Points (N, 3) counted from the middle of their bounding box in x and y; heights stay."""
    middle = (xyz.min(axis=0) + xyz.max(axis=0)) / 2
    return xyz - middle * np.array([1, 1, 0], np.float32)


FRAMES: MappingProxyType[Frame, Callable[[NDArray[np.float32]], NDArray[np.float32]]] = MappingProxyType(
    {"room": lambda xyz: xyz, "block": centred}
)
"""What a network sees of a block: coordinates of the room, as the paper's do, or of the block itself, with which
buildings of any extent look alike."""


def floor_height(heights: NDArray[np.float32]) -> float:
    """The lowest height, unless a few stray points lie far below all others."""
    lowest = float(heights.min())
    floor = float(np.quantile(heights, BELOW_FLOOR))
    return floor if floor - lowest > FARTHEST_BELOW else lowest


FARTHEST = 10_000.0
"""Metres: what lies farther from the rest has no position that means anything, such as a (0, 0, 0) in a map's frame."""
HIGHEST = 100.0
"""Metres: what lies farther above or below the rest, and by more than the scene's own height, is a reflection. In one
block with the rest, 400 m up, it makes a network's answers infinite."""
LOOKED_AT = 100_000
"""Points that say where the rest is."""
STRAY_METRES = 100.0
"""A point that lies so far outside the scene is labelled, but would make the rest a dot in any picture …"""
STRAY = 10.0
"""… if it is also so many times the scene's own length away."""


@dataclass(frozen=True, eq=False)
class Placement:
    """The points of a cloud that have a position, in the network's frame."""

    xyz: NDArray[np.float32]
    """(M, 3) metres, z up, x and y centred, floor at 0."""
    numbers: NDArray[np.int64]
    """(M,) which points of the cloud these are."""
    rotation: NDArray[np.float64]
    """(3, 3), for normals."""


def place(cloud: PointCloud, scale: float = 1.0, up: str = "z", name: str = "cloud") -> Placement:
    """The cloud's points in metres and upright; differences are taken in double precision, so map coordinates lose
    nothing. Points without a position, kilometres away from the rest or far above or below it, are left out.
    """
    if not (np.isfinite(scale) and scale > 0):
        raise InputError("scale", expected="a number above 0", found=str(scale))
    if up not in UPWARDS:
        raise unknown_choice("up", up, UPWARDS)
    numbers = np.flatnonzero(np.isfinite(cloud.xyz).all(axis=1))
    if not len(numbers):
        found = "no point at all" if not len(cloud) else f"{len(cloud)} points, all of them NaN or infinite"
        raise InputError(name, expected="at least one point with a position", found=found)
    xyz = cloud.xyz if len(numbers) == len(cloud) else cloud.xyz[numbers]
    lost = _outside(xyz, FARTHEST / scale) | _far_up(xyz[:, "xyz".index(up[-1])], HIGHEST / scale)
    if lost.any():
        xyz, numbers = xyz[~lost], numbers[~lost]
    middle = (xyz.min(axis=0) + xyz.max(axis=0)) / 2
    local = ((xyz - middle) @ UPWARDS[up].T * scale).astype(np.float32)
    local[:, 2] -= floor_height(local[:, 2])
    return Placement(local, numbers, UPWARDS[up])


def strays(xyz: NDArray[np.floating], scale: float = 1.0) -> NDArray[np.bool_]:
    """(N,): which points lie so far outside the scene that nobody could look at both; NaN does not."""
    placed = np.isfinite(xyz).all(axis=1)
    found = np.zeros(len(xyz), np.bool_)
    if placed.any():
        found[placed] = _outside(xyz[placed], STRAY_METRES / scale)
    return found


def _far_up(heights: NDArray[np.floating], far: float) -> NDArray[np.bool_]:
    """Which heights lie farther than ``far``, and the scene's height, outside those of nearly all points."""
    low, high = np.quantile(heights[:: -(-len(heights) // LOOKED_AT)], [0.005, 0.995])
    far = max(far, float(high - low))
    return (heights < low - far) | (heights > high + far)


def _outside(xyz: NDArray[np.floating], far: float) -> NDArray[np.bool_]:
    """Which points lie farther than ``far``, and many times the scene's length, outside the box of nearly all."""
    low, high = np.quantile(xyz[:: -(-len(xyz) // LOOKED_AT)], [0.005, 0.995], axis=0)
    far = max(far, STRAY * float((high - low).max()))
    outside: NDArray[np.bool_] = ((xyz < low - far) | (xyz > high + far)).any(axis=1)
    return outside
