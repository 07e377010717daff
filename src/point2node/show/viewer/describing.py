"""Words and figures about a scan for its page."""

from __future__ import annotations

import numpy as np

from point2node.inference.labelled import LabelledCloud
from point2node.show.viewer.scan import Scan

BELOW_TOP = 0.35
"""Metres below the top at which a scan is cut at first, so that one looks into a room and not at its ceiling."""
LOWEST_ROOM = 1.8
"""Metres: what is lower is no room, and not cut at first."""


def describe(scan: Scan, labelled: LabelledCloud) -> str:
    """The line that stays on the page once a scan is labelled."""
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
    """What the label of a point is called."""
    return next((one.name for one in labelled.classes if one.value == labelled.labels[point]), "no label")


def first_cut(scan: Scan) -> tuple[float, float, float]:
    """The lowest and the highest height of a scan, and the one above which it is cut at first."""
    low, high = float(scan.xyz[:, 2].min()), float(scan.xyz[:, 2].max())
    top = float(np.quantile(scan.xyz[:, 2], 0.99))
    return low, high, top - BELOW_TOP if top > LOWEST_ROOM else high


def in_words(seconds: float) -> str:
    """A time that is left, as people say it."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
