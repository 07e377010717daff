"""The three kinds of scanner: which part of a room each records, and how it distorts surfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.random import Generator

from point2node.rooms.settings import OVERRIDES, RoomSettings

Range = tuple[float, float]  # lowest and highest value; drawn per room


@dataclass(frozen=True)
class Scanner:
    """One kind of scanner; lengths are in metres."""

    ray_step: float
    """Degrees between neighbouring rays."""
    positions: tuple[int, int]
    """Minimum and maximum number of positions in a room."""
    area_each: float
    """Square metres of free floor for each additional position."""
    eye_height: Range
    range_noise: Range
    """Standard deviation of a range at 1 m; it grows with range and grazing incidence."""
    pose_error: float
    """How far apart the scans are after registration; a hand-held scanner drifts by it from position to position."""
    mixed_pixels: float
    """Share of the rays at a depth edge that report a range between foreground and background."""
    reach: Range
    """The longest range."""
    blind_from: Range = (1.2, 1.45)
    """Radians below the horizon at which the tripod hides the floor."""
    views: int = 0
    """Pictures that a hand-held camera takes at each position; 0 for all directions from a tripod."""
    blur: Range = (0.0, 0.0)
    """Degrees to either side over which depths are smoothed, which rounds edges and removes small details."""
    bridged: Range = (0.0, 0.0)
    """The largest depth edge that is smoothed over, as a share of the depth; leaves sheets between near and far."""
    ripples: Range = (0.0, 0.0)
    """Height of the short bumps, 10 to 50 cm long, that are typical of fused depth images."""
    swell: Range = (0.0, 0.0)
    """Height of waves several metres long, which bend floors and make walls lean."""
    density: Range = (1.0, 1.0)
    """Factor on the edge of the cubes that keep one point each."""
    lost_ceiling: float = 0.05
    """Probability that the ceiling is missing."""
    equal_objects: float = 0.0
    """Probability that the number of points per object is limited, as in some published scans."""


SCANNERS: Mapping[str, Scanner] = MappingProxyType(
    {
        # depth cameras on a rotating tripod, with fused pictures: complete, smooth, even
        "panoramic": Scanner(
            ray_step=0.5,
            positions=(3, 7),
            area_each=4.5,
            eye_height=(1.2, 1.65),
            range_noise=(0.00005, 0.0004),
            pose_error=0.0006,
            mixed_pixels=0.0,
            reach=(8.0, 14.0),
            blur=(0.3, 1.2),
            bridged=(0.03, 0.25),
            swell=(0.0, 0.02),
            density=(1.0, 1.25),
            equal_objects=0.4,
        ),
        # a terrestrial laser scanner: shadows, density that falls with distance, mixed pixels
        "laser": Scanner(
            ray_step=0.4,
            positions=(1, 4),
            area_each=12.0,
            eye_height=(1.2, 1.9),
            range_noise=(0.0006, 0.003),
            pose_error=0.003,
            mixed_pixels=0.35,
            reach=(40.0, 60.0),
            blind_from=(0.9, 1.3),
            density=(0.7, 1.2),
        ),
        # a hand-held depth camera, fused while walking: bumps, holes, drift, few ceilings
        "handheld": Scanner(
            ray_step=0.8,
            positions=(2, 12),
            area_each=1.8,
            eye_height=(1.1, 1.65),
            range_noise=(0.0006, 0.002),
            pose_error=0.002,
            mixed_pixels=0.02,
            reach=(2.8, 5.0),
            views=5,
            blur=(0.3, 1.2),
            bridged=(0.02, 0.12),
            ripples=(0.0005, 0.003),
            swell=(0.005, 0.05),
            density=(1.25, 1.9),
            lost_ceiling=0.3,
        ),
    }
)

# how often each is drawn: panoramic, laser, handheld
SHARES_AT_WORK = (0.5, 0.25, 0.25)
SHARES_AT_HOME = (0.25, 0.15, 0.6)


def choose_scanner(rng: Generator, shares: Sequence[float], allowed: Sequence[str]) -> str:
    """Draw one of the allowed kinds, or of all three if ``allowed`` is empty, with the given shares."""
    names = [name for name in SCANNERS if not allowed or name in allowed]
    ends = np.cumsum([share for name, share in zip(SCANNERS, shares, strict=True) if name in names])
    return names[int(np.searchsorted(ends, rng.uniform(0, ends[-1])))]


def with_settings(scanner: Scanner, settings: RoomSettings) -> Scanner:
    """Return the scanner with the properties given in the settings."""
    given = {name: getattr(settings, name) for name in OVERRIDES}
    return replace(scanner, **{name: value for name, value in given.items() if value is not None})
