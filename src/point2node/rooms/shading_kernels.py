"""The colour of each return: texture, lamps and their shadows, darker corners, and the camera."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel
from point2node.rooms.hashing import mix, normal, uniform
from point2node.rooms.ray_kernels import pixel_of
from point2node.rooms.surfaces import BALL, CUSHION, TUBE

# mypy: disallow-untyped-decorators=False


Array = NDArray[Any]
Triple = tuple[float, float, float]

GREY_WEIGHTS = (0.3, 0.59, 0.11)
SHADOW = 0.25  # share of a lamp's light that reaches its shadow via the walls
MIDDLE = 0.45  # the brightness that contrast does not change
CORNER_REACH = 0.35  # metres: how far the darkness of a corner reaches


@kernel(parallel=True, error_model="numpy")
def shade(
    rays: Array,
    positions: Array,
    faces: Array,
    slopes: Array,
    depths: Array,
    hits: Array,
    kind: Array,
    origin: Array,
    frame: Array,
    inverse: Array,
    form: Array,
    material: Array,
    lamps: Array,
    shadows: Array,
    cube: Array,
    ambient: float,
    walls: Array,
    height: float,
    key: np.uint64,
) -> Array:
    """Return linear colours (N, 3) before clipping.

    Args:
        rays: (N,), flat indices into (S, F, n, n).
        positions, faces, slopes, depths, hits: as in ``Scans``.
        kind, origin, frame, inverse, form, material: as for ``cast_rays``.
        lamps: (L, 4), x, y, z and strength.
        shadows: (M, 6, m, m), depths seen from the first M lamps; the other lamps cast no shadows.
        cube: (6, 3, 3), right, up and forward of the faces of ``shadows``.
        ambient: strength of the light from all directions.
        walls: (W, 4), x and y of the two ends of each wall.
        height: height of the room in metres.
        key: seed of the textures.
    """
    colours = np.empty((len(rays), 3), np.float32)
    metres = np.sqrt((frame * frame).sum(axis=2))  # for one unit along each axis
    size, sides = len(slopes), faces.shape[1]
    for n in prange(len(rays)):
        i, j = rays[n] % size, rays[n] // size % size
        side, scanner = rays[n] // size**2 % sides, rays[n] // size**2 // sides
        p, depth = hits[scanner, side, j, i], depths[scanner, side, j, i]
        face, eye, right, up = faces[scanner, side], positions[scanner], slopes[j, i, 0], slopes[j, i, 1]
        hit = (
            eye[0] + depth * (right * face[0, 0] + up * face[1, 0] + face[2, 0]),
            eye[1] + depth * (right * face[0, 1] + up * face[1, 1] + face[2, 1]),
            eye[2] + depth * (right * face[0, 2] + up * face[1, 2] + face[2, 2]),
        )
        x, y, z = _times(inverse[p].T, hit[0] - origin[p, 0], hit[1] - origin[p, 1], hit[2] - origin[p, 2])
        u, v = x * metres[p, 0], y * metres[p, 1]
        if kind[p] == TUBE:
            slope = form[p] - 1.0
            gradient = _times(inverse[p], x, y, -slope * (1.0 + slope * z))
            u, v = math.atan2(y, x) * metres[p, 0], z * metres[p, 2]  # unrolled
        elif kind[p] == BALL:
            gradient = _times(inverse[p], x, y, z)
        elif kind[p] == CUSHION:
            odd = round(form[p]) - 1
            gradient = _times(inverse[p], x**odd, y**odd, z**odd)
        else:
            gradient = _times(inverse[p], 0.0, 0.0, 1.0)
        paint_point(material[p], u, v, mix(key, p), colours[n])
        light = _light(hit, gradient, eye, lamps, shadows, cube, ambient * _openness(hit, walls, height))
        for k in range(3):
            colours[n, k] *= light
    return colours


@kernel(parallel=True)
def develop(
    light: Array, scan: Array, gains: Array, saturation: float, contrast: float, noise: float, key: np.uint64
) -> Array:
    """Convert light (N, 3) to 8-bit colours, with the gains (S, 3) of its scan, a camera's curve and noise.

    The curve raises brightness, relative to ``MIDDLE``, to the power ``contrast``.
    """
    colours = np.empty(light.shape, np.uint8)
    for n in prange(len(light)):
        r, g, b = light[n, 0] * gains[scan[n], 0], light[n, 1] * gains[scan[n], 1], light[n, 2] * gains[scan[n], 2]
        grey = GREY_WEIGHTS[0] * r + GREY_WEIGHTS[1] * g + GREY_WEIGHTS[2] * b
        curve = (max(grey, 0.01) / MIDDLE) ** (contrast - 1.0)
        for k, value in ((0, r), (1, g), (2, b)):
            value = max(0.0, grey + saturation * (value - grey)) * curve + noise * normal(mix(key, 3 * n + k))
            colours[n, k] = np.uint8(255.0 * min(1.0, max(0.0, value)))
    return colours


@kernel()
def _times(matrix: Array, x: float, y: float, z: float) -> Triple:
    """Return the matrix times the column (x, y, z); np.dot would need scipy here, and would allocate memory."""
    return (
        matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2] * z,
        matrix[1, 0] * x + matrix[1, 1] * y + matrix[1, 2] * z,
        matrix[2, 0] * x + matrix[2, 1] * y + matrix[2, 2] * z,
    )


@kernel(error_model="numpy")
def _light(
    place: Triple, gradient: Triple, eye: Array, lamps: Array, shadows: Array, cube: Array, ambient: float
) -> float:
    """Return how much light falls on the side of the surface that the scanner sees."""
    x, y, z = gradient
    length = math.sqrt(x * x + y * y + z * z)
    facing = x * (eye[0] - place[0]) + y * (eye[1] - place[1]) + z * (eye[2] - place[2])
    if facing < 0.0:
        length = -length
    x, y, z = x / length, y / length, z / length
    light = ambient * (1.0 + 0.25 * z)
    for n in range(len(lamps)):
        dx, dy, dz = lamps[n, 0] - place[0], lamps[n, 1] - place[1], lamps[n, 2] - place[2]
        cosine = x * dx + y * dy + z * dz
        if cosine > 0.0:
            square = dx * dx + dy * dy + dz * dz + 0.05
            strength = lamps[n, 3] * cosine / math.sqrt(square) / (1.0 + 0.25 * square)
            if n < len(shadows) and _in_shadow(shadows[n], cube, -dx, -dy, -dz):
                strength *= SHADOW
            light += strength
    return light


@kernel(error_model="numpy")
def _in_shadow(depths: Array, cube: Array, x: float, y: float, z: float) -> bool:
    """Return whether something is between the lamp and the point, which is at (x, y, z) from the lamp."""
    if abs(x) >= abs(y) and abs(x) >= abs(z):  # the faces in the order of scanning.CUBE: ±x, ±y, ±z
        side, forward = 0 if x > 0.0 else 1, abs(x)
    elif abs(y) >= abs(z):
        side, forward = 2 if y > 0.0 else 3, abs(y)
    else:
        side, forward = 4 if z > 0.0 else 5, abs(z)
    right, up, _ = _times(cube[side], x, y, z)
    size = len(depths[side])
    nearest: float = depths[side, pixel_of(up / forward, size), pixel_of(right / forward, size)]
    return nearest < 0.97 * forward - 0.04


@kernel()
def _openness(place: Triple, walls: Array, height: float) -> float:
    """Return 1 in the open, less near the floor, the ceiling and the walls, and least where they meet."""
    nearest = np.inf
    for wall in walls:
        dx, dy = wall[2] - wall[0], wall[3] - wall[1]
        share = ((place[0] - wall[0]) * dx + (place[1] - wall[1]) * dy) / (dx * dx + dy * dy)
        share = min(1.0, max(0.0, share))
        x, y = place[0] - wall[0] - share * dx, place[1] - wall[1] - share * dy
        nearest = min(nearest, x * x + y * y)
    first = math.exp(-math.sqrt(nearest) / CORNER_REACH)
    second = math.exp(-max(0.0, min(place[2], height - place[2])) / CORNER_REACH)
    return 1.0 - 0.15 * (first + second) - 0.35 * first * second


# mypy: disallow-untyped-decorators=False


# the values of materials.Texture, which a kernel cannot read
SPECKLE, GRAIN, TILES, SPINES, BLOTCHES, PRINT = range(1, 7)


@kernel()
def paint_point(row: Array, u: float, v: float, key: np.uint64, out: Array) -> None:
    """Write the material's colour at (u, v), in metres along the surface, to ``out``."""
    texture, scale, contrast = int(row[3]), row[4], row[5]
    u, v = u / scale, v / scale
    factor = 1.0
    if texture == SPECKLE:
        factor += contrast * (2.0 * _cell(key, u, v) - 1.0)
    elif texture == GRAIN:
        factor += contrast * (2.0 * _smooth(key, u * 0.08, v + 0.6 * _smooth(key, u * 0.2, v * 0.2)) - 1.0)
    elif texture == TILES:
        joint = u - math.floor(u) < 0.03 or v - math.floor(v) < 0.03
        factor += -contrast if joint else 0.3 * contrast * (_cell(key, u, v) - 0.5)
    elif texture == BLOTCHES:
        factor += contrast * (2.0 * _smooth(key, u, v) - 1.0)
    for k in range(3):
        out[k] = row[k] * factor
    if texture in (SPINES, PRINT):  # each cell has a different hue; a spine runs along v
        cell = mix(mix(key, math.floor(u)), math.floor(v) if texture == PRINT else 0)
        for k in range(3):
            out[k] += contrast * (0.9 * uniform(mix(cell, k)) - row[k])


@kernel()
def _cell(key: np.uint64, u: float, v: float) -> float:
    """Return the random number of the unit cell that contains (u, v)."""
    return uniform(mix(mix(key, math.floor(u)), math.floor(v)))


@kernel()
def _smooth(key: np.uint64, u: float, v: float) -> float:
    """Return random numbers of the integer grid, interpolated at (u, v)."""
    s, t = u - math.floor(u), v - math.floor(v)
    low = _cell(key, u, v) * (1.0 - s) + _cell(key, u + 1.0, v) * s
    high = _cell(key, u, v + 1.0) * (1.0 - s) + _cell(key, u + 1.0, v + 1.0) * s
    return low * (1.0 - t) + high * t
