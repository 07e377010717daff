"""Frames: the vertical axis, the floor, the origin of a block's x and y, and the conversion of a user's cloud to
metres, z up, floor at 0.
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
"""The share of points that can be below the floor: reflections, and points seen through a grating."""
FARTHEST_BELOW = 0.3
"""Metres: only points farther below are ignored when finding the floor."""

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
    """Centre the x and y of points (N, 3) on their bounding box; heights do not change."""
    middle = (xyz.min(axis=0) + xyz.max(axis=0)) / 2
    return xyz - middle * np.array([1, 1, 0], np.float32)


FRAMES: MappingProxyType[Frame, Callable[[NDArray[np.float32]], NDArray[np.float32]]] = MappingProxyType(
    {"room": lambda xyz: xyz, "block": centred}
)
"""How a block's coordinates are shifted: not at all (the room's, as in the paper), or to the block's centre, so that
the size of a building has no effect."""


def floor_height(heights: NDArray[np.float32]) -> float:
    """Return the lowest height, ignoring a few stray points far below all others."""
    lowest = float(heights.min())
    floor = float(np.quantile(heights, BELOW_FLOOR))
    return floor if floor - lowest > FARTHEST_BELOW else lowest


FARTHEST = 10_000.0
"""Metres: points farther from the rest have a meaningless position, such as (0, 0, 0) in map coordinates."""
HIGHEST = 100.0
"""Metres: points farther above or below the rest, by more than the scene's height, are reflections. In a block with
other points, one that is 400 m up makes a network's logits infinite."""
LOOKED_AT = 100_000
"""Number of points that determine the position of the rest."""
STRAY_METRES = 100.0
"""Metres: points this far outside the scene are labelled but not drawn: the rest would be a dot in the picture."""
STRAY = 10.0
"""They must also be this many times the scene's length away."""


@dataclass(frozen=True, eq=False)
class Placement:
    """The points of a cloud that have a position, in the network's frame."""

    xyz: NDArray[np.float32]
    """(M, 3) metres, z up, x and y centred, floor at 0."""
    numbers: NDArray[np.int64]
    """(M,) the indices of these points in the cloud."""
    rotation: NDArray[np.float64]
    """(3, 3), for normals."""


def place(cloud: PointCloud, scale: float = 1.0, up: str = "z", name: str = "cloud") -> Placement:
    """Convert a cloud's points to metres, z up; subtraction is in double precision, so map coordinates lose nothing.

    Points without a position, kilometres away from the rest or far above or below it, are left out.
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
    """Return which points are so far outside the scene that both cannot be shown together, (N,); NaN never is."""
    placed = np.isfinite(xyz).all(axis=1)
    found = np.zeros(len(xyz), np.bool_)
    if placed.any():
        found[placed] = _outside(xyz[placed], STRAY_METRES / scale)
    return found


def _far_up(heights: NDArray[np.floating], far: float) -> NDArray[np.bool_]:
    """Return which heights are farther than ``far``, and than the scene's height, outside those of nearly all."""
    low, high = np.quantile(heights[:: -(-len(heights) // LOOKED_AT)], [0.005, 0.995])
    far = max(far, float(high - low))
    return (heights < low - far) | (heights > high + far)


def _outside(xyz: NDArray[np.floating], far: float) -> NDArray[np.bool_]:
    """Return which points are farther than ``far``, and many scene lengths, outside the box of nearly all."""
    low, high = np.quantile(xyz[:: -(-len(xyz) // LOOKED_AT)], [0.005, 0.995], axis=0)
    far = max(far, STRAY * float((high - low).max()))
    outside: NDArray[np.bool_] = ((xyz < low - far) | (xyz > high + far)).any(axis=1)
    return outside
