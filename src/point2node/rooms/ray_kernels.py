"""The scanner's depth buffer: which surface each ray hits first, and at what depth.

The rays of a position are grouped into faces. A face is a square of rays at equal angles over a quarter turn: six
faces of a cube cover the whole sphere, and a camera has one face for each picture.
A surface is tested only against the rays inside the rectangle that it covers on a face.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel
from point2node.rooms.hashing import mix, uniform
from point2node.rooms.surfaces import BALL, CUSHION, DISC, QUAD, TUBE, UNIT_HIGH, UNIT_LOW

Array = NDArray[Any]

NEAREST = 0.05  # metres: nothing this close to the scanner is seen
NEWTON_STEPS = 12  # towards a cushion; the few grazing rays that need more miss it
CLOSE = 0.004  # tolerance of the sum of powers, a thousandth of the radius of a cushion
TRANSMISSION = 6  # column of Material.row


@kernel(parallel=True, error_model="numpy")
def cast_rays(
    positions: Array,
    faces: Array,
    slopes: Array,
    borders: tuple[int, int],
    kind: Array,
    origin: Array,
    frame: Array,
    inverse: Array,
    form: Array,
    closed: Array,
    material: Array,
    key: np.uint64,
) -> tuple[Array, Array]:
    """Return depths and surface indices (S, F, n, n) of the first hits from S positions; index -1 for none.

    The ray of face f and pixel (j, i) has the direction ``slopes[j, i, 0]·f[0] + slopes[j, i, 1]·f[1] + f[2]``;
    its depth t is in units of this vector.

    Args:
        positions: (S, 3).
        faces: (S, F, 3, 3), rows: right, up and forward of each face.
        slopes: (n, n, 2), tangents of the ray angles, at equal angles plus jitter within a pixel.
        borders: columns and rows at either side of a face in which no ray is cast.
        kind, origin, frame, form, closed, material: as in ``Surfaces``.
        inverse: (P, 3, 3), inverses of the frames.
        key: seed of the rays that pass through glass.
    """
    size, sides = slopes.shape[0], faces.shape[1]
    depths = np.full((len(positions), sides, size, size), np.inf, np.float32)
    numbers = np.full((len(positions), sides, size, size), -1, np.int32)
    for task in prange(len(positions) * sides):
        scanner, side = task // sides, task % sides
        depth, number, face = depths[scanner, side], numbers[scanner, side], faces[scanner, side]
        start, along = np.empty(3), np.empty((3, 3))
        for p in range(len(kind)):
            for axis in range(3):  # the ray in the frame of the unit shape
                start[axis] = 0.0
                for k in range(3):
                    start[axis] += (positions[scanner, k] - origin[p, k]) * inverse[p, k, axis]
                    along[k, axis] = (
                        face[k, 0] * inverse[p, 0, axis]
                        + face[k, 1] * inverse[p, 1, axis]
                        + face[k, 2] * inverse[p, 2, axis]
                    )
            if kind[p] == QUAD and closed[p] and start[2] <= 0.0:
                continue  # seen from inside the body
            low_i, high_i, low_j, high_j = _covered(
                kind[p],
                origin[p] - positions[scanner],
                frame[p],
                max(1.0, form[p]) if kind[p] == TUBE else 1.0,
                face,
                size,
            )
            transmission = material[p, TRANSMISSION]
            for j in range(max(low_j, borders[1]), min(high_j, size - 1 - borders[1]) + 1):
                for i in range(max(low_i, borders[0]), min(high_i, size - 1 - borders[0]) + 1):
                    right, up = slopes[j, i, 0], slopes[j, i, 1]
                    dx = right * along[0, 0] + up * along[1, 0] + along[2, 0]
                    dy = right * along[0, 1] + up * along[1, 1] + along[2, 1]
                    dz = right * along[0, 2] + up * along[1, 2] + along[2, 2]
                    t = _meet(kind[p], form[p], start[0], start[1], start[2], dx, dy, dz)
                    if t < depth[j, i]:
                        if transmission > 0.0:
                            ray = mix(mix(key, p), (task * size + j) * size + i)
                            if uniform(ray) < transmission:
                                continue
                        depth[j, i] = t
                        number[j, i] = p
    return depths, numbers


@kernel(error_model="numpy")
def _meet(kind: int, form: float, x: float, y: float, z: float, dx: float, dy: float, dz: float) -> float:
    """Return the smallest t at which the ray (x, y, z) + t·(dx, dy, dz) hits the unit shape, or infinity."""
    if kind == QUAD:
        t = -z / dz
        u, v = x + t * dx, y + t * dy
        inside = 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0
        return t if t > NEAREST and inside else np.inf
    if kind == DISC:
        t = -z / dz
        u, v = x + t * dx, y + t * dy
        return t if t > NEAREST and u * u + v * v <= 1.0 else np.inf
    if kind == CUSHION:
        return _meet_cushion(round(form) // 2, x, y, z, dx, dy, dz)
    if kind == TUBE:
        slope = form - 1.0
        radius = 1.0 + slope * z
        a = dx * dx + dy * dy - slope * slope * dz * dz
        b = x * dx + y * dy - slope * dz * radius
        c = x * x + y * y - radius * radius
    else:
        a = dx * dx + dy * dy + dz * dz
        b = x * dx + y * dy + z * dz
        c = x * x + y * y + z * z - 1.0
    square = b * b - a * c
    if square < 0.0:
        return np.inf
    root = math.sqrt(square)
    for t in ((-b - root) / a, (-b + root) / a):
        if t > NEAREST and (kind == BALL or 0.0 <= z + t * dz <= 1.0):
            return t
    return np.inf


@kernel(error_model="numpy")
def _meet_cushion(half: int, x: float, y: float, z: float, dx: float, dy: float, dz: float) -> float:
    """Return the t at which the ray enters |x|ᵖ + |y|ᵖ + |z|ᵖ = 1, p = 2·half, or infinity.

    The sum is convex along the ray, so Newton steps that start where the ray enters the bounding box never pass the
    root.
    """
    first, last = NEAREST, np.inf
    for place, step in ((x, dx), (y, dy), (z, dz)):
        near, far = (-1.0 - place) / step, (1.0 - place) / step
        first, last = max(first, min(near, far)), min(last, max(near, far))
    t = first
    for _ in range(NEWTON_STEPS):
        if not t <= last:
            return np.inf
        value, slope = -1.0, 0.0
        for place, step in ((x, dx), (y, dy), (z, dz)):
            at = place + t * step
            power = at
            for _ in range(half - 1):
                power *= at * at
            value += power * at
            slope += 2 * half * power * step
        if value < CLOSE:
            return t if t > first or value > -CLOSE else np.inf  # a scanner inside sees nothing of it
        if slope >= 0.0:
            return np.inf
        t -= value / slope
    return np.inf


@kernel(error_model="numpy")
def _covered(
    kind: int, offset: Array, frame: Array, radius: float, face: Array, size: int
) -> tuple[int, int, int, int]:
    """Return the first and last column and row of the pixels that a surface may cover; last < first for none."""
    corners = 4 if kind in (QUAD, DISC) else 8
    seen = np.empty((8, 3))
    for corner in range(corners):
        for k in range(3):
            seen[corner, k] = 0.0
        for k in range(3):
            place = offset[k]
            for axis in range(3):
                unit = UNIT_HIGH[kind, axis] if corner >> axis & 1 else UNIT_LOW[kind, axis]
                place += unit * frame[axis, k] * (radius if axis < 2 else 1.0)
            for out in range(3):
                seen[corner, out] += place * face[out, k]
    low_right, high_right, low_up, high_up = np.inf, -np.inf, np.inf, -np.inf
    for corner in range(corners):
        if seen[corner, 2] >= NEAREST:
            right, up = seen[corner, 0] / seen[corner, 2], seen[corner, 1] / seen[corner, 2]
            low_right, high_right = min(low_right, right), max(high_right, right)
            low_up, high_up = min(low_up, up), max(high_up, up)
        for axis in range(3):  # edges to the corners that differ in one axis, clipped to the view
            other = corner | 1 << axis
            if other == corner or other >= corners or (seen[corner, 2] < NEAREST) == (seen[other, 2] < NEAREST):
                continue
            part = (NEAREST - seen[corner, 2]) / (seen[other, 2] - seen[corner, 2])
            right = (seen[corner, 0] + part * (seen[other, 0] - seen[corner, 0])) / NEAREST
            up = (seen[corner, 1] + part * (seen[other, 1] - seen[corner, 1])) / NEAREST
            low_right, high_right = min(low_right, right), max(high_right, right)
            low_up, high_up = min(low_up, up), max(high_up, up)
    if low_right > 1.0 or high_right < -1.0 or low_up > 1.0 or high_up < -1.0 or low_right == np.inf:
        return 0, -1, 0, -1
    return (
        pixel_of(low_right, size),
        pixel_of(high_right, size),
        pixel_of(low_up, size),
        pixel_of(high_up, size),
    )


@kernel()
def pixel_of(slope: float, size: int) -> int:
    """Return the row or column of a ray with this tangent."""
    share = 0.5 + math.atan(slope) * (2.0 / math.pi)
    return min(size - 1, max(0, math.floor(share * size)))
