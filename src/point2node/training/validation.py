"""Validation during training: the weights that would be kept, scored by the code and protocol of ``evaluate``."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from point2node.data.store import Store
from point2node.evaluation.evaluate import Evaluation, ScoredPart, evaluate
from point2node.evaluation.metrics import Scores
from point2node.evaluation.protocol import protocol_of
from point2node.evaluation.splits import Part
from point2node.models.network import Network
from point2node.training.checkpoints import Keeper, applied
from point2node.training.fabric import Fabric
from point2node.weights.cards import WeightsCard


def validate(network: Network, card: WeightsCard, store: Store, part: Part, keeper: Keeper, fabric: Fabric) -> Scores:
    """Return the scores on ``part``; several processes share its scenes."""
    protocol = protocol_of(card, store, part)
    with applied(network, _kept_by_the_first(fabric, keeper)):
        share = (fabric.global_rank, fabric.world_size)
        result = evaluate(network, ScoredPart(store, part, protocol, card.features, share))
    counts = fabric.all_reduce(torch.from_numpy(result.confusion).to(fabric.device), reduce_op="sum")
    assert isinstance(counts, Tensor)
    return Evaluation(result.names, protocol, counts.cpu().numpy()).scores


def is_better(card: WeightsCard, scores: Scores, best: float | None) -> bool:
    """Return whether the scores beat the best so far; NaN never does."""
    value = chosen_score(card, scores)
    return math.isfinite(value) and (best is None or value > best)


def chosen_score(card: WeightsCard, scores: Scores) -> float:
    """Return the score by which the best weights are chosen."""
    return scores.oa if card.task == "classification" else scores.miou


def _kept_by_the_first(fabric: Fabric, keeper: Keeper) -> dict[str, Tensor]:
    """Return the weights that would be written, those of the first process: unsynchronised batch norms differ."""
    kept = {name: tensor.detach().clone() for name, tensor in keeper.kept.items()}
    if fabric.world_size > 1:
        for tensor in kept.values():
            torch.distributed.broadcast(tensor, 0)
    return kept
