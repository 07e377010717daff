"""Where the next click is worth most: uncertain segments, large enough to matter, unlike those already corrected.

For a segment of N points with mean entropy H and a descriptor d, a vector, the value of a click is

    H · √N · (1 − max over corrected segments s of exp(−‖d − d_s‖² / 2)).

The first factor is how uncertain the network is, the second how much depends on it, and the third keeps clicks from
piling up on things that look alike.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from point2node.geometry.surroundings import measure_segments

Floats = NDArray[np.floating]
Indices = NDArray[np.int64]

PLACE = 3.0
"""Metres: segments this far apart differ as much as a table top and a chair seat do."""
SHAPE = 0.5
"""Metres: the same for heights and extents."""
LABEL = 1.0
"""How much different labels of two segments count."""
SEEN, DONE = 0.05, 0.5
"""Shares of corrected points above which a segment counts as looked at, and as finished."""
LAST = 1e-9
"""Factor on the value of a segment that was skipped before."""
FEWEST = 20
"""Points: smaller segments are suggested only if there are no others."""


@dataclass(frozen=True, eq=False)
class Spot:
    """A suggested place to click."""

    point: int
    """Index of the uncorrected point of the segment that is nearest to the median of these points."""
    segment: int
    value: float


def best_spot(
    xyz: Floats,
    segments: Indices,
    entropy: Floats,
    labels: NDArray[np.integer],
    corrected: NDArray[np.bool_],
    passed: Collection[int] = (),
) -> Spot | None:
    """Return the most informative segment that is corrected by half at most; None if there is none.

    Args:
        xyz: (N, 3) in metres, z up.
        segments: (N,) from 0 without gaps.
        entropy: (N,) from 0 (certain) to 1.
        labels: (N,) class labels, any integers.
        corrected: (N,) whether each point was corrected by hand.
        passed: segments that were suggested before and skipped; they come after all others.
    """
    if not len(xyz):
        return None
    count = np.bincount(segments)
    share = np.bincount(segments, corrected) / count
    done = share > DONE
    if done.all():
        return None
    values = np.bincount(segments, entropy) / count * np.sqrt(count)
    values = np.maximum(values, 1e-12 * count)  # if nothing is uncertain, take the largest
    values *= _unlike(describe_segments(xyz, segments, labels), share > SEEN)
    values[list(passed)] *= LAST
    values[(count < FEWEST) & ((count >= FEWEST) & ~done).any()] = 0
    values[done] = -1
    best = int(np.argmax(values))
    members = np.flatnonzero((segments == best) & ~corrected)
    middle = np.median(xyz[members], axis=0)
    nearest = members[np.argmin(((xyz[members] - middle) ** 2).sum(axis=1))]
    return Spot(int(nearest), best, float(values[best]))


def describe_segments(xyz: Floats, segments: Indices, labels: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return a descriptor of each segment (S, D): size, heights, extents, slope, position and most frequent label."""
    count = np.bincount(segments)
    _, first = np.unique(segments, return_index=True)
    shape = measure_segments(np.asarray(xyz, np.float64), segments)[first]
    shape[:, 1:6] /= SHAPE
    place = np.stack([np.bincount(segments, xyz[:, axis]) for axis in range(3)], axis=1) / count[:, None] / PLACE
    values, number = np.unique(labels, return_inverse=True)
    votes = np.zeros((len(count), len(values)))
    np.add.at(votes, (segments, number.reshape(-1)), 1)
    label = LABEL * np.eye(len(values))[votes.argmax(axis=1)]
    return np.concatenate([shape, place, label], axis=1)


def _unlike(described: NDArray[np.float64], done: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how different each segment is from all corrected ones (S,): 0 is the same as one, 1 is like none."""
    unlike = np.ones(len(described))
    for one in described[done]:
        unlike = np.minimum(unlike, 1 - np.exp(-((described - one) ** 2).sum(axis=1) / 2))
    return unlike
