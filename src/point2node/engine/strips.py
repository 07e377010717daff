"""A scene too large for the memory, cut into strips that are labelled one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def cut_strips(xyz: NDArray[np.float32], most_points: int, margin: float) -> Iterator[tuple[Numbers, Numbers]]:
    """For each strip the numbers of its points, margin included, and the places in that list of those that are its
    own. Every point is a strip's own once. Strips lie across the longer side and have about equally many points; with
    a margin of a block's side, the surroundings of a strip's own points are whole.
    """
    strips = -(-len(xyz) // max(most_points, 1))
    if strips <= 1:
        everything = np.arange(len(xyz))
        yield everything, everything
        return
    extent = np.ptp(xyz[:, :2], axis=0)
    along = xyz[:, int(np.argmax(extent))]
    bounds = np.unique(np.quantile(along, np.linspace(0, 1, strips + 1)[1:-1]))
    edges = [-np.inf, *bounds.tolist(), np.inf]
    for low, high in pairwise(edges):
        strip = np.flatnonzero((along >= low - margin) & (along < high + margin))
        inside = np.flatnonzero((along[strip] >= low) & (along[strip] < high))
        if len(inside):
            yield strip, inside
