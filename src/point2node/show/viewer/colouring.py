"""The colours in which points are drawn."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from point2node.inference.labelled import LabelledCloud
from point2node.show.colours import class_colours, ramp
from point2node.show.viewer.scan import Scan

Colours = NDArray[np.uint8]
Values = NDArray[np.floating]

PAPER = 246
"""The grey that points fade to; nearly the background."""
LEAST_SPAN = 10.0
"""The colours of a row span at least this factor from dark to bright, so that an even row looks even."""
MOST_SPAN = 1000.0


def fade(colours: Colours, share: float) -> Colours:
    """Fade colours, keeping ``share`` of them."""
    return np.round(PAPER + share * (colours.astype(np.float64) - PAPER)).astype(np.uint8)


def row_shares(row: Values) -> tuple[NDArray[np.float64], float, float]:
    """Scale a row of weights logarithmically to 0 to 1; also returns the weights at both ends."""
    high = float(row.max())
    low = min(max(float(np.quantile(row, 0.02)), high / MOST_SPAN), high / LEAST_SPAN)
    return np.log(np.maximum(row.astype(np.float64), low) / low) / np.log(high / low), low, high


def by_class(scan: Scan, labelled: LabelledCloud) -> Colours:
    """Colour by label."""
    return class_colours(labelled.places[scan.shown], np.array([one.colour for one in labelled.classes], np.uint8))


def by_rgb(scan: Scan, labelled: LabelledCloud | None) -> Colours:
    """Colour by the scan's own colours, or by height if it has none."""
    rgb = scan.cloud.rgb
    return by_height(scan, labelled) if rgb is None else np.asarray(rgb)[scan.shown]


def by_height(scan: Scan, labelled: LabelledCloud | None) -> Colours:
    """Colour by height above the floor."""
    heights = scan.xyz[:, 2]
    low, high = np.quantile(heights, (0.01, 0.99))
    return ramp("height", (heights - low) / max(float(high - low), 1e-6))


def by_confidence(scan: Scan, labelled: LabelledCloud) -> Colours:
    """Colour by the probability of the label: red where the network guesses."""
    return ramp("confidence", labelled.confidence[scan.shown])


def by_entropy(scan: Scan, labelled: LabelledCloud) -> Colours:
    """Colour by entropy: red where several classes are likely."""
    return ramp("entropy", labelled.entropy[scan.shown])


BEFORE_LABELS: MappingProxyType[str, Callable[[Scan, LabelledCloud | None], Colours]] = MappingProxyType(
    {"colour of the scan": by_rgb, "height": by_height}
)
"""Ways to colour that need no labels."""
WITH_LABELS: MappingProxyType[str, Callable[[Scan, LabelledCloud], Colours]] = MappingProxyType(
    {"class": by_class, "confidence": by_confidence, "entropy": by_entropy}
)
MEANINGS = MappingProxyType(
    {
        "class": "each point in the colour of its class",
        "colour of the scan": "the colours that the scanner saw",
        "height": "height above the floor: dark is low, yellow is high",
        "confidence": "probability of the label: red is a guess, blue is sure",
        "entropy": "doubt between classes: blue is decided, red is undecided",
    }
)


def ways(scan: Scan, labelled: LabelledCloud | None) -> tuple[str, ...]:
    """Return the ways to colour a scan, the best first."""
    own = tuple(name for name in BEFORE_LABELS if scan.cloud.rgb is not None or name != "colour of the scan")
    return own if labelled is None else ("class", *own, "confidence", "entropy")


def paint(scan: Scan, labelled: LabelledCloud | None, way: str) -> Colours:
    """Return the colours of the drawn points, (S, 3)."""
    if labelled is not None and way in WITH_LABELS:
        return WITH_LABELS[way](scan, labelled)
    return BEFORE_LABELS.get(way, by_rgb)(scan, labelled)
