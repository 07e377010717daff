"""Frames: which axis points up, where the floor is, and where the x and y of a block are counted from."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
