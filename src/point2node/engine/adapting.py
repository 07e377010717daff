"""Fitting weights to a person's own unlabelled scans, in stages that are each done once.

1. The scans are stored in metres, upright and thinned, and labelled by the original weights.
2. The batch-norm statistics of the scans are mixed into the trained ones.
3. Rounds of self-training: the surest share of each class' predictions become labels, and training goes on with them
   next to labelled rooms. The mean of the weights over the steps is the teacher of the next round.
4. The adapted weights are compared with the original ones, which are kept where the two agree too little.

Every stage leaves files in the run folder. Stopped anywhere, the same command does only what is missing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.data.locking import alone_in
from point2node.data.preparation import Report
from point2node.data.store import Store
from point2node.engine.adaptation_report import compare, describe_agreement, describe_change
from point2node.engine.asking import NonFiniteLogitsError
from point2node.engine.history import read_history
from point2node.engine.input_frame import place
from point2node.engine.labelling import Labeller, Options
from point2node.engine.norm_statistics import (
    SAMPLES,
    batch_norms,
    check_share,
    draw_samples,
    estimate_statistics,
    mix_statistics,
)
from point2node.engine.pseudo_labels import Predictions, no_predictions, predict_scans, store_pseudo_labels, store_scans
from point2node.engine.run_folder import RunFolder
from point2node.engine.scan_labelling import checksum_of
from point2node.engine.session import begin_or_resume, find_store
from point2node.engine.settings import Settings, check_settings, load_preset, parse_overrides
from point2node.engine.trained import Trained, load_trained
from point2node.engine.training import Watch
from point2node.engine.weights import WeightsCard, write_weights
from point2node.geometry.blocks import widen
from point2node.models.network import Network

PRESET = "adapt"
WORK = "adapt"
"""The folder, in the run folder, of what the stages leave."""
REPORT = "adapt.json"
MINUTES = 20.0
TRIAL_STEPS = 6
"""Training steps whose second half tells how many fit into the minutes; the first half compiles and warms up."""
FROM_WEIGHTS = frozenset(WeightsCard.model_fields) & frozenset(Settings.model_fields) - {"classes", "dataset"}
"""Settings that the weights decide: the network and its input."""
OWN = FROM_WEIGHTS | {"start", "target", "dataset", "classes", "test_area"}
"""Settings that nobody else may set."""

Progress = Callable[[str], AbstractContextManager[Report]]
"""Makes what shows how far a stage, called by its label, has come."""


@dataclass(frozen=True)
class Request:
    """All that an adaptation depends on next to the numbers in the weights."""

    scans: tuple[Path, ...]
    weights: str
    options: Options
    """How scans are read; ``thin`` is the side of the cubes of which one point each is kept."""
    rounds: int = 2
    sure: float = 0.3
    """The share of each class' predictions that become labels."""
    norm_share: float = 0.5
    minutes: float | None = None
    """Of training, all rounds together; ``MINUTES`` if neither these nor ``steps`` are given."""
    words: tuple[str, ...] = ()
    """Settings, as ``key=value``, that differ from the preset; ``steps`` are those of each round."""
    data: Path | None = None
    """Labelled scenes to mix in; those of the weights' training, or generated rooms, if not given."""

    def __post_init__(self) -> None:
        check_share(self.norm_share)
        if not self.scans:
            raise InputError("SCAN", expected="at least one scan to adapt to", found="none")
        for scan in self.scans:
            if not scan.is_file():
                raise InputError(scan, expected="a file that can be read", found="nothing there")
        if not 0 < self.sure <= 1:
            raise InputError("--sure", expected="a share above 0, at most 1", found=str(self.sure))
        if self.rounds < 1:
            raise InputError("--rounds", expected="1 or more", found=str(self.rounds))
        given = parse_overrides(self.words)
        for key in given:
            if key in OWN:
                raise InputError(f"setting {key!r}", expected="a setting of the training", found="one of the weights")
        if "steps" in given and self.minutes is not None:
            raise InputError("--minutes", expected="minutes or steps=", found="both")


@dataclass(frozen=True, eq=False)
class Adapted:
    """How it ended."""

    report: dict[str, Any]
    scans: Store
    before: Predictions
    after: Predictions


class _StoppedError(Exception):
    """Training was interrupted; what it had done is saved."""


