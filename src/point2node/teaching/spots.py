"""Where the next click tells most: segments in doubt, large enough to matter, unlike those that were corrected.

Points(segment) is N, its mean entropy H and its description d, a vector. The value of a click there is

    H · √N · (1 − max over corrected segments s of exp(−‖d − d_s‖² / 2)).

The first factor is what the network does not know, the second how much depends on it, the third keeps clicks from
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
"""Metres: segments so far apart are as different as a table top and a chair seat."""
SHAPE = 0.5
"""Metres: the same for heights and extents."""
LABEL = 1.0
"""How much it counts that two segments have different labels."""
SEEN, DONE = 0.05, 0.5
"""Shares of a segment: with more corrected points a person has looked at it, or has nothing left to say of it."""
LAST = 1e-9
"""Factor on the value of a segment that a person has passed by."""
FEWEST = 20
"""Points: smaller segments are not worth a click unless there are no others."""


@dataclass(frozen=True, eq=False)
class Spot:
    """A place to click at."""

    point: int
    """Index of the uncorrected point of the segment that is nearest to their middle."""
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
    """The most informative segment of which no more than half is corrected; None where there is none.

    Args:
        xyz: (N, 3) in metres, z up.
        segments: (N,) from 0 without gaps.
        entropy: (N,) from 0, sure, to 1.
        labels: (N,) any numbers that stand for classes.
        corrected: (N,) which points a person has labelled.
        passed: segments that were pointed out before and left as they were; they come after all others.
    """
    if not len(xyz):
        return None
    count = np.bincount(segments)
    share = np.bincount(segments, corrected) / count
    done = share > DONE
    if done.all():
        return None
    values = np.bincount(segments, entropy) / count * np.sqrt(count)
    values = np.maximum(values, 1e-12 * count)  # where nothing is in doubt, the largest
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
    """(S, D): what each segment is like: size, heights, extents, slope, place and commonest label."""
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
    """(S,): from 0, the same as a corrected segment, to 1, like none of them."""
    unlike = np.ones(len(described))
    for one in described[done]:
        unlike = np.minimum(unlike, 1 - np.exp(-((described - one) ** 2).sum(axis=1) / 2))
    return unlike
