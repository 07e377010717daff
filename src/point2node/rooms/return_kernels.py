"""From first hits to returns: noisy ranges, mixed pixels at depth edges, missing returns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel
from point2node.rooms.hashing import mix, normal, uniform

# mypy: disallow-untyped-decorators=False


Array = NDArray[Any]

ABSORPTION = 7  # column of Material.row
LARGEST_NOISE = 0.012  # metres
EDGE = 0.06  # a depth edge: neighbouring rays whose depths differ by more than this share
LONGEST_GAP = 1.5  # metres: a larger one gives two separate echoes instead of a mixed one
CURVED_FACING = 0.7  # cosine of the incidence on a curved surface, on average


@kernel(parallel=True, error_model="numpy")
def report_returns(
    depths: Array,
    numbers: Array,
    positions: Array,
    shifts: Array,
    faces: Array,
    slopes: Array,
    normals: Array,
    material: Array,
    noise: float,
    mixed: float,
    reach: float,
    lowest: float,
    key: np.uint64,
) -> tuple[Array, Array]:
    """Return reported positions (S, F, n, n, 3) and which rays return at all (S, F, n, n).

    Args:
        depths, numbers: (S, F, n, n), as ``cast_rays`` returns them.
        positions, faces, slopes: as for ``cast_rays``.
        shifts: (S, 3), error of each position after registration in metres.
        normals: (P, 3), unit normals of flat surfaces, zero for curved ones.
        material: (P, 8).
        noise: metres, standard deviation at one metre.
        mixed: share of the rays at a depth edge with a range between the two depths.
        reach: metres, the longest range that returns.
        lowest: sine of the elevation below which the scanner is blind: its own tripod.
        key: seed of all random numbers.
    """
    size, sides = slopes.shape[0], faces.shape[1]
    reported = np.empty((*depths.shape, 3), np.float32)
    returned = np.zeros(depths.shape, np.bool_)
    for row in prange(len(positions) * sides * size):
        j, side, scanner = row % size, row // size % sides, row // size // sides
        face, depth_of_face = faces[scanner, side], depths[scanner, side]
        for i in range(size):
            p = numbers[scanner, side, j, i]
            if p < 0:
                continue
            right, up = slopes[j, i, 0], slopes[j, i, 1]
            x = right * face[0, 0] + up * face[1, 0] + face[2, 0]
            y = right * face[0, 1] + up * face[1, 1] + face[2, 1]
            z = right * face[0, 2] + up * face[1, 2] + face[2, 2]
            length = math.sqrt(x * x + y * y + z * z)
            facing = abs(x * normals[p, 0] + y * normals[p, 1] + z * normals[p, 2]) / length
            if facing == 0.0:
                facing = CURVED_FACING
            drawn = mix(key, row * size + i)
            grazing_loss = 0.6 * max(0.0, 1.0 - facing / 0.12)
            if z < lowest * length or depth_of_face[j, i] * length > reach:
                continue
            if uniform(drawn) < material[p, ABSORPTION] + grazing_loss:
                continue
            returned[scanner, side, j, i] = True

            depth = depth_of_face[j, i]
            deviation = noise * (1.0 + 0.3 * depth * length) * min(3.0, 0.6 + 0.4 / facing)
            if mixed > 0.0 and uniform(mix(drawn, 1)) < mixed:
                depth = _mixed_depth(depth_of_face, j, i, uniform(mix(drawn, 2)), length)
            along = depth + min(LARGEST_NOISE, deviation) * normal(mix(drawn, 3)) / length
            reported[scanner, side, j, i, 0] = positions[scanner, 0] + shifts[scanner, 0] + along * x
            reported[scanner, side, j, i, 1] = positions[scanner, 1] + shifts[scanner, 1] + along * y
            reported[scanner, side, j, i, 2] = positions[scanner, 2] + shifts[scanner, 2] + along * z
    return reported, returned


@kernel()
def _mixed_depth(depth: Array, j: int, i: int, share: float, length: float) -> float:
    """Return a depth between pixel (j, i) and its first neighbour across an edge; its own depth without an edge."""
    size = len(depth)
    own: float = depth[j, i]
    for dj, di in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        if 0 <= j + dj < size and 0 <= i + di < size:
            gap: float = depth[j + dj, i + di] - own
            if EDGE * own < gap and gap * length < LONGEST_GAP:
                return own + gap * share * share  # nearer to the foreground, which fills more of the beam
    return own


# mypy: disallow-untyped-decorators=False


TURN = 0.41  # radians between cubes and walls: aligned, a noisy wall on a border of cubes would keep twice the points


@kernel()
def first_in_each_cube(xyz: Array, valid: Array, low: Array, high: Array, edge: float) -> Array:
    """Return the indices of the first valid point of each cube between the corners ``low`` and ``high``."""
    cos, sin = math.cos(TURN), math.sin(TURN)
    # x' = cos·x + sin·y and y' = cos·y - sin·x are smallest at these corners
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
