"""Clouds that do not fit into memory: planned before labelling starts, and cut into strips."""

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
"""Points that are labelled in some minutes, which are lost when work is stopped."""
MOST_WORK = 1.25
"""How often a point may be labelled, as its strip's own and in margins, for strips to be small."""


@dataclass(frozen=True, eq=False)
class Strips:
    """A cloud in strips across its longer side, with what lies within a margin of each."""

    along: NDArray[np.float32]
    """(N,) where each point lies along that side."""
    edges: tuple[float, ...]
    """Where strips begin and end; none is empty."""
    margin: float

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __iter__(self) -> Iterator[tuple[Numbers, Numbers]]:
        """For each strip the numbers of its points, margin included, and the places in that list of those that are its
        own. Every point is a strip's own once.
        """
        for low, high in pairwise(self.edges):
            strip = np.flatnonzero((self.along >= low - self.margin) & (self.along < high + self.margin))
            yield strip, np.flatnonzero((self.along[strip] >= low) & (self.along[strip] < high))

    @property
    def sizes(self) -> Numbers:
        """How many points each holds, margin included."""
        return _sizes(np.sort(self.along), self.edges, self.margin)


def cut_strips(xyz: NDArray[np.float32], most_points: int, margin: float) -> Strips:
    """As few strips as hold no more than ``most_points`` each: refused where the margins alone are more.

    They have about equally many points of their own; with a margin of a block's side, the surroundings of these are
    whole.
    """
    strips = _widest_strips(_longer_side(xyz), most_points, margin)
    if (largest := int(strips.sizes.max())) > most_points:
        raise InputError(
            "--memory",
            expected=f"room for {largest:,} points at once: so many lie in the narrowest strip with its surroundings",
            found=f"room for {most_points:,}",
            remedy="Allow more, or thin the cloud with --thin 0.02.",
        )
    return strips


def cut_small_strips(xyz: NDArray[np.float32], most_points: int, margin: float) -> Strips:
    """Strips for work that may be stopped at any time: small, unless too much of the work would be that of margins.

    However much memory there is, they are the same, as long as it is enough for them.
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
    """As few strips as hold no more than so many points each; where none do, those whose largest holds fewest."""
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
    """The number of points, which lie at ``ordered`` places, between edges and within a margin of them."""
    ends = np.array(edges)
    return np.searchsorted(ordered, ends[1:] + margin) - np.searchsorted(ordered, ends[:-1] - margin)


KEPT_PER_POINT = 64
"""Bytes of each point of the cloud beside the cloud itself: its local coordinates, number, label and certainty."""
CUT_PER_POINT = 160
"""Bytes of each point of a strip: coordinates, blocks at two offsets with repeated points, the sorting that cuts them;
votes come on top."""
KNOWN_PER_POINT = 48
"""Bytes of each labelled point from which others are interpolated: its coordinates, and its place in the search tree;
probabilities come on top."""
TURNED_PER_POINT = 32
"""Bytes of each point of the cloud for each time that it is turned: coordinates, and which cell it lies in."""
PER_NODE = 24_000
"""Bytes that a network holds for each node of a batch at a time: 17 kB were measured for the paper's widest, 20 kB for
DGCNN."""
FEWEST_AT_ONCE = 100_000
"""Points of the smallest strip: below it, margins are most of the work."""


@dataclass(frozen=True)
class Plan:
    """What will be held."""

    points_at_once: int
    """Points in one strip with its margins."""
    needed: int
    """Bytes, beside what the process holds already."""
    limit: int


@dataclass(frozen=True)
class Demand:
    """What is to be labelled."""

    points: int
    """Of the cloud."""
    chosen: int
    """How many of them the network labels; the others are interpolated, from probabilities that are kept till then."""
    classes: int
    nodes: int = 0
    """Of a batch that is larger than those of labelling, if there is one."""
    scenes: int = 1
    """How many forms of the cloud, turned differently, are labelled."""
    copies: int = 1
    """How often the probabilities of a strip's points are held at a time."""


def plan_memory(demand: Demand, limit: int | None = None) -> Plan:
    """Strips as large as fit into ``limit`` bytes for the whole process, by default what it holds plus 60 % of what is
    free; refused where not even the smallest does.
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
