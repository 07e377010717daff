"""The colours of the returns as recorded by the scanner's camera."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from point2node.rooms.scanning import CUBE, Scans, first_hits, ray_slopes
from point2node.rooms.scene import Scene
from point2node.rooms.settings import RoomSettings
from point2node.rooms.shading_kernels import develop, shade

SHADOW_STEP = 0.9  # degrees between the rays of a lamp
SHADOW_LAMPS = 2  # lamps that cast shadows; more would light each other's shadows

MEAN_BRIGHTNESS = (0.22, 0.72)
WARMTH, TINT = 0.12, 0.03  # standard deviations of the logarithms of red over blue and of green
EXPOSURE_ERROR = (0.02, 0.15)
CONTRAST = (0.75, 1.5)  # exponent of the camera's curve


def photograph(
    rng: Generator, scene: Scene, scans: Scans, rays: NDArray[np.int64], settings: RoomSettings
) -> NDArray[np.uint8]:
    """Return colours (N, 3) with lighting, an exposure that varies between positions, white balance and noise."""
    surfaces, lamps = scene.surfaces, scene.lamps
    eyes = lamps[:SHADOW_LAMPS, :3]
    shadows, _ = first_hits(rng, surfaces, eyes, np.stack([CUBE] * len(eyes)), ray_slopes(rng, SHADOW_STEP))
    light = shade(
        _misaligned(rng, scans, rays),
        scans.positions,
        scans.faces,
        scans.slopes,
        scans.depths,
        scans.surface,
        surfaces.kind,
        surfaces.origin,
        surfaces.frame,
        np.linalg.inv(surfaces.frame),
        surfaces.form,
        surfaces.material,
        lamps,
        shadows,
        CUBE,
        rng.uniform(0.2, 0.75),
        np.column_stack([scene.outline, np.roll(scene.outline, -1, axis=0)]),
        scene.height,
        rng.integers(2**63, dtype=np.uint64),
    )
    warmth, tint = rng.normal(0.04, WARMTH), rng.normal(0, TINT)
    balance = np.exp([warmth, tint, -warmth])
    # the camera exposes for a mean brightness, with a random error at each position
    misses = np.exp(rng.normal(0, rng.uniform(*EXPOSURE_ERROR), len(scans.positions)))
    exposures = rng.uniform(*MEAN_BRIGHTNESS) / max(0.02, float(light.mean())) * misses
    saturation = rng.uniform(0.0, 0.1) if rng.uniform() < settings.grey else rng.uniform(0.5, 1.25)
    return develop(
        light,
        rays // scans.surface[0].size,
        exposures[:, None] * balance,
        saturation,
        rng.uniform(*CONTRAST),
        rng.uniform(0.005, 0.04),
        rng.integers(2**63, dtype=np.uint64),
    )


def _misaligned(rng: Generator, scans: Scans, rays: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rays that give the points their colours: up to a pixel off, as camera and range finder differ."""
    row = scans.surface.shape[-1]
    seen = np.clip(rays + rng.integers(-1, 2) + row * rng.integers(-1, 2), 0, scans.surface.size - 1)
    return np.where(scans.surface.ravel()[seen] < 0, rays, seen)
