"""Scoring a network on one part of a store: the same code is used during training, after it, and by ``evaluate``."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    OnVotes,
    SceneInput,
    Votes,
    Voting,
    ignore_votes,
    vote_on_scene,
    vote_on_shapes,
)
from point2node.models.network import Network


@dataclass(eq=False)
class Evaluation:
    """The counts from which every score is computed."""

    names: tuple[str, ...]
    protocol: Protocol
    confusion: Counts
    single_vote: Counts | None = None
    """For shapes with several votes: the counts of the first vote alone."""
    calibration: Calibration = field(default_factory=Calibration)

    def add(self, truth: Labels, predicted: Labels, confidence: NDArray[np.floating] | None) -> None:
        """Count points, voxels or shapes; their confidence, if given, counts towards the calibration."""
        if confidence is not None:
            self.calibration.add(truth, predicted, confidence)
        self.confusion += count_confusion(truth, predicted, len(self.names))

    @property
    def scores(self) -> Scores:
        """All scores, from the pooled confusion matrix."""
        return score(self.confusion, self.names)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values: fractions, null for NaN."""
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


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """The data that a network is scored on, and the protocol."""

    store: Store
    part: Part
    protocol: Protocol
    features: tuple[Feature, ...]
    """The input of the network in addition to xyz."""
    share: tuple[int, int] = (0, 1)
    """(rank, number of processes): each process takes its share of the scenes; their counts add up to the whole."""

    @property
    def voting(self) -> Voting:
        """How votes are gathered."""
        return Voting(len(self.store.classes), self.protocol.points, self.protocol.votes, self.protocol.rule)

    def empty(self) -> Evaluation:
        """Return an evaluation that has counted nothing yet."""
        names = tuple(one.name for one in self.store.classes)
        return Evaluation(names, self.protocol, np.zeros((len(names), len(names)), np.int64))


def evaluate(
    network: Network, scored: ScoredPart, report: Report = unreported, *, on_votes: OnVotes = ignore_votes
) -> Evaluation:
    """Score ``network``; ``on_votes`` is called with the true labels (−1 for none) and probabilities of all votes."""
    was_training = network.training
    network.eval()
    try:
        if scored.part.shapes is None:
            return _evaluate_scenes(network, scored, report, on_votes)
        return _evaluate_shapes(network, scored, report, on_votes)
    finally:
        network.train(was_training)


def _evaluate_scenes(network: Network, scored: ScoredPart, report: Report, on_votes: OnVotes) -> Evaluation:
    store, protocol, result = scored.store, scored.protocol, scored.empty()
    scenes = scored.part.scenes[scored.share[0] :: scored.share[1]]
    for name in scenes:
        check_arrays(f"{store.path}, scene {name!r}", store.entry(name).arrays, ("labels",))
    for done, name in enumerate(scenes, start=1):
        arrays = store.arrays(name)
        truth = store.number_labels(arrays["labels"])
        votes = vote_on_stored_scene(network, scored, name, _with_truth(truth, on_votes))
        if protocol.voxel is None:
            result.add(truth, votes.labels, votes.confidence)
        else:
            xyz = np.asarray(arrays["xyz"])
            result.add(*voxel_labels(xyz, truth, votes.labels, protocol.voxel, len(store.classes)), None)
        report(done, len(scenes), name)
    return result


def vote_on_stored_scene(network: Network, scored: ScoredPart, name: str, on_votes: OnVotes = ignore_votes) -> Votes:
    """Vote on every point of one scene of the store."""
    store, protocol = scored.store, scored.protocol
    assert protocol.blocks is not None
    xyz = np.asarray(store.arrays(name)["xyz"], np.float32)
    described = stored_features(store, name, scored.features, store.block_cache)
    scene = SceneInput(
        xyz=xyz,
        features=lambda numbers: described.of(numbers, xyz[numbers]),
        name=name,
        frame=protocol.frame or "room",
    )
    blocks = blocks_of(store, name, protocol.blocks, protocol.offsets, store.block_cache)
    numbers = (blocks[number] for number in range(len(blocks)))
    return vote_on_scene(network, scene, BlocksOfScene(numbers, protocol.blocks), scored.voting, on_votes)


def _evaluate_shapes(network: Network, scored: ScoredPart, report: Report, on_votes: OnVotes) -> Evaluation:
    store, part, protocol, result = scored.store, scored.part, scored.protocol, scored.empty()
    assert part.shapes is not None
    numbers = part.shapes[scored.share[0] :: scored.share[1]]
    shapes = ShapeClouds(store, part.split, protocol.points, scored.features, numbers=numbers)
    truth: Labels = store.number_labels(np.asarray(store.shapes(part.split).labels)[numbers])
    voting = vote_on_shapes(network, shapes, scored.voting, _with_truth(truth, on_votes))
    for done, votes in enumerate(voting, start=1):
        if done == 1 and protocol.votes > 1:
            result.single_vote = count_confusion(truth, votes.labels, len(store.classes))
        if done == protocol.votes:
            result.add(truth, votes.labels, votes.confidence)
        report(done, protocol.votes, f"vote {done}")
    return result


def _with_truth(truth: Labels, on_votes: OnVotes) -> OnVotes:
    return lambda numbers, probabilities: on_votes(truth[numbers], probabilities)


def without_nan(value: Any) -> Any:
    """Replace NaN, which JSON does not have, by None."""
    if isinstance(value, dict):
        return {key: without_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value