def adapt(request: Request, run: RunFolder, watch: Watch, progress: Progress) -> Adapted | None:
    """Fit weights to scans in the run folder ``run``; None if training was interrupted."""
    labeller = Labeller(load_trained(request.weights))
    batch_norms(labeller.network)
    settings, data = _settings(request, labeller.trained)
    _check_source(settings, data, labeller, progress)
    if run.exists and not (run.path / WORK).is_dir():
        raise InputError(run.path, expected="a new folder", found="another run", remedy="Choose another --out.")
    work = run.path.resolve() / WORK
    note = _as_note(request, labeller)
    with alone_in(work, wait=False, command="adapt"):
        _refuse_other_request(run, work / "request.json", note)
        with progress("reading") as report:
            scans = store_scans(request.scans, labeller, request.options, work / "scans", report)
        run.write_json(work / "request.json", note)  # not before: what cannot be read may be left out of a second try
        for told in scans.manifest.told_notes():
            watch.say(told)
        before = _predict(labeller, scans, work / "predicted_0", progress)
        start, predictions, norms = _adapt_norms(request, labeller, scans, before, work, watch, progress)
        training = _Training(request, settings, data, work, watch, progress)
        rounds = []
        for number in range(1, request.rounds + 1):
            teacher = hashlib.sha256(start.read_bytes()).hexdigest()
            targets = store_pseudo_labels(scans, predictions, request.sure, teacher, work / f"targets_{number}")
            of_round = run if number == request.rounds else RunFolder(work / f"round_{number}")
            try:
                steps = training.run_round(number, of_round, start, targets)
            except _StoppedError:
                return None
            start = of_round.last
            taught = Labeller(load_trained(str(of_round.path), "last"))
            try:
                predictions = _predict(taught, scans, work / f"predicted_{number}", progress)
            except NonFiniteLogitsError:
                predictions = no_predictions(before)
            rounds.append({"steps": steps, "pseudo_labels": _count_labels(targets)})
            agreement = compare(before, predictions, request.sure)
            if agreement.diverged:
                _end_with(of_round, run)
                break
        if agreement.diverged:
            write_weights(run.best, labeller.network.state_dict(), labeller.trained.card)
        result = {
            "weights": labeller.name,
            "request": note,
            "norms": norms,
            "rounds": rounds,
            "agreement": describe_agreement(agreement),
            "kept": "original" if agreement.diverged else "adapted",
            "change": describe_change([one.name for one in labeller.classes], scans.scenes(), before, predictions),
        }
        run.write_json(run.path / REPORT, result)
    return Adapted(result, scans, before, predictions)


def _end_with(last: RunFolder, run: RunFolder) -> None:
    """Make the last round that was trained the run itself; its card comes last, as when a run is created."""
    if last.path == run.path:
        return
    for file in sorted(last.path.iterdir(), key=lambda file: file == last.card):
        if file.is_file():
            shutil.copyfile(file, run.path / file.name)


def _settings(request: Request, trained: Trained) -> tuple[Settings, Path | None]:
    """The settings of every round but for start, target and time, and where the labelled data is: None for rooms that
    are generated.
    """
    values = load_preset(PRESET).model_dump() | trained.card.model_dump(include=set(FROM_WEIGHTS))
    data = request.data
    if data is None and trained.run_card is not None and trained.run_card.data is not None:
        data = Path(trained.run_card.data)
    if data is not None:
        known = trained.settings
        named = "folder" if known is None or known.dataset == "rooms" else known.dataset
        values |= {"dataset": named, "test_area": None if known is None else known.test_area}
    return check_settings(PRESET, values | parse_overrides(request.words)), data


def _check_source(settings: Settings, data: Path | None, labeller: Labeller, progress: Progress) -> None:
    """Refuse labelled data whose classes are not those of the weights."""
    names = [one.name for one in labeller.classes]
    if data is None:
        found, where = [one.name for one in S3DIS], "generated rooms"
    else:
        with progress("preparing") as report:
            found, where = [one.name for one in find_store(settings, data, report).classes], str(data)
    if found != names:
        raise InputError(
            where,
            expected=f"the classes of {labeller.name}: {', '.join(names)}",
            found=", ".join(found),
            remedy="Give labelled data of these classes with --data.",
        )


def _refuse_other_request(run: RunFolder, file: Path, note: dict[str, Any]) -> None:
    """Refuse a folder in which something else was asked for."""
    noted = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else note
    for key, value in note.items():
        if noted.get(key) != value:
            expected = f"the {key} that it was started with"
            raise InputError(run.path, expected=expected, found="others", remedy="Choose another --out.")


