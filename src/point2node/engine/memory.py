"""How much memory labelling a cloud takes, planned before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

from point2node.core.errors import InputError
from point2node.engine.asking import NODES_AT_ONCE

FREE_SHARE = 0.6
CONTAINER = Path("/sys/fs/cgroup")
"""Where Linux tells a process in a container what it may use."""
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
    held = psutil.Process().memory_info().rss
    if limit is None:
        limit = held + int(FREE_SHARE * free_memory())
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


def free_memory(container: Path = CONTAINER) -> int:
    """Bytes that can still be taken: of the machine, or of the container that we are in, whichever has fewer."""
    free = psutil.virtual_memory().available
    try:
        allowed = int((container / "memory.max").read_text(encoding="ascii"))  # "max": as much as the machine has
        used = int((container / "memory.current").read_text(encoding="ascii"))
        counted = dict(line.split() for line in (container / "memory.stat").read_text(encoding="ascii").splitlines())
        idle = int(counted["inactive_file"])  # files kept in memory until something else needs it
    except (OSError, ValueError, KeyError):  # no container, or one without a limit
        return free
    return min(free, max(0, allowed - used + idle))


def in_gigabytes(size: int) -> str:
    """A size as people read it."""
    return f"{size / 1e9:.1f} GB"
