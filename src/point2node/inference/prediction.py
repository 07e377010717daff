"""Asking a network: every block of a scene, every shape of a part, as often as the protocol says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from point2node.data.batches import Batch, Sample, make_batch
from point2node.data.samples import ShapeClouds
from point2node.geometry.blocks import BlockRules, voting_groups
from point2node.geometry.frames import FRAMES, Frame
from point2node.inference.asking import answers, nodes_at_once
from point2node.inference.votes import Votes
from point2node.models.network import Network
from point2node.weights.settings import Rule

Item = TypeVar("Item")
Heard = Callable[[NDArray[np.int64], Tensor], None]
"""Told the numbers (M,) of some points, or shapes, and the probabilities (M, classes) of one vote on each."""


def unheard(numbers: NDArray[np.int64], probabilities: Tensor) -> None:
    """Nobody listens to the single votes."""


@dataclass(frozen=True, eq=False)
class SceneInput:
    """What a network is asked about one scene."""

    xyz: NDArray[np.float32]
    """(N, 3) in the room frame."""
    features: Callable[[NDArray[np.int64]], NDArray[np.float32] | None]
    """The input features of some points, by their numbers."""
    name: str
    frame: Frame = "room"
    """Where the network counts a block's x and y from."""


def vote_on_scene(
    network: Network,
    scene: SceneInput,
    blocks: Iterable[NDArray[np.int64]],
    classes: int,
    *,
    points: int,
    votes: int,
    rule: Rule,
    rules: BlockRules,
    tiled: bool = True,
    heard: Heard = unheard,
) -> Votes:
    """Votes on every point of the blocks, which are run in groups of ``points``.

    Args:
        network: in evaluation mode.
        scene: its coordinates and features.
        blocks: point numbers of each; together they should hold every point.
        classes: how many the network knows.
        points: N, the size of a group.
        votes: how often each block is labelled, in other groups each time.
        rule: how votes decide.
        rules: how the blocks were cut.
        tiled: whether each block is tiled to votes × its cap, as PointCNN does; otherwise only to whole groups.
        heard: told every vote.
    """
    random = np.random.default_rng([votes, points])
    groups = (group for block in blocks for group in voting_groups(block, points, votes, random, rules, tiled=tiled))
    asked: list[NDArray[np.int64]] = []

    def makers() -> Iterator[Callable[[], Batch]]:
        for numbers in _in_batches(groups, max(1, nodes_at_once(network) // points)):
            asked.append(np.concatenate(numbers))
            yield partial(scene_batch, scene, numbers, network)

    gathered = Votes(len(scene.xyz), classes, rule)
    for probabilities in answers(network, makers()):
        numbers = asked.pop(0)
        flat = probabilities.flatten(0, 1)
        gathered.add(numbers, flat)
        heard(numbers, flat)
    return gathered


def vote_on_shapes(
    network: Network,
    shapes: ShapeClouds,
    classes: int,
    *,
    points: int,
    votes: int,
    rule: Rule,
    heard: Heard = unheard,
) -> Iterator[Votes]:
    """Votes on every shape after each round: a round draws its points, and their order, anew."""
    gathered = Votes(len(shapes), classes, rule)
    for vote in range(votes):
        batches = list(_in_batches(iter(range(len(shapes))), max(1, nodes_at_once(network) // points)))
        makers = (partial(_shape_batch, shapes, numbers, network, vote) for numbers in batches)
        for numbers, probabilities in zip(batches, answers(network, makers), strict=True):
            gathered.add(np.array(numbers), probabilities)
            heard(np.array(numbers), probabilities)
        yield gathered


def _shape_batch(shapes: ShapeClouds, numbers: list[int], network: Network, vote: int) -> Batch:
    samples = [shapes.draw(number, np.random.default_rng([vote, shapes.numbers[number]])) for number in numbers]
    return make_batch(samples, network.plan, seed=vote)


def scene_batch(scene: SceneInput, groups: list[NDArray[np.int64]], network: Network) -> Batch:
    """Some groups of a scene's points, as the network takes them."""
    return make_batch([scene_sample(scene, group) for group in groups], network.plan, seed=0)


def scene_sample(scene: SceneInput, numbers: NDArray[np.int64]) -> Sample:
    """One group of a scene's points, without labels."""
    nothing = np.empty(0, np.int64)
    return Sample(FRAMES[scene.frame](scene.xyz[numbers]), scene.features(numbers), nothing, scene.name)


def _in_batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, size)):
        yield batch
