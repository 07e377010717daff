"""How often and where a network looks at a cloud: the looks of each quality, and which blocks get another look."""

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
"""Degrees by which a cloud is turned for each vote, so that blocks and cells lie differently on the same walls."""
OFFSETS = (0.0, 0.5)
"""The offsets of each vote's blocks, in sides of a block: points at the edge of one are in the middle of another."""
VOTES = 2
"""The default number of votes of weights that recognise a cloud in any rotation; others vote once."""
SHARE = 0.5
"""The share of a block's groups that a look runs, if it does not run all of them."""
UNSURE = 0.5
"""A point is unsure if the probabilities of its two most likely classes differ by less than this."""
LEAST_UNSURE = 0.03
"""The share of unsure points from which a block gets another look."""


@dataclass(frozen=True)
class Look:
    """One way to cut a cloud into blocks, and the part of them that the network is run on."""

    degrees: float = 0.0
    """The angle by which the cloud is turned about the vertical."""
    offset: float = 0.0
    """The offset of the blocks, in sides of a block."""
    votes: int = 1
    """How often each point is labelled."""
    share: float = 1.0
    """The share of each block's groups that are run; the other points are interpolated from these."""
    everywhere: bool = True
    """Whether all blocks are looked at; otherwise only those that earlier looks left unsure."""


def looks_of(quality: Quality, votes: int | None, *, turns: bool, every_point: bool) -> tuple[Look, ...]:
    """Return the looks at a cloud, in order.

    ``best``: every point at two offsets, for each vote. ``balanced``: the same looks at a share of the points, after
    the first one only at unsure blocks. ``fast``: only the first of these.

    Args:
        quality: the quality; ``best`` if ``votes`` are given.
        votes: how often each point is labelled at each offset; None for the default of the weights.
        turns: whether the weights recognise a cloud in any rotation; then it is turned differently for each vote.
        every_point: whether each look must run the network on every point.
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


def unsure_blocks(blocks: Sequence[Numbers], votes: Votes) -> list[Numbers]:
    """Return the blocks in which the votes so far leave a notable share of points unsure."""
    unsure = np.empty(len(votes.seen), bool)
    for piece in pieces(len(unsure)):
        probabilities = votes.probabilities_of(np.arange(piece.start, piece.stop))
        highest = probabilities.topk(min(2, probabilities.shape[1]), dim=1).values
        unsure[piece] = (highest[:, 0] - highest[:, -1] < UNSURE).numpy()
    return [block for block in blocks if unsure[block].mean() >= LEAST_UNSURE]


def count_groups(block: Numbers, points: int, look: Look) -> int:
    """Return how many groups of ``points`` points a look runs in a block."""
    return math.ceil(look.share * -(-look.votes * len(block) // points))


def add_interpolated(votes: Votes, found: Votes, xyz: NDArray[np.float32], blocks: Sequence[Numbers]) -> None:
    """Add one vote for each point of the blocks: its probabilities in ``found``, or interpolated from neighbours."""
    inside = np.unique(np.concatenate(blocks))
    seen = found.seen[inside]
    known, others = inside[seen], inside[~seen]
    probabilities = found.probabilities_of(known)
    votes.add(known, probabilities)
    places = torch.from_numpy(xyz)
    for piece, values in interpolate(places[torch.from_numpy(known)], probabilities, places[torch.from_numpy(others)]):
        votes.add(others[piece], values)
