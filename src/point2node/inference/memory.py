"""How much memory labelling a cloud takes, planned before it starts."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from point2node.core.errors import InputError
from point2node.core.memory import held_memory, in_gigabytes, memory_limit
from point2node.inference.asking import NODES_AT_ONCE

KEPT_PER_POINT = 64
"""Bytes of each point of the cloud beside the cloud itself: its local coordinates, number, label and certainty."""
CUT_PER_POINT = 160
"""Bytes of each point of a strip: coordinates, blocks at two offsets with repeated points, the sorting that cuts them;
votes come on top."""
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


def plan_memory(
    points: int, chosen: int, classes: int, limit: int | None = None, nodes: int = 0, *, smooth: bool = False
) -> Plan:
    """Strips as large as fit; refused where not even the smallest does.

    Args:
        points: of the cloud.
        chosen: how many of them the network labels.
        classes: how many it knows.
        limit: bytes for the whole process; by default what it holds plus 60 % of what is free.
        nodes: of a batch that is larger than those of labelling, if there is one.
        smooth: whether probabilities are averaged over surfaces, which takes three copies of them.
    """
    held, limit = held_memory(), memory_limit(limit)
    fixed = points * KEPT_PER_POINT + max(torch.get_num_threads() * NODES_AT_ONCE, nodes) * PER_NODE
    per_point = CUT_PER_POINT + 4 * (classes + 1) * (4 if smooth else 1)
    room = limit - held - fixed
    at_once = min(chosen, room // per_point)
    if at_once < min(chosen, FEWEST_AT_ONCE):
        least = held + fixed + min(chosen, FEWEST_AT_ONCE) * per_point
        raise InputError(
            "--memory",
            expected=f"at least {in_gigabytes(least)} for {points:,} points",
            found=in_gigabytes(limit),
            remedy="Allow more, thin the cloud with --thin 0.02, or cut it into parts.",
        )
    return Plan(int(at_once), fixed + int(at_once) * per_point, limit)
