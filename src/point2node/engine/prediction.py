"""Asking a network: every block of a scene, every shape of a part, as often as the protocol says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from point2node.core.errors import InputError
from point2node.data.batches import Batch, Sample, make_batch
from point2node.data.samples import ShapeClouds
from point2node.engine.settings import Rule
from point2node.engine.votes import Votes
from point2node.geometry.blocks import FRAMES, BlockRules, Frame, voting_groups
from point2node.models.network import Network

Item = TypeVar("Item")

NODES_AT_ONCE = 16384
"""Nodes in a batch: enough to fill the cores, few enough to stay near the caches."""


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
) -> Votes:
    """Votes on every point of the blocks: each is tiled to votes × its cap and run in groups of ``points``."""
    random = np.random.default_rng([votes, points])
    groups = (group for block in blocks for group in voting_groups(block, points, votes, random, rules))
    gathered = Votes(len(scene.xyz), classes, rule)
    for numbers in _in_batches(groups, max(1, NODES_AT_ONCE // points)):
        batch = make_batch([_sample(scene, group) for group in numbers], network.plan, seed=0)
        probabilities = ask(network, batch)
        gathered.add(np.concatenate(numbers), probabilities.flatten(0, 1))
    return gathered


def vote_on_shapes(
    network: Network, shapes: ShapeClouds, classes: int, *, points: int, votes: int, rule: Rule
) -> Iterator[Votes]:
    """Votes on every shape after each round: a round draws its points, and their order, anew."""
    gathered = Votes(len(shapes), classes, rule)
    for vote in range(votes):
        for numbers in _in_batches(iter(range(len(shapes))), max(1, NODES_AT_ONCE // points)):
            samples = [shapes.draw(number, np.random.default_rng([vote, shapes.numbers[number]])) for number in numbers]
            gathered.add(np.array(numbers), ask(network, make_batch(samples, network.plan, seed=vote)))
        yield gathered


def ask(network: Network, batch: Batch) -> Tensor:
    """Probabilities, on the CPU, of a network in evaluation mode."""
    device = next(network.parameters()).device
    moved = batch.to(device)
    with torch.inference_mode():
        logits = network(moved.features, moved.pyramid).float().cpu()
    if not torch.isfinite(logits).all():
        scenes = ", ".join(dict.fromkeys(batch.scenes))
        raise InputError("network", expected="finite logits", found=f"NaN or infinite ones in {scenes}")
    return logits.softmax(dim=-1)


def _sample(scene: SceneInput, numbers: NDArray[np.int64]) -> Sample:
    nothing = np.empty(0, np.int64)
    return Sample(FRAMES[scene.frame](scene.xyz[numbers]), scene.features(numbers), nothing, scene.name)


def _in_batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, size)):
        yield batch
