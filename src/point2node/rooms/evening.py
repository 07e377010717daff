"""One point for each small cube, as merged scans have it."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel

Array = NDArray[Any]

TURN = 0.41  # radians between cubes and walls: the noise of a wall on a border of cubes would double it


@kernel()
def first_in_each_cube(xyz: Array, valid: Array, low: Array, high: Array, edge: float) -> Array:
    """Numbers of the valid points between the corners ``low`` and ``high`` that are the first in their cube."""
    cos, sin = math.cos(TURN), math.sin(TURN)
    # x' = cos·x + sin·y and y' = cos·y - sin·x are least at these corners
    low_x, low_y = cos * low[0] + sin * low[1], cos * low[1] - sin * high[0]
    columns = int((cos * high[0] + sin * high[1] - low_x) / edge) + 1
    rows = int((cos * high[1] - sin * low[0] - low_y) / edge) + 1
    layers = int((high[2] - low[2]) / edge) + 1
    seen = np.zeros((columns * rows * layers >> 5) + 1, np.uint32)  # a bit for each cube
    chosen = np.empty(len(xyz), np.int64)
    count = 0
    for n in range(len(xyz)):
        x, y, z = xyz[n, 0], xyz[n, 1], xyz[n, 2]
        if not valid[n] or not (low[0] <= x <= high[0] and low[1] <= y <= high[1] and low[2] <= z <= high[2]):
            continue
        column, row = int((cos * x + sin * y - low_x) / edge), int((cos * y - sin * x - low_y) / edge)
        cube = (column * rows + row) * layers + int((z - low[2]) / edge)
        bit = np.uint32(1 << (cube & 31))
        if not seen[cube >> 5] & bit:
            seen[cube >> 5] |= bit
            chosen[count] = n
            count += 1
    return chosen[:count].copy()
