"""The input of a network's last layers for each point of a scan: computed once, so that learning takes seconds.

Only the last layers learn from clicks. The layers before them are run once for each scan, on the same groups of points
as in labelling; after that, every round of learning takes seconds on a CPU.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.batches import Batch
from point2node.geometry.blocks import cut_blocks, voting_groups, widen
from point2node.geometry.frames import Placement, place
from point2node.geometry.sampling import grid_sampling
from point2node.inference.asking import answers, ask_outputs
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.looks import OFFSETS
from point2node.inference.votes import SceneInput, Votes, scene_batch
from point2node.models.network import Network
from point2node.teaching.corrections import Corrections

Indices = NDArray[np.int64]
Report = Callable[[float], None]
"""Called with the share that is done, from 0 to 1."""

MOST_GROUPS = 128
"""Groups of points of one scan to learn from: all groups of a room, or a part of those of a building."""


@dataclass(frozen=True, eq=False)
class TaughtScan:
    """A scan with its corrections and the options it is read with."""

    name: str
    cloud: PointCloud
    corrections: Corrections
    options: Options


@dataclass(frozen=True, eq=False)
class Observed:
    """The inputs of the network's last layers for the points of one scan; a point in several groups has several."""

    placement: Placement
    chosen: Indices
    """(P,) indices of the placed points that the network is run on: one in each small cube."""
    cube: Indices
    """(placed points,) the index in ``chosen`` of the point that represents each."""
    rows: Indices
    """(M,) the index in ``chosen`` of each row of ``inputs``."""
    inputs: Tensor
    """(M, C) the inputs of the network's last layers."""
    complete: bool
    """Whether the network was run on all groups, so that labels follow from ``inputs`` alone."""

    def spread(self, corrected: Indices) -> Indices:
        """Return the class of each row (M,), given those of the cloud's points (N,); −1 for none.

        A correction of any point applies to the point that represents it.
        """
        given = corrected[self.placement.numbers]
        of_chosen = np.full(len(self.chosen), -1, np.int64)
        known = given >= 0
        of_chosen[self.cube[known]] = given[known]
        return of_chosen[self.rows]


def tail_of(network: Network) -> nn.Sequential:
    """Return the last layers of a network: the last hidden layer and the logits, without dropout."""
    hidden = list(network.head.hidden)[-2:-1]
    return nn.Sequential(*hidden, network.head.logits)


class _PassThrough(nn.Module):
    """A placeholder for the last layers; networks read the data type and device of its weight."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, x: Tensor) -> Tensor:
        return x


def without_tail(network: Network) -> Network:
    """Return a copy of a network whose output is the input of its last layers."""
    twin = copy.deepcopy(network).eval()
    hidden = list(twin.head.hidden)
    twin.head.hidden = nn.Sequential(*hidden[:-2], *(nn.Identity() for _ in hidden[-2:]))
    twin.head.logits = _PassThrough(twin.head.logits.weight.detach())  # type: ignore[assignment]
    return twin


def observe(
    labeller: SceneLabeller, scan: TaughtScan, report: Report = lambda share: None, most: int = MOST_GROUPS
) -> Observed:
    """Run the network on a scan; if it has more than ``most`` groups, those with corrections come first."""
    card = labeller.trained.card
    placement = place(scan.cloud, scan.options.scale_of(scan.cloud), scan.options.up, scan.name)
    chosen, cube = _one_of_each_cube(placement, labeller.cube(scan.options))
    whole = labeller.scene(placement, scan.cloud, scan.options, scan.name)
    scene = SceneInput(whole.xyz[chosen], lambda numbers: whole.features(chosen[numbers]), whole.name, whole.frame)
    rules = widen(card.block_rules, scene.xyz, card.points)
    groups: list[Indices] = []  # those of the first vote of ``SceneLabeller.label``
    for number, offset in enumerate(OFFSETS):
        random = np.random.default_rng([1, card.points])
        for block in cut_blocks(scene.xyz, offset * rules.side, np.random.default_rng(number), rules):
            groups.extend(voting_groups(block, card.points, 1, random, rules, tiled=False))
    taught = np.zeros(len(chosen), np.bool_)
    taught[cube[scan.corrections.class_indices()[placement.numbers] >= 0]] = True
    kept = _most_useful(groups, taught, most)
    twin, found = without_tail(labeller.network), []
    _check_tail(labeller, twin, scene_batch(scene, kept[:1], twin))

    def makers() -> Iterator[Callable[[], Batch]]:
        for group in kept:
            yield partial(scene_batch, scene, [group], twin)

    for done, outputs in enumerate(answers(twin, makers(), ask_outputs), start=1):
        found.append(outputs[0])
        report(done / len(kept))
    complete = len(kept) == len(groups)
    return Observed(placement, chosen, cube, np.concatenate(kept), torch.cat(found).clone(), complete)


def label_observed(observed: Observed, tail: nn.Module, classes: int) -> tuple[Indices, NDArray[np.float32]]:
    """Return class indices and entropies (placed points,) from these last layers, as one vote of ``predict``."""
    if not observed.complete:
        raise InputError("scan", expected="a scan that was observed completely", found="a part of it")
    votes = Votes(len(observed.chosen), classes, "mean_probability")
    with torch.inference_mode():
        votes.add(observed.rows, tail(observed.inputs).softmax(dim=-1))
    return votes.labels[observed.cube], votes.entropy[observed.cube]


def _check_tail(labeller: SceneLabeller, twin: Network, batch: Batch) -> None:
    """Raise InputError for a network that does something more after its last layers, as GACNet does."""
    tail = copy.deepcopy(tail_of(labeller.network)).cpu().eval()
    with torch.inference_mode():
        found = tail(ask_outputs(twin, batch))
    if not torch.allclose(found, ask_outputs(labeller.network, batch), rtol=1e-3, atol=1e-3):
        model = labeller.trained.card.model
        raise InputError(labeller.name, expected="weights of a network that can be taught by clicks", found=model)


def _one_of_each_cube(placement: Placement, side: float) -> tuple[Indices, Indices]:
    if not side:
        everything = np.arange(len(placement.xyz))
        return everything, everything
    first, cube = grid_sampling(torch.from_numpy(placement.xyz), side)
    return first.numpy(), cube.numpy()


def _most_useful(groups: list[Indices], taught: NDArray[np.bool_], most: int) -> list[Indices]:
    """Choose up to ``most`` groups: those with the most corrected points, up to half; the rest are drawn at random."""
    if len(groups) <= most:
        return groups
    counts = np.array([int(taught[group].sum()) for group in groups])
    best = np.argsort(-counts, kind="stable")[: most // 2]
    first = best[counts[best] > 0]
    others = np.setdiff1d(np.arange(len(groups)), first)
    drawn = np.random.default_rng(0).choice(others, most - len(first), replace=False)
    return [groups[index] for index in np.sort(np.concatenate([first, drawn]))]
