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
