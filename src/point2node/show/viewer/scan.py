"""A scan as shown on a page: the points that are drawn, their positions, and the line that describes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from point2node.core.point_cloud import PointCloud
from point2node.geometry.frames import Placement, place
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labeller import Options
from point2node.show.shown_points import CEILING, cut_height

MOST_SHOWN = 300_000
"""Points that a browser draws smoothly without a dedicated graphics card."""

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Scan:
    """A cloud, its reading options, and the part of it that is drawn."""

    name: str
    """Its name on the page. It may come from a visitor, so it is never used as a path."""
    suffix: str
    """The suffix of its format, in which it is also saved."""
    cloud: PointCloud
    options: Options
    placement: Placement
    shown: Numbers
    """(S,) indices of the points that are drawn."""
    xyz: Floats
    """(S, 3) their drawn positions: metres, z up, floor at 0."""
    path: Path | None = None
    """The file that all visitors can choose; None for a visitor's upload."""

    @property
    def is_thinned(self) -> bool:
        """Whether fewer points are drawn than have a position."""
        return len(self.shown) < len(self.placement.numbers)

    def at(self, numbers: Numbers) -> Floats:
        """Return the drawn positions of points of the cloud, which must have a position."""
        return self.placement.xyz[np.searchsorted(self.placement.numbers, numbers)]


def place_scan(
    name: str, suffix: str, cloud: PointCloud, options: Options, path: Path | None = None, most: int = MOST_SHOWN
) -> Scan:
    """Place a cloud upright and choose at most ``most`` of its points, at random but always the same ones."""
    placement = place(cloud, options.scale_of(cloud), options.up, name)
    places = np.arange(len(placement.numbers))
    if len(places) > most:
        places = np.sort(np.random.default_rng(0).choice(len(places), most, replace=False))
    return Scan(name, suffix, cloud, options, placement, placement.numbers[places], placement.xyz[places], path)


LOWEST_ROOM = 1.8
"""Metres: anything lower is not a room, and is not cut until its labels show where the ceiling is."""


def describe(scan: Scan, labelled: LabelledCloud) -> str:
    """Return the line that stays on the page once a scan is labelled."""
    parts = [f"{scan.name}: {len(scan.cloud):,} points, labelled by the weights {labelled.weights!r}."]
    if scan.is_thinned:
        parts.append(f"{len(scan.shown):,} of them are drawn; all are labelled and saved.")
    lost = len(scan.cloud) - len(scan.placement.numbers)
    if lost:
        parts.append(f"{lost:,} have no position and no label.")
    if scan.options.scale not in (None, 1):
        parts.append(f"A unit of the file is taken as {scan.options.scale:g} m.")
    if labelled.protocol.get("colour") == "none":
        parts.append("The weights were trained with colours, which are missing here: expect more mistakes.")
    return " ".join(parts)


def name_of(labelled: LabelledCloud, point: int) -> str:
    """Return the name of a point's label."""
    return next((one.name for one in labelled.classes if one.value == labelled.labels[point]), "no label")


def first_cut(scan: Scan, labelled: LabelledCloud | None = None) -> tuple[float, float, float]:
    """Return the lowest and the highest height of a scan, and the initial height of the cut.

    If there are labels, they show where the ceiling is; the cut is then the same as on the page.
    """
    heights = scan.xyz[:, 2]
    low, high = float(heights.min()), float(heights.max())
    cut = cut_height(heights) if float(np.quantile(heights, 0.99)) > LOWEST_ROOM else high
    if labelled is not None:
        named = [place for place, one in enumerate(labelled.classes) if one.name.strip().lower() == CEILING]
        cut = cut_height(heights, heights[np.isin(labelled.places[scan.shown], named)]) or cut
    return low, high, high if cut is None else cut


def in_words(seconds: float) -> str:
    """Format a remaining time in seconds or minutes."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
