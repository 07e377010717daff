"""Returns as a fused model has them: depths averaged, surfaces bumpy and bent."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from point2node.data.rooms.fusion_kernels import blur_shifts, wave_shifts
from point2node.data.rooms.scanner import Scans
from point2node.data.rooms.scanners import Scanner
from point2node.data.rooms.surfaces import Floats

RIPPLE_LENGTH, RIPPLES = (0.12, 0.5), 4  # metres from crest to crest, and how many waves are summed
SWELL_LENGTH, SWELLS = (3.0, 9.0), 3


def fuse(rng: Generator, scans: Scans, rays: NDArray[np.int64], scanner: Scanner) -> NDArray[np.float32]:
    """Where the returns of these rays are (N, 3) after fusion."""
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
    """(count, 7): plane waves in all directions whose heights add up to a standard deviation of ``height``."""
    directions = rng.normal(0, 1, (count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    vectors = directions * math.tau / rng.uniform(*length, (count, 1))
    displacements = rng.normal(0, height * math.sqrt(2 / count), (count, 3))
    return np.column_stack([vectors, rng.uniform(0, math.tau, count), displacements])
