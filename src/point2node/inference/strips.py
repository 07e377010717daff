"""Clouds that do not fit into memory: plan their memory before labelling starts, and cut them into strips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.memory import held_memory, in_gigabytes, memory_limit
from point2node.inference.asking import NODES_AT_ONCE

Numbers = NDArray[np.int64]
MOST_STRIPS = 10_000
SMALL = 1 << 20
"""Points that take a few minutes to label: at most this much work is lost if the process is stopped."""
MOST_WORK = 1.25
"""Labelled points, margins included, per point of the cloud: small strips may not cost more than this."""


@dataclass(frozen=True, eq=False)
class Strips:
    """A cloud cut into strips along its longer side, each with a margin."""

    along: NDArray[np.float32]
    """(N,) the coordinate of each point along that side."""
    edges: tuple[float, ...]
    """The borders of the strips; no strip is empty."""
    margin: float

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __iter__(self) -> Iterator[tuple[Numbers, Numbers]]:
        """For each strip, yield the indices of its points, margin included, and the positions in that list of the
        points inside the strip. Every point is inside exactly one strip.
        """
        for low, high in pairwise(self.edges):
            strip = np.flatnonzero((self.along >= low - self.margin) & (self.along < high + self.margin))
            yield strip, np.flatnonzero((self.along[strip] >= low) & (self.along[strip] < high))

    @property
    def sizes(self) -> Numbers:
        """The number of points in each strip, margin included."""
        return _sizes(np.sort(self.along), self.edges, self.margin)


def cut_strips(xyz: NDArray[np.float32], most_points: int, margin: float) -> Strips:
    """Cut a cloud into as few strips as possible of at most ``most_points`` points each, margins included.

    The strips have about the same number of points; a margin of a block's side contains the whole surroundings of
    these. Raises InputError if even the narrowest strip has more points.
    """
    strips = _widest_strips(_longer_side(xyz), most_points, margin)
    if (largest := int(strips.sizes.max())) > most_points:
        raise InputError(
            "--memory",
            expected=f"room for {largest:,} points at once: the narrowest strip with its surroundings has this many",
            found=f"room for {most_points:,}",
            remedy="Allow more, or thin the cloud with --thin 0.02.",
        )
    return strips


def cut_small_strips(xyz: NDArray[np.float32], most_points: int, margin: float) -> Strips:
    """Cut small strips, for work that may be stopped at any time; larger ones if margins would cost too much.

    The strips do not depend on the available memory as long as it is enough for them.
    """
    along, size = _longer_side(xyz), SMALL
    while size < min(most_points, len(xyz)):
        strips = _widest_strips(along, size, margin)
        if strips.sizes.max() <= size and strips.sizes.sum() <= MOST_WORK * len(xyz):
            return strips
        size *= 2
    return cut_strips(xyz, most_points, margin)


def _longer_side(xyz: NDArray[np.float32]) -> NDArray[np.float32]:
    return xyz[:, int(np.argmax(np.ptp(xyz[:, :2], axis=0)))]


def _widest_strips(along: NDArray[np.float32], most_points: int, margin: float) -> Strips:
    """Cut as few strips as possible of at most ``most_points`` points; failing that, with the smallest maximum."""
    best, fewest = Strips(along, (-np.inf, np.inf), margin), len(along)
    count, ordered = -(-len(along) // max(most_points, 1)), np.sort(along)
    while count <= MOST_STRIPS:
        places = np.linspace(0, len(along) - 1, count + 1)[1:-1].round().astype(np.int64)
        inner = np.unique(ordered[places]).astype(np.float64)
        strips = Strips(along, (-np.inf, *inner[inner > ordered[0]].tolist(), np.inf), margin)
        largest = int(_sizes(ordered, strips.edges, margin).max())
        if largest <= most_points:
            return strips
        if largest < fewest:
            best, fewest = strips, largest
        count += max(1, count // 4)
    return best


def _sizes(ordered: NDArray[np.float32], edges: tuple[float, ...], margin: float) -> Numbers:
    """Count the points (sorted coordinates) between each two edges and within a margin of them."""
    ends = np.array(edges)
    return np.searchsorted(ordered, ends[1:] + margin) - np.searchsorted(ordered, ends[:-1] - margin)


KEPT_PER_POINT = 64
"""Bytes per point of the cloud, without the cloud itself: local coordinates, index, label and certainty."""
CUT_PER_POINT = 160
"""Bytes per point of a strip, without votes: coordinates, blocks at two offsets with repeated points, and the sorting
that cuts them."""
KNOWN_PER_POINT = 48
"""Bytes per labelled point that others are interpolated from, without probabilities: coordinates and search tree."""
TURNED_PER_POINT = 32
"""Bytes per point of the cloud and rotation: coordinates and the index of its cell."""
PER_NODE = 24_000
"""Bytes that a network holds at a time per node of a batch: measured 17 kB for the paper's widest network, 20 kB for
DGCNN."""
FEWEST_AT_ONCE = 100_000
"""Points of the smallest strip: below that, margins are most of the work."""


@dataclass(frozen=True)
class Plan:
    """The planned use of memory."""

    points_at_once: int
    """Points in one strip with its margins."""
    needed: int
    """Bytes in addition to what the process already holds."""
    limit: int


@dataclass(frozen=True)
class Demand:
    """The work to plan memory for."""

    points: int
    """The number of points of the cloud."""
    chosen: int
    """How many of them the network labels; the others are interpolated from their probabilities, which are kept."""
    classes: int
    nodes: int = 0
    """Nodes of the largest batch, if it is larger than those of labelling."""
    scenes: int = 1
    """How many rotations of the cloud are labelled."""
    copies: int = 1
    """How many copies of the probabilities of a strip's points are held at a time."""


def plan_memory(demand: Demand, limit: int | None = None) -> Plan:
    """Plan strips as large as fit into ``limit`` bytes for the whole process, by default what it holds plus 60 % of the
    free memory. Raises InputError if not even the smallest strip fits.
    """
    held, limit = held_memory(), memory_limit(limit)
    kept = KEPT_PER_POINT + (demand.scenes - 1) * TURNED_PER_POINT
    fixed = demand.points * kept + max(torch.get_num_threads() * NODES_AT_ONCE, demand.nodes) * PER_NODE
    if demand.chosen < demand.points:
        fixed += demand.chosen * (KNOWN_PER_POINT + 4 * demand.classes)
    per_point = CUT_PER_POINT + 4 * (demand.classes + 1) * demand.copies
    room = limit - held - fixed
    at_once = min(demand.chosen, room // per_point)
    fewest = min(demand.chosen, FEWEST_AT_ONCE)
    if at_once < fewest:
        raise InputError(
            "--memory",
            expected=f"at least {in_gigabytes(held + fixed + fewest * per_point)} for {demand.points:,} points",
            found=in_gigabytes(limit),
            remedy="Allow more, thin the cloud with --thin 0.02, or cut it into parts.",
        )
    return Plan(int(at_once), fixed + int(at_once) * per_point, limit)
