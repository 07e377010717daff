"""Rounds of self-training: a network learns its own surest predictions on scans, next to labelled rooms."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from point2node.data.store import Store
from point2node.inference.asking import NonFiniteLogitsError
from point2node.inference.labeller import SceneLabeller
from point2node.training.adaptation_report import Agreement, compare
from point2node.training.adaptation_request import PRESET, Progress, Request
from point2node.training.history import read_history
from point2node.training.launch import begin_or_resume
from point2node.training.loop import Watch
from point2node.training.pseudo_labels import Predictions, no_predictions, predict_scans, store_pseudo_labels
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import Settings, check_settings
from point2node.weights.trained import load_trained

MINUTES = 20.0
"""Of training, where nothing else is asked for."""
TRIAL_STEPS = 6
"""Training steps whose second half tells how many fit into the minutes; the first half compiles and warms up."""


class StoppedError(Exception):
    """Training was interrupted; what it had done is saved."""


@dataclass(frozen=True)
class SelfTraining:
    """What the rounds share. Each is a run whose kept weights teach the next; the last is ``run`` itself."""

    request: Request
    settings: Settings
    """Of every round, but for where it starts, what it learns and for how long."""
    data: Path | None
    """Labelled rooms; None for those that are generated."""
    run: RunFolder
    work: Path
    """Where stages leave their files."""
    scans: Store
    before: Predictions
    """What the original weights say of the scans."""
    watch: Watch
    progress: Progress

    def run_rounds(self, start: Path, predictions: Predictions) -> tuple[Predictions, Agreement, list[dict[str, Any]]]:
        """Train from the weights in ``start``, which say ``predictions`` of the scans.

        Returns what the last round's weights say, how far that agrees with the original, and what to report of each
        round. A round that diverges is the last.
        """
        reported: list[dict[str, Any]] = []
        agreement = compare(self.before, predictions, self.request.sure)
        for number in range(1, self.request.rounds + 1):
            teacher = hashlib.sha256(start.read_bytes()).hexdigest()
            folder = self.work / f"targets_{number}"
            targets = store_pseudo_labels(self.scans, predictions, self.request.sure, teacher, folder)
            of_round = self.run if number == self.request.rounds else RunFolder(self.work / f"round_{number}")
            steps = self._train_round(number, of_round, start, targets)
            start = of_round.last
            predictions = self._predict(of_round, self.work / f"predicted_{number}")
            reported.append({"steps": steps, "pseudo_labels": _count_labels(targets)})
            agreement = compare(self.before, predictions, self.request.sure)
            if agreement.diverged:
                _end_with(of_round, self.run)
                break
        return predictions, agreement, reported

    def _predict(self, taught: RunFolder, folder: Path) -> Predictions:
        labeller = SceneLabeller(load_trained(str(taught.path), "last"))
        try:
            with self.progress("labelling") as report:
                return predict_scans(labeller, self.scans, folder, report)
        except NonFiniteLogitsError:
            return no_predictions(self.before)

    def _train_round(self, number: int, run: RunFolder, start: Path, targets: Store) -> int:
        """Train from ``start`` on the targets in ``run``; how many steps that took."""
        values: dict[str, Any] = {"start": str(start), "target": str(targets.path)}
        if not self.request.gives_steps:
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
            raise StoppedError


def _end_with(last: RunFolder, run: RunFolder) -> None:
    """Make the last round that was trained the run itself; its card comes last, as when a run is created."""
    if last.path == run.path:
        return
    for file in sorted(last.path.iterdir(), key=lambda file: file == last.card):
        if file.is_file():
            shutil.copyfile(file, run.path / file.name)


def _count_labels(store: Store) -> dict[str, int]:
    """The pseudo-labels of each class."""
    entries = store.manifest.scenes
    return {one.name: sum(entry.labels.get(one.value, 0) for entry in entries) for one in store.classes}
