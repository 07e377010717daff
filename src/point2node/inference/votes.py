"""Votes: repeated predictions for each point of a scene, or each shape, and the labels that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from point2node.data.batches import Batch, Sample, make_batch
from point2node.data.samples import ShapeClouds
from point2node.geometry.blocks import BlockRules, voting_groups
from point2node.geometry.frames import FRAMES, Frame
from point2node.inference.asking import answers, nodes_at_once
from point2node.models.network import Network
from point2node.weights.settings import Rule

AT_ONCE = 1 << 18
"""Points in a piece of a scene."""


class Votes:
    """Collects predictions by point index and decides by a rule.

    ``max_confidence``, the paper's: a point keeps the prediction of highest confidence (the first of equal ones).
    ``mean_probability``: the mean of all probabilities, which also has an entropy.
    """

    def __init__(self, points: int, classes: int, rule: Rule) -> None:
        self.rule = rule
        if rule == "max_confidence":
            self._label = np.full(points, -1, np.int64)
            self._confidence = np.zeros(points, np.float32)
        else:
            self._sums = torch.zeros(points, classes)
            self._counts = torch.zeros(points)

    def add(self, numbers: NDArray[np.int64], probabilities: Tensor) -> None:
        """Add votes (M, classes) for the points ``numbers`` (M,), which may contain a point more than once."""
        if self.rule == "mean_probability":
            places = torch.from_numpy(numbers)
            self._sums.index_add_(0, places, probabilities)
            self._counts.index_add_(0, places, torch.ones(len(places)))
            return
        best = probabilities.max(dim=1)
        confidence, label = best.values.numpy(), best.indices.numpy()
        # the last write stays: in this order that is the most confident vote, and of equal ones the first
        better = np.flatnonzero(confidence > self._confidence[numbers])[::-1]
        better = better[np.argsort(confidence[better], kind="stable")]
        self._confidence[numbers[better]] = confidence[better]
        self._label[numbers[better]] = label[better]

    def revise(self, change: Callable[[Tensor], Tensor]) -> None:
        """Replace the mean probabilities (points, classes); no votes may be added after that."""
        if self.rule == "max_confidence":
            raise ValueError("only mean probabilities can be revised: the other rule keeps one prediction")
        self._sums = change(self._sums / self._counts.clamp_min(1)[:, None])
        self._counts.clamp_(max=1)

    def probabilities_of(self, numbers: NDArray[np.int64]) -> Tensor:
        """Return the mean probabilities of some points (M, classes); 0 without a vote."""
        if self.rule == "max_confidence":
            raise ValueError("mean probabilities need the rule mean_probability: the other keeps one prediction")
        places = torch.from_numpy(numbers)
        return self._sums[places] / self._counts[places].clamp_min(1)[:, None]

    @property
    def seen(self) -> NDArray[np.bool_]:
        """(points,) whether each point has a vote."""
        return self._label >= 0 if self.rule == "max_confidence" else self._counts.numpy() > 0

    @property
    def labels(self) -> NDArray[np.int64]:
        """(points,) the class of each point; −1 without a vote."""
        if self.rule == "max_confidence":
            return self._label
        return np.where(self.seen, self._sums.argmax(dim=1).numpy(), -1)

    @property
    def confidence(self) -> NDArray[np.float32]:
        """(points,) the confidence of the best vote, or the mean probability of the class; 0 without a vote."""
        if self.rule == "max_confidence":
            return self._confidence
        return (self._sums.amax(dim=1) / self._counts.clamp_min(1)).numpy()

    @property
    def entropy(self) -> NDArray[np.float32]:
        """(points,) the entropy of the mean probabilities, as a share of the maximum, log(classes)."""
        if self.rule == "max_confidence":
            raise ValueError("entropy needs the rule mean_probability: the other keeps one prediction, not all")
        entropy = torch.empty(len(self._counts))
        for piece in pieces(len(entropy)):
            entropy[piece] = entropy_of(self._sums[piece] / self._counts[piece, None].clamp_min(1))
        return entropy.numpy()


def pieces(points: int) -> Iterator[slice]:
    """Split all points into slices: a scene may have millions."""
    for start in range(0, points, AT_ONCE):
        yield slice(start, min(start + AT_ONCE, points))


def entropy_of(probabilities: Tensor) -> Tensor:
    """Return the entropy of probabilities (N, classes) as a share of the maximum, log(classes); (N,)."""
    entropy = -(probabilities * probabilities.clamp_min(1e-12).log()).sum(dim=1)
    return (entropy / max(np.log(probabilities.shape[1]), 1e-12)).clamp_(0, 1)


Item = TypeVar("Item")
OnVotes = Callable[[NDArray[np.int64], Tensor], None]
"""Called with the indices (M,) of some points, or shapes, and the probabilities (M, classes) of one vote on each."""


def ignore_votes(numbers: NDArray[np.int64], probabilities: Tensor) -> None:
    """Do nothing with single votes."""


@dataclass(frozen=True, eq=False)
class SceneInput:
    """The input of a network for one scene."""

    xyz: NDArray[np.float32]
    """(N, 3) in the room frame."""
    features: Callable[[NDArray[np.int64]], NDArray[np.float32] | None]
    """Returns the input features of some points, by their indices."""
    name: str
    frame: Frame = "room"
    """The origin of a block's x and y."""


