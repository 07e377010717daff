"""The numba kernels behind ``splatting``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel

# mypy: disallow-untyped-decorators=False

Array = NDArray[Any]

NOWHERE = -1e9
"""The depth of a pixel without a point: behind everything."""


@kernel()
def draw_discs(rows: Array, columns: Array, order: Array, radius: float, shown: Array) -> None:
    """Write the index of each point into the pixels (H, W) of its disc, in ``order``, so that the last one stays."""
    height, width = shown.shape
    reach = int(radius)
    for point in order:
        for down in range(-reach, reach + 1):
            row = rows[point] + down
            if row < 0 or row >= height:
                continue
            half = int(math.sqrt(radius * radius - down * down))
            for column in range(max(columns[point] - half, 0), min(columns[point] + half + 1, width)):
                shown[row, column] = point


@kernel()
def light_pixels(depth: Array, shown: Array, reaches: Array, steepest: float, darkening: float) -> Array:
    """Return the brightness of pixels (H, W) float32, darker the more their neighbours lie in front of them.

    Neighbours on opposite sides are averaged, so that a slanted plane is as bright as a level one.
    """
    height, width = shown.shape
    light = np.zeros((height, width), np.float32)
    for row in range(height):
        for column in range(width):
            if shown[row, column] < 0:
                continue
            here, shade = depth[shown[row, column]], 0.0
            for step in reaches:
                for direction in range(4):
                    down = 0 if direction == 0 else step
                    right = 0 if direction == 1 else (-step if direction == 3 else step)
                    one = _depth_at(depth, shown, row + down, column + right)
                    two = _depth_at(depth, shown, row - down, column - right)
                    shade += min(max((one + two) / 2 - here, 0.0), steepest)
            light[row, column] = max(math.exp(-darkening * shade), 0.3)
    return light


@kernel(inline="always")
def _depth_at(depth: Array, shown: Array, row: int, column: int) -> float:
    if row < 0 or row >= shown.shape[0] or column < 0 or column >= shown.shape[1] or shown[row, column] < 0:
        return NOWHERE
    return float(depth[shown[row, column]])


@kernel()
def mix_colours(colours: Array, shown: Array, light: Array, finer: int) -> Array:
    """Return the mean colour of the pixels with a point, and their share, (H / finer, W / finer, 4) uint8."""
    height, width = shown.shape[0] // finer, shown.shape[1] // finer
    picture = np.zeros((height, width, 4), np.uint8)
    for row in range(height):
        for column in range(width):
            red, green, blue, seen = 0.0, 0.0, 0.0, 0
            for fine in range(finer * finer):
                y, x = finer * row + fine // finer, finer * column + fine % finer
                point = shown[y, x]
                if point >= 0:
                    red += colours[point, 0] * light[y, x]
                    green += colours[point, 1] * light[y, x]
                    blue += colours[point, 2] * light[y, x]
                    seen += 1
            if seen:
                picture[row, column, 0] = round(red / seen)
                picture[row, column, 1] = round(green / seen)
                picture[row, column, 2] = round(blue / seen)
                picture[row, column, 3] = round(255 * seen / (finer * finer))
    return picture
