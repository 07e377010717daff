"""A scene too large for the memory, cut into strips that are labelled one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError

Numbers = NDArray[np.int64]
MOST_STRIPS = 10_000


def cut_strips(xyz: NDArray[np.float32], most_points: int, margin: float) -> Iterator[tuple[Numbers, Numbers]]:
    """For each strip the numbers of its points, margin included, and the places in that list of those that are its
    own. Every point is a strip's own once. Strips lie across the longer side and have about equally many points of
    their own; with a margin of a block's side, the surroundings of these are whole. No strip holds more than
    ``most_points``: refused where the margins alone are more.
    """
    if len(xyz) <= most_points:
        everything = np.arange(len(xyz))
        yield everything, everything
        return
    along = xyz[:, int(np.argmax(np.ptp(xyz[:, :2], axis=0)))]
    for low, high in pairwise(_edges(np.sort(along), most_points, margin)):
        strip = np.flatnonzero((along >= low - margin) & (along < high + margin))
        inside = np.flatnonzero((along[strip] >= low) & (along[strip] < high))
        if len(inside):
            yield strip, inside


def _edges(along: NDArray[np.float32], most_points: int, margin: float) -> list[float]:
    """Where to cut sorted places so that no strip with its margins holds too many; as few strips as do that."""
    strips, fewest = -(-len(along) // max(most_points, 1)), len(along)
    while strips <= MOST_STRIPS:
        places = np.linspace(0, len(along) - 1, strips + 1)[1:-1].round().astype(np.int64)
        edges = np.concatenate([[-np.inf], np.unique(along[places]).astype(np.float64), [np.inf]])
        held = np.searchsorted(along, edges[1:] + margin) - np.searchsorted(along, edges[:-1] - margin)
        fewest = min(fewest, int(held.max()))
        if fewest <= most_points:
            return edges.tolist()
        strips += max(1, strips // 4)
    raise InputError(
        "--memory",
        expected=f"room for {fewest:,} points at once: so many lie in the narrowest strip with its surroundings",
        found=f"room for {most_points:,}",
        remedy="Allow more, or thin the cloud with --thin 0.02.",
    )
