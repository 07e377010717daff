"""Scoring a network on one part of a store: the same code during training, at its end, and for ``evaluate``."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from point2node.core.words import Feature, Report, unreported
from point2node.data.block_cache import blocks_of
from point2node.data.features import stored_features
from point2node.data.samples import ShapeClouds, check_arrays
from point2node.data.store import Store
from point2node.evaluation.metrics import Calibration, Counts, Labels, Scores, count_confusion, score, voxel_labels
from point2node.evaluation.protocol import Protocol
from point2node.evaluation.splits import Part
from point2node.inference.votes import (
    BlocksOfScene,
    Heard,
    SceneInput,
    Votes,
    Voting,
    unheard,
    vote_on_scene,
    vote_on_shapes,
)
from point2node.models.network import Network


@dataclass(eq=False)
class Evaluation:
    """The counts that every score is made of."""

    names: tuple[str, ...]
    protocol: Protocol
    confusion: Counts
    single_vote: Counts | None = None
    """Shapes with several votes: what the first vote alone gives."""
    calibration: Calibration = field(default_factory=Calibration)

    @property
    def scores(self) -> Scores:
        """All figures, from the pooled confusion matrix."""
        return score(self.confusion, self.names)

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON takes it: fractions, null for NaN."""
        result: dict[str, Any] = {
            **asdict(self.scores),
            "ece": self.calibration.expected_error if self.protocol.rule == "mean_probability" else None,
            "units": int(self.confusion.sum()),
            "confusion": self.confusion.tolist(),
            "classes": list(self.names),
            "protocol": self.protocol.as_dict(),
        }
        if self.single_vote is not None:
            first = score(self.single_vote, self.names)
            result["single_vote"] = {"oa": first.oa, "macc": first.macc}
        return without_nan(result)


def evaluate(
    network: Network,
    features: tuple[Feature, ...],
    store: Store,
    part: Part,
    protocol: Protocol,
    report: Report = unreported,
    *,
    share: tuple[int, int] = (0, 1),
    heard: Heard = unheard,
) -> Evaluation:
    """Score ``network`` on ``part``. Several processes each take a ``share`` (number, of how many) of the scenes, and
    their counts add up to the whole. Of every vote ``heard`` is told the true labels, −1 for none, and probabilities.
    """
    was_training = network.training
    network.eval()
    try:
        if part.shapes is None:
            return _evaluate_scenes(network, features, store, part, protocol, report, share, heard)
        return _evaluate_shapes(network, features, store, part, protocol, report, share, heard)
    finally:
        network.train(was_training)


def _evaluate_scenes(
    network: Network,
    features: tuple[Feature, ...],
    store: Store,
    part: Part,
    protocol: Protocol,
    report: Report,
    share: tuple[int, int],
    heard: Heard,
) -> Evaluation:
    result = _empty(store, protocol)
    scenes = part.scenes[share[0] :: share[1]]
    for name in scenes:
        check_arrays(f"{store.path}, scene {name!r}", store.entry(name).arrays, ("labels",))
    for done, name in enumerate(scenes, start=1):
        arrays = store.arrays(name)
        truth = store.number_labels(arrays["labels"])
        votes = vote_on_stored_scene(network, features, store, name, protocol, _with_truth(truth, heard))
        predicted = votes.labels
        if protocol.voxel is not None:
            xyz = np.asarray(arrays["xyz"])
            truth, predicted = voxel_labels(xyz, truth, predicted, protocol.voxel, len(store.classes))
        else:
            result.calibration.add(truth, predicted, votes.confidence)
        result.confusion += count_confusion(truth, predicted, len(store.classes))
        report(done, len(scenes), name)
    return result


def vote_on_stored_scene(
    network: Network,
    features: tuple[Feature, ...],
    store: Store,
    name: str,
    protocol: Protocol,
    heard: Heard = unheard,
) -> Votes:
    """Votes on every point of one scene of a store."""
    assert protocol.blocks is not None
    xyz = np.asarray(store.arrays(name)["xyz"], np.float32)
    described = stored_features(store, name, features, store.block_cache)
    scene = SceneInput(
        xyz=xyz,
        features=lambda numbers: described.of(numbers, xyz[numbers]),
        name=name,
        frame=protocol.frame or "room",
    )
    blocks = blocks_of(store, name, protocol.blocks, protocol.offsets, store.block_cache)
    numbers = (blocks[number] for number in range(len(blocks)))
    return vote_on_scene(network, scene, BlocksOfScene(numbers, protocol.blocks), _voting(store, protocol), heard)


def _evaluate_shapes(
    network: Network,
    features: tuple[Feature, ...],
    store: Store,
    part: Part,
    protocol: Protocol,
    report: Report,
    share: tuple[int, int],
    heard: Heard,
) -> Evaluation:
    assert part.shapes is not None
    result = _empty(store, protocol)
    numbers = part.shapes[share[0] :: share[1]]
    shapes = ShapeClouds(store, part.split, protocol.points, features, numbers=numbers)
    truth: Labels = store.number_labels(np.asarray(store.shapes(part.split).labels)[numbers])
    rounds = vote_on_shapes(network, shapes, _voting(store, protocol), _with_truth(truth, heard))
    for done, votes in enumerate(rounds, start=1):
        result.confusion = count_confusion(truth, votes.labels, len(store.classes))
        if done == 1 and protocol.votes > 1:
            result.single_vote = result.confusion
        if done == protocol.votes:
            result.calibration.add(truth, votes.labels, votes.confidence)
        report(done, protocol.votes, f"vote {done}")
    return result


def _voting(store: Store, protocol: Protocol) -> Voting:
    return Voting(len(store.classes), protocol.points, protocol.votes, protocol.rule)


def _with_truth(truth: Labels, heard: Heard) -> Heard:
    return lambda numbers, probabilities: heard(truth[numbers], probabilities)


def _empty(store: Store, protocol: Protocol) -> Evaluation:
    count = len(store.classes)
    return Evaluation(tuple(one.name for one in store.classes), protocol, np.zeros((count, count), np.int64))


def without_nan(value: Any) -> Any:
    """NaN is no JSON: null says the same."""
    if isinstance(value, dict):
        return {key: without_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value