def _as_note(request: Request, labeller: Labeller) -> dict[str, Any]:
    files = [(scan.name, scan.stat().st_size, scan.stat().st_mtime_ns) for scan in request.scans]
    note = asdict(request) | {
        "scans": files,
        "weights": checksum_of(labeller),
        "data": None if request.data is None else str(request.data.resolve()),
    }
    plain: dict[str, Any] = json.loads(json.dumps(note))  # tuples become lists, as in the file
    return plain


def _predict(labeller: Labeller, scans: Store, folder: Path, progress: Progress) -> Predictions:
    with progress("labelling") as report:
        return predict_scans(labeller, scans, folder, report)


def _adapt_norms(
    request: Request,
    labeller: Labeller,
    scans: Store,
    before: Predictions,
    work: Path,
    watch: Watch,
    progress: Progress,
) -> tuple[Path, Predictions, dict[str, Any]]:
    """The weights that training starts from, what they say of the scans, and what is to be reported of them.

    They are the original ones with mixed batch-norm statistics, or without where these agree too little with them.
    """
    trained, start = labeller.trained, work / "start.safetensors"
    original = work / "original.safetensors"
    write_weights(original, trained.network.state_dict(), trained.card)
    if request.norm_share == 0:
        return original, before, {"share": 0.0}
    if not start.is_file():
        mixed = _mix_norms(labeller, scans, request.norm_share)
        write_weights(start, mixed.state_dict(), trained.card)
    adapted = Labeller(load_trained(str(start)))
    predictions = _predict(adapted, scans, work / "predicted_norms", progress)
    agreement = compare(before, predictions, request.sure)
    report = {"share": request.norm_share, "agreement": describe_agreement(agreement)}
    if agreement.diverged:
        watch.say("note: the scans' batch-norm statistics change too many labels; the trained ones are used instead")
        return original, before, report
    return start, predictions, report


def _mix_norms(labeller: Labeller, scans: Store, share: float) -> Network:
    """The network with statistics of all scans mixed in; each scan gives about equally many samples."""
    card, samples = labeller.trained.card, []
    for name in scans.scenes():
        cloud = scans.load(name)
        scene = labeller.scene(place(cloud), cloud, Options(), name)
        rules = widen(card.block_rules, scene.xyz, card.points)
        samples += draw_samples(scene, rules, card.points, -(-SAMPLES // len(scans.scenes())))
    return mix_statistics(labeller.network, estimate_statistics(labeller.network, samples), share)


@dataclass(frozen=True)
class _Training:
    """What the rounds of training share."""

    request: Request
    settings: Settings
    data: Path | None
    work: Path
    watch: Watch
    progress: Progress

    def run_round(self, number: int, run: RunFolder, start: Path, targets: Store) -> int:
        """Train from ``start`` on the targets in ``run``; how many steps that took."""
        values: dict[str, Any] = {"start": str(start), "target": str(targets.path)}
        if "steps" not in parse_overrides(self.request.words):
            values["steps"] = self._steps_in_time(values)
        values = self.settings.model_dump() | values
        if not run.finished:
            self.watch.say(f"round {number} of {self.request.rounds}: {values['steps']} steps")
        self._train(check_settings(PRESET, values), run)
        return int(values["steps"])

    def _steps_in_time(self, values: dict[str, Any]) -> int:
        """How many steps of each round fit into the minutes, from a short trial whose history stays."""
        trial = RunFolder(self.work / "trial")
        if not trial.finished:
            self.watch.say(f"{TRIAL_STEPS} steps to measure the speed of training")
            short = {"steps": TRIAL_STEPS, "log_every": TRIAL_STEPS // 2}
            self._train(check_settings(PRESET, self.settings.model_dump() | values | short), trial)
        speed = float(read_history(trial.history)[-1]["points_per_second"])
        seconds = 60 * (MINUTES if self.request.minutes is None else self.request.minutes)
        in_a_step = self.settings.batch_size * self.settings.points
        return max(1, round(seconds * speed / in_a_step / self.request.rounds))

    def _train(self, settings: Settings, run: RunFolder) -> None:
        with self.progress("preparing") as report:
            outcome = begin_or_resume(PRESET, settings, self.data, run, self.watch, report)
        if outcome is not None and not outcome.finished:
            raise _StoppedError


def _count_labels(store: Store) -> dict[str, int]:
    """The pseudo-labels of each class."""
    entries = store.manifest.scenes
    return {one.name: sum(entry.labels.get(one.value, 0) for entry in entries) for one in store.classes}
