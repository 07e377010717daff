"""How often and where a network looks at a cloud: the looks of each quality, and which blocks are worth another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.geometry.neighbours import interpolate
from point2node.inference.votes import Votes, pieces

Numbers = NDArray[np.int64]
Quality = Literal["fast", "balanced", "best"]
QUALITIES: tuple[Quality, ...] = get_args(Quality)
DEFAULT: Quality = "balanced"

TURNS = (0.0, 30.0, 60.0, 45.0, 15.0, 75.0)
"""Degrees by which a cloud is turned for each vote: blocks and cells then lie differently on the same walls."""
OFFSETS = (0.0, 0.5)
"""Where the blocks of each vote start, in sides of a block: what is at the edge of one is in the middle of another."""
VOTES = 2
"""How often weights are asked that know a cloud however it is turned, unless told otherwise; others are asked once."""
SHARE = 0.5
"""Of the groups of a block, how many a look asks about where not all are asked."""
UNSURE = 0.5
"""A point whose two likeliest classes differ by less in probability is unsure."""
WORTH_ANOTHER = 0.03
"""The share of unsure points from which on a block is looked at again."""


@dataclass(frozen=True)
class Look:
    """One way to cut a cloud into blocks, and what of them the network is asked about."""

    degrees: float = 0.0
    """By how much the cloud is turned about the vertical."""
    offset: float = 0.0
    """Where blocks start, in sides of a block."""
    votes: int = 1
    """How often each point is asked about."""
    share: float = 1.0
    """Of each block, how many of its groups are asked about; the other points are interpolated from these."""
    everywhere: bool = True
    """Otherwise only at blocks that earlier looks left unsure."""


def looks_of(quality: Quality, votes: int | None, *, turns: bool, every_point: bool) -> tuple[Look, ...]:
    """The looks at a cloud, one after the other.

    ``best``: every point at two offsets, for each vote. ``balanced``: the same looks at a share of the points, all but
    the first only where the answer is unsure. ``fast``: the first of these alone.

    Args:
        quality: which; ``best`` if ``votes`` are given.
        votes: how often each point is labelled at each offset; None for as often as the weights gain from.
        turns: whether the weights know a cloud however it is turned; then it is turned otherwise for each vote.
        every_point: whether the network has to be asked about every point in each look.
    """
    if votes is not None:
        quality = "best"
    else:
        votes = VOTES if turns else 1
    rounds = [(TURNS[vote % len(TURNS)], 1) for vote in range(votes)] if turns else [(0.0, votes)]
    first, *further = (Look(degrees, offset, often) for degrees, often in rounds for offset in OFFSETS)
    if quality == "best":
        return first, *further
    share = 1.0 if every_point else SHARE
    first = replace(first, share=share)
    if quality == "fast":
        return (first,)
    return first, *(replace(look, share=share, everywhere=False) for look in further)


def worth_another(blocks: Sequence[Numbers], votes: Votes) -> list[Numbers]:
    """The blocks of which the votes so far leave a notable share of points unsure."""
    unsure = np.empty(len(votes.seen), bool)
    for piece in pieces(len(unsure)):
        probabilities = votes.probabilities_of(np.arange(piece.start, piece.stop))
        likeliest = probabilities.topk(min(2, probabilities.shape[1]), dim=1).values
        unsure[piece] = (likeliest[:, 0] - likeliest[:, -1] < UNSURE).numpy()
    return [block for block in blocks if unsure[block].mean() >= WORTH_ANOTHER]


def groups_asked(block: Numbers, points: int, look: Look) -> int:
    """How many groups of ``points`` a look asks about in a block."""
    return math.ceil(look.share * -(-look.votes * len(block) // points))


def add_interpolated(votes: Votes, found: Votes, xyz: NDArray[np.float32], blocks: Sequence[Numbers]) -> None:
    """Add one vote for each point of the blocks: what was found of it, or interpolated from those around it."""
    inside = np.unique(np.concatenate(blocks))
    seen = found.seen[inside]
    known, others = inside[seen], inside[~seen]
    probabilities = found.probabilities_of(known)
    votes.add(known, probabilities)
    places = torch.from_numpy(xyz)
    for piece, values in interpolate(places[torch.from_numpy(known)], probabilities, places[torch.from_numpy(others)]):
        votes.add(others[piece], values)