@dataclass(frozen=True)
class Voting:
    """How often a network is run on each point of a scene or each shape, and how its votes are combined."""

    classes: int
    """The number of classes of the network."""
    points: int
    """N, the size of a group."""
    votes: int
    """How often each block, or shape, is labelled: each time in different groups, with different points."""
    rule: Rule


@dataclass(frozen=True, eq=False)
class BlocksOfScene:
    """The blocks that a scene was cut into."""

    numbers: Iterable[NDArray[np.int64]]
    """The point indices of each block; together they should contain every point of the scene."""
    rules: BlockRules
    """How they were cut."""
    tiled: bool = True
    """Whether each block is tiled to votes × its cap, as PointCNN does; otherwise only to whole groups."""
    share: float = 1.0
    """The share of each block's groups that are run, rounded up."""


def vote_on_scene(
    network: Network,
    scene: SceneInput,
    blocks: BlocksOfScene,
    voting: Voting,
    on_votes: OnVotes = ignore_votes,
    gathered: Votes | None = None,
) -> Votes:
    """Vote on the points of the blocks, which are run in groups.

    Args:
        network: in evaluation mode.
        scene: its coordinates and features.
        blocks: which points are labelled together.
        voting: the size of the groups, the number of votes, and the rule that combines them.
        on_votes: called with every vote.
        gathered: earlier votes on the same points, to which these are added.
    """
    points, votes = voting.points, voting.votes
    random = np.random.default_rng([votes, points])

    def groups_of(block: NDArray[np.int64]) -> NDArray[np.int64]:
        groups = voting_groups(block, points, votes, random, blocks.rules, tiled=blocks.tiled)
        return groups[: math.ceil(blocks.share * len(groups))]

    groups = (group for block in blocks.numbers for group in groups_of(block))
    asked: list[NDArray[np.int64]] = []

    def makers() -> Iterator[Callable[[], Batch]]:
        for numbers in _in_batches(groups, max(1, nodes_at_once(network) // points)):
            asked.append(np.concatenate(numbers))
            yield partial(scene_batch, scene, numbers, network)

    gathered = Votes(len(scene.xyz), voting.classes, voting.rule) if gathered is None else gathered
    for probabilities in answers(network, makers()):
        numbers = asked.pop(0)
        flat = probabilities.flatten(0, 1)
        gathered.add(numbers, flat)
        on_votes(numbers, flat)
    return gathered


def vote_on_shapes(
    network: Network, shapes: ShapeClouds, voting: Voting, on_votes: OnVotes = ignore_votes
) -> Iterator[Votes]:
    """Yield the votes on all shapes after each round; each round draws points and their order again."""
    gathered = Votes(len(shapes), voting.classes, voting.rule)
    for vote in range(voting.votes):
        batches = list(_in_batches(iter(range(len(shapes))), max(1, nodes_at_once(network) // voting.points)))
        makers = (partial(_shape_batch, shapes, numbers, network, vote) for numbers in batches)
        for numbers, probabilities in zip(batches, answers(network, makers), strict=True):
            gathered.add(np.array(numbers), probabilities)
            on_votes(np.array(numbers), probabilities)
        yield gathered


def _shape_batch(shapes: ShapeClouds, numbers: list[int], network: Network, vote: int) -> Batch:
    samples = [shapes.draw(number, np.random.default_rng([vote, shapes.numbers[number]])) for number in numbers]
    return make_batch(samples, network.plan, seed=vote)


def scene_batch(scene: SceneInput, groups: list[NDArray[np.int64]], network: Network) -> Batch:
    """Make a batch of some groups of a scene's points."""
    return make_batch([scene_sample(scene, group) for group in groups], network.plan, seed=0)


def scene_sample(scene: SceneInput, numbers: NDArray[np.int64]) -> Sample:
    """Make an unlabelled sample of one group of a scene's points."""
    nothing = np.empty(0, np.int64)
    return Sample(FRAMES[scene.frame](scene.xyz[numbers]), scene.features(numbers), nothing, scene.name)


def _in_batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, size)):
        yield batch
