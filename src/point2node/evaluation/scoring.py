"""Scores of trained weights, as ``evaluate`` reports them: on one split, or on the six folds of S3DIS pooled."""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from point2node.core.errors import InputError
from point2node.core.words import Report
from point2node.data.raw_roots import open_data, open_generated_rooms
from point2node.data.store import Store
from point2node.evaluation.evaluate import Evaluation, ScoredPart, evaluate, without_nan
from point2node.evaluation.protocol import Protocol, protocol_of
from point2node.evaluation.splits import find_part
from point2node.models.layers import count_parameters
from point2node.weights.settings import Rule
from point2node.weights.trained import Trained

FORMAT = 1
FOLDS = tuple(f"Area_{area}" for area in range(1, 7))


def open_scored_data(trained: Trained, data: Path | None, report: Report, *, some_classes: bool = False) -> Store:
    """Open the data to score on: ``data`` if given, otherwise what the run was trained on.

    With ``some_classes``, the data of a classifier may have fewer classes than the weights (see ``restrict_classes``).
    """
    run_card, settings = trained.run_card, trained.settings
    chosen = data if data is not None else Path(run_card.data) if run_card is not None and run_card.data else None
    if chosen is not None:
        kind = trained.card.dataset if settings is None else settings.dataset
        store = open_data(kind, chosen, report)
    elif trained.run is not None and settings is not None and settings.dataset == "rooms":
        store = open_generated_rooms(settings.rooms, settings.rooms_seed, report)
    else:
        raise InputError("--data", expected="a prepared store or the folder of a data set", found="none")
    _check(trained, store, some_classes)
    return store


def restrict_classes(trained: Trained, store: Store) -> Trained:
    """Return weights that choose among the classes of ``store`` only; ``trained`` itself if these are all its classes.

    ModelNet10's classes are among ModelNet40's, so a classifier of forty classes can also choose among these ten.
    """
    known, wanted = ([one.name for one in classes] for classes in (trained.card.classes, store.classes))
    if known == wanted:
        return trained
    network = deepcopy(trained.network)
    kept = torch.tensor([known.index(name) for name in wanted])
    logits = network.head.logits
    logits.weight, logits.bias = nn.Parameter(logits.weight[kept]), nn.Parameter(logits.bias[kept])
    logits.out_features = len(kept)
    card = trained.card.model_copy(update={"classes": store.manifest.classes})
    return replace(trained, network=network, card=card)


def is_own_data(trained: Trained, store: Store) -> bool:
    """Return whether a run was trained on exactly this data."""
    return trained.run_card is not None and trained.run_card.data_checksum == store.checksum


@dataclass(frozen=True)
class ScoringOptions:
    """What to score and how; None takes the value of the run or its weights."""

    split: str | None = None
    """By default the split that the run held out."""
    votes: int | None = None
    rule: Rule | None = None


DEFAULT_OPTIONS = ScoringOptions()


def score_split(
    trained: Trained, store: Store, report: Report, device: torch.device, options: ScoringOptions = DEFAULT_OPTIONS
) -> Evaluation:
    """Score one split."""
    trained = restrict_classes(trained, store)
    split = options.split or (trained.settings.test_split if trained.settings is not None else "test")
    part = find_part(trained.settings, store, split)
    protocol = protocol_of(trained.card, store, part, options.votes, options.rule)
    network = trained.network.to(device)
    return evaluate(network, ScoredPart(store, part, protocol, trained.card.features), report)


def result_of(trained: Trained, evaluation: Evaluation) -> dict[str, Any]:
    """Return the result as JSON values: the weights, every score, the counts, the protocol."""
    run_card = trained.run_card
    return {
        "format": FORMAT,
        "run": trained.name,
        "preset": run_card.preset if run_card else None,
        "model": trained.card.model,
        "variant": trained.card.variant,
        "seed": trained.settings.seed if trained.settings else None,
        "steps": run_card.steps if run_card else None,
        "weights": trained.weights,
        "trained_steps": trained.card.step,
        "parameters": count_parameters(trained.network),
        "dataset": evaluation.protocol.dataset,
        "split": evaluation.protocol.split,
        **evaluation.as_dict(),
    }


def keep_result(trained: Trained, result: dict[str, Any]) -> None:
    """Write the result to the run folder, where ``report`` finds it."""
    if trained.run is None:
        return
    mark = hashlib.sha256(json.dumps(result["protocol"], sort_keys=True).encode()).hexdigest()[:8]
    trained.run.write_json(trained.run.evaluations / f"{result['split']}-{trained.weights}-{mark}.json", result)


def check_six_folds(all_trained: list[Trained]) -> None:
    """Raise InputError unless there is one run for each area, all of the same network."""
    areas = [trained.settings.test_split for trained in all_trained if trained.settings is not None]
    if sorted(areas) != sorted(FOLDS):
        found = ", ".join(sorted(areas)) or "no runs that hold out an area"
        raise InputError("--six-fold", expected="six runs, each holding out another area", found=found)
    first = all_trained[0]
    for trained in all_trained[1:]:
        if trained.card.model_copy(update={"step": first.card.step}) != first.card:
            raise InputError(trained.name, expected=f"the network and input of {first.name}", found="others")


def pool_folds(all_trained: list[Trained], folds: list[Evaluation]) -> dict[str, Any]:
    """Pool the six folds: sum their counts, then score them; the mean of the folds' scores is added."""
    protocols = {fold.protocol.split: fold.protocol for fold in folds}
    distinct = {replace(protocol, split="", selection="", data="") for protocol in protocols.values()}
    if len(distinct) > 1:
        raise InputError("--six-fold", expected="one protocol for all areas", found="several")
    protocol: Protocol = replace(
        folds[0].protocol, split="6-fold", selection="", data=_joined(fold.protocol.data for fold in folds)
    )
    pooled = Evaluation(folds[0].names, protocol, np.sum([fold.confusion for fold in folds], axis=0))
    for fold in folds:
        pooled.calibration.counts += fold.calibration.counts
    scores = [fold.scores for fold in folds]
    mean = {name: float(np.mean([getattr(one, name) for one in scores])) for name in ("oa", "macc", "miou")}
    listed = [
        {"run": trained.name, "split": fold.protocol.split, "oa": one.oa, "macc": one.macc, "miou": one.miou}
        for trained, fold, one in zip(all_trained, folds, scores, strict=True)
    ]
    result = result_of(all_trained[0], pooled) | {"run": "6-fold", "folds": listed, "mean_of_folds": mean}
    return without_nan(result)


def _joined(checksums: Any) -> str:
    found = sorted(set(checksums))
    return found[0] if len(found) == 1 else hashlib.sha256(" ".join(found).encode()).hexdigest()


def _check(trained: Trained, store: Store, some_classes: bool) -> None:
    """Raise InputError unless the labels of the data mean what those of the weights mean."""
    card = trained.card
    if store.manifest.task != card.task:
        raise InputError(store.path, expected=f"data for {card.task}", found=f"data for {store.manifest.task}")
    expected, found = [one.name for one in card.classes], [one.name for one in store.classes]
    fewer = some_classes and card.task == "classification" and set(found) <= set(expected)
    if expected != found and not fewer:
        raise InputError(
            store.path, expected=f"the classes of {trained.name}: {', '.join(expected)}", found=", ".join(found)
        )
