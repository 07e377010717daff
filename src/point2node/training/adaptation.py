"""Fitting weights to a person's own unlabelled scans, in stages that are each done once.

1. The scans are stored in metres, upright and thinned, and labelled by the original weights.
2. The batch-norm statistics of the scans are mixed into the trained ones.
3. Rounds of self-training: the surest share of each class' predictions become labels, and training goes on with them
   next to labelled rooms. The mean of the weights over the steps is the teacher of the next round.
4. The adapted weights are compared with the original ones, which are kept where the two agree too little.

Every stage leaves files in the run folder. Stopped anywhere, the same command does only what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from point2node.core.errors import InputError
from point2node.core.writing import alone_in
from point2node.data.store import Store
from point2node.geometry.blocks import widen
from point2node.geometry.frames import place
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.norm_statistics import (
    SAMPLES,
    batch_norms,
    draw_samples,
    estimate_statistics,
    mix_statistics,
)
from point2node.models.network import Network
from point2node.training.adaptation_report import compare, describe_agreement, describe_change
from point2node.training.adaptation_request import (
    Progress,
    Request,
    check_source,
    refuse_other_request,
    training_settings,
)
from point2node.training.loop import Watch
from point2node.training.pseudo_labels import Predictions, predict_scans, store_scans
from point2node.training.self_training import SelfTraining, StoppedError
from point2node.weights.cards import write_weights
from point2node.weights.run_folder import RunFolder
from point2node.weights.trained import load_trained

WORK = "adapt"
"""The folder, in the run folder, of what the stages leave."""
REPORT = "adapt.json"


@dataclass(frozen=True, eq=False)
class Adapted:
    """How it ended."""

    report: dict[str, Any]
    scans: Store
    before: Predictions
    after: Predictions


def adapt(request: Request, run: RunFolder, watch: Watch, progress: Progress) -> Adapted | None:
    """Fit weights to scans in the run folder ``run``; None if training was interrupted."""
    labeller = SceneLabeller(load_trained(request.weights))
    batch_norms(labeller.network)
    settings, data = training_settings(request, labeller.trained)
    check_source(settings, data, labeller, progress)
    if run.exists and not (run.path / WORK).is_dir():
        raise InputError(run.path, expected="a new folder", found="another run", remedy="Choose another --out.")
    work = run.path.resolve() / WORK
    note = request.as_note(labeller)
    with alone_in(work, wait=False, command="adapt"):
        refuse_other_request(run, work / "request.json", note)
        with progress("reading") as report:
            scans = store_scans(request.scans, labeller, request.options, work / "scans", report)
        run.write_json(work / "request.json", note)  # not before: what cannot be read may be left out of a second try
        for told in scans.manifest.notes_to_print():
            watch.say(told)
        before = _predict(labeller, scans, work / "predicted_0", progress)
        training = SelfTraining(request, settings, data, run, work, scans, before, watch, progress)
        start, predictions, norms = _adapt_norms(labeller, training)
        try:
            after, agreement, rounds = training.run_rounds(start, predictions)
        except StoppedError:
            return None
        if agreement.diverged:
            write_weights(run.best, labeller.network.state_dict(), labeller.trained.card)
        result = {
            "weights": labeller.name,
            "request": note,
            "norms": norms,
            "rounds": rounds,
            "agreement": describe_agreement(agreement),
            "kept": "original" if agreement.diverged else "adapted",
            "change": describe_change([one.name for one in labeller.classes], scans.scenes(), before, after),
        }
        run.write_json(run.path / REPORT, result)
    return Adapted(result, scans, before, after)


def _predict(labeller: SceneLabeller, scans: Store, folder: Path, progress: Progress) -> Predictions:
    with progress("labelling") as report:
        return predict_scans(labeller, scans, folder, report)


def _adapt_norms(labeller: SceneLabeller, training: SelfTraining) -> tuple[Path, Predictions, dict[str, Any]]:
    """The weights that training starts from, what they say of the scans, and what is to be reported of them.

    They are the original ones with mixed batch-norm statistics, or without where these agree too little with them.
    """
    request, scans, before = training.request, training.scans, training.before
    trained, start = labeller.trained, training.work / "start.safetensors"
    original = training.work / "original.safetensors"
    write_weights(original, trained.network.state_dict(), trained.card)
    if request.norm_share == 0:
        return original, before, {"share": 0.0}
    if not start.is_file():
        mixed = _mix_norms(labeller, scans, request.norm_share)
        write_weights(start, mixed.state_dict(), trained.card)
    adapted = SceneLabeller(load_trained(str(start)))
    predictions = _predict(adapted, scans, training.work / "predicted_norms", training.progress)
    agreement = compare(before, predictions, request.sure)
    report = {"share": request.norm_share, "agreement": describe_agreement(agreement)}
    if agreement.diverged:
        training.watch.say(
            "note: the scans' batch-norm statistics change too many labels; the trained ones are used instead"
        )
        return original, before, report
    return start, predictions, report


def _mix_norms(labeller: SceneLabeller, scans: Store, share: float) -> Network:
    """The network with statistics of all scans mixed in; each scan gives about equally many samples."""
    card, samples = labeller.trained.card, []
    for name in scans.scenes():
        cloud = scans.load(name)
        scene = labeller.scene(place(cloud), cloud, Options(), name)
        rules = widen(card.block_rules, scene.xyz, card.points)
        samples += draw_samples(scene, rules, card.points, -(-SAMPLES // len(scans.scenes())))
    return mix_statistics(labeller.network, estimate_statistics(labeller.network, samples), share)
