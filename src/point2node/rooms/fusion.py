"""The effects of fusing many depth images: rounded edges, sheets across depth edges, bumps and waves."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.random import Generator
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel
from point2node.rooms.scanners import Scanner
from point2node.rooms.scanning import Scans
from point2node.rooms.surfaces import Floats

Array = NDArray[Any]

RIPPLE_LENGTH, RIPPLES = (0.12, 0.5), 4  # metres from crest to crest, and the number of waves that are summed
SWELL_LENGTH, SWELLS = (3.0, 9.0), 3
FEWEST = 5  # pixels to which a plane is fitted
FLATTEST = 0.02  # of the determinant of their spread, which is 1/4 for a round patch


def fuse(rng: Generator, scans: Scans, rays: NDArray[np.int64], scanner: Scanner) -> NDArray[np.float32]:
    """Return the positions (N, 3) of the returns of these rays after fusion."""
    xyz: NDArray[np.float32] = scans.reported.reshape(-1, 3)[rays]
    radius, bridged = round(rng.uniform(*scanner.blur) / scanner.ray_step), rng.uniform(*scanner.bridged)
    if radius:
        xyz = xyz + blur_shifts(rays, scans.faces, scans.slopes, scans.depths, radius, bridged)
    for count, length, heights in (
        (RIPPLES, RIPPLE_LENGTH, scanner.ripples),
        (SWELLS, SWELL_LENGTH, scanner.swell),
    ):
        if heights[1]:
            xyz = xyz + wave_shifts(xyz, _waves(rng, count, length, rng.uniform(*heights)))
    return xyz


def _waves(rng: Generator, count: int, length: tuple[float, float], height: float) -> Floats:
    """Draw plane waves (count, 7) in all directions whose sum has a standard deviation of ``height`` metres."""
    directions = rng.normal(0, 1, (count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    vectors = directions * math.tau / rng.uniform(*length, (count, 1))
    displacements = rng.normal(0, height * math.sqrt(2 / count), (count, 3))
    return np.column_stack([vectors, rng.uniform(0, math.tau, count), displacements])


@kernel(parallel=True, error_model="numpy")
def blur_shifts(rays: Array, faces: Array, slopes: Array, depths: Array, radius: int, bridged: float) -> Array:
    """Return the shift of each return (N, 3) along its ray when a plane is fitted to the depths around it.

    Inverse depths are fitted, because on a plane they are linear in the slopes of the rays. So planes do not change and
    edges are rounded.

    Args:
        rays: (N,), flat indices into (S, F, n, n).
        faces, slopes, depths: as in ``Scans``; a depth is infinite if nothing was hit.
        radius: pixels to either side.
        bridged: pixels whose depth differs by more than this share are left out.
    """
    shifts = np.zeros((len(rays), 3), np.float32)
    size, sides = len(slopes), faces.shape[1]
    for n in prange(len(rays)):
        i, j = rays[n] % size, rays[n] // size % size
        side, scanner = rays[n] // size**2 % sides, rays[n] // size**2 // sides
        face, depth = faces[scanner, side], depths[scanner, side]
        own, right, up = depth[j, i], slopes[j, i, 0], slopes[j, i, 1]
        count, x, y, xx, xy, yy, v, xv, yv = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for row in range(max(0, j - radius), min(size, j + radius + 1)):
            for column in range(max(0, i - radius), min(size, i + radius + 1)):
                if abs(depth[row, column] - own) <= bridged * own:
                    dx, dy = slopes[row, column, 0] - right, slopes[row, column, 1] - up
                    value = 1.0 / depth[row, column]
                    count, x, y, v = count + 1.0, x + dx, y + dy, v + value
                    xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
                    xv, yv = xv + dx * value, yv + dy * value
        if count < FEWEST:
            continue
        x, y, v = x / count, y / count, v / count
        xx, xy, yy = xx / count - x * x, xy / count - x * y, yy / count - y * y
        xv, yv = xv / count - x * v, yv / count - y * v
        determinant = xx * yy - xy * xy
        if determinant < FLATTEST * (xx + yy) * (xx + yy):  # collinear: no plane
            continue
        fitted = v - x * (yy * xv - xy * yv) / determinant - y * (xx * yv - xy * xv) / determinant
        moved = 1.0 / fitted - own
        if abs(moved) > bridged * own:
            continue
        for k in range(3):
            shifts[n, k] = moved * (right * face[0, k] + up * face[1, k] + face[2, k])
    return shifts


@kernel(parallel=True)
def wave_shifts(xyz: Array, waves: Array) -> Array:
    """Return the sum of plane waves at each point (N, 3); a wave (7,) is its vector, its phase and its displacement."""
    shifts = np.zeros((len(xyz), 3), np.float32)
    for n in prange(len(xyz)):
        for wave in range(len(waves)):
            phase = waves[wave, 3]
            for k in range(3):
                phase += waves[wave, k] * xyz[n, k]
            height = math.sin(phase)
            for k in range(3):
                shifts[n, k] += height * waves[wave, 4 + k]
    return shifts
