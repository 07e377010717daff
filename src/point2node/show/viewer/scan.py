"""A scan as a page shows it: which of its points, and where they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from point2node.core.point_cloud import PointCloud
from point2node.geometry.placement import Placement, place
from point2node.inference.labeller import Options

MOST_SHOWN = 300_000
"""Points that a browser draws smoothly without a graphics card of note."""

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Scan:
    """A cloud, how it is read, and the part of it that is drawn."""

    name: str
    """What it is called on the page. It may come from a visitor: data, never a path."""
    suffix: str
    """The format that it came in, and is saved in."""
    cloud: PointCloud
    options: Options
    placement: Placement
    shown: Numbers
    """(S,) numbers of the points that are drawn."""
    xyz: Floats
    """(S, 3) where they are drawn: metres, z up, floor at 0."""
    path: Path | None = None
    """The file that all visitors can choose; None for a visitor's own."""

    @property
    def is_thinned(self) -> bool:
        """Whether fewer points are drawn than have a position."""
        return len(self.shown) < len(self.placement.numbers)

    def at(self, numbers: Numbers) -> Floats:
        """Where any points of the cloud are drawn; they must have a position."""
        return self.placement.xyz[np.searchsorted(self.placement.numbers, numbers)]


def place_scan(
    name: str, suffix: str, cloud: PointCloud, options: Options, path: Path | None = None, most: int = MOST_SHOWN
) -> Scan:
    """Place a cloud upright and choose at most ``most`` of its points, at random and always the same ones."""
    placement = place(cloud, options.scale_of(cloud), options.up, name)
    places = np.arange(len(placement.numbers))
    if len(places) > most:
        places = np.sort(np.random.default_rng(0).choice(len(places), most, replace=False))
    return Scan(name, suffix, cloud, options, placement, placement.numbers[places], placement.xyz[places], path)
