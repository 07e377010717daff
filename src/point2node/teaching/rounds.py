"""One round of learning: from scans with corrections to a run folder that ``predict --weights`` accepts."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import read
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.scan_check import choose_scale
from point2node.models.layers import count_parameters
from point2node.teaching.corrections import no_corrections
from point2node.teaching.corrections_file import SUFFIX, corrections_path, dump_corrections, read_corrections_of
from point2node.teaching.learning import Recipe, Taught, teach
from point2node.teaching.observing import Observed, TaughtScan, observe
from point2node.training.history import History
from point2node.weights.cards import write_weights
from point2node.weights.run_folder import RunCard, RunFolder
from point2node.weights.settings import Settings, check_settings, load_preset, parse_overrides
from point2node.weights.trained import FROM_WEIGHTS

PRESET = "own"
OBSERVING = 0.9
"""The share of a round's time that observing takes."""
MOST_KEPT = 4
"""How many observed scans are kept for the next round."""
LOGGED_EVERY = 10
RECIPE = ("steps", "learning_rate", "seed")
"""Settings that the user may change; the others come from the weights or have no effect here."""

Report = Callable[[float, str], None]
"""Called with the share that is done, from 0 to 1, and the current activity; may raise to stop."""


class Teacher:
    """Teacher of a labeller. Every round starts from the same weights, so rounds do not add up to a drift.

    Args:
        labeller: the weights to start from.
    """

    def __init__(self, labeller: SceneLabeller) -> None:
        self.labeller = labeller
        self._kept: OrderedDict[Hashable, Observed] = OrderedDict()

    def learn(self, scans: Sequence[TaughtScan], recipe: Recipe, report: Report = lambda share, what: None) -> Taught:
        """Run one round; observations of whole scans are kept for the next."""
        scans = [scan for scan in scans if scan.corrections.done]
        if not scans:
            raise InputError(
                "corrections",
                expected="at least one correction",
                found="none",
                remedy="Correct some points first: point2node view SCAN.",
            )
        lessons = []
        for number, scan in enumerate(scans):

            def report_scan(share: float, number: int = number, name: str = scan.name) -> None:
                report(OBSERVING * (number + share) / len(scans), f"looking at {name}")

            lessons.append((self._observe(scan, report_scan), scan.corrections))
        return teach(
            self.labeller, lessons, recipe, lambda share: report(OBSERVING + (1 - OBSERVING) * share, "learning")
        )

    def _observe(self, scan: TaughtScan, report: Callable[[float], None]) -> Observed:
        key = scan.corrections.checksum, scan.options
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        observed = observe(self.labeller, scan, report)
        if observed.complete:  # which parts of a large scan are observed depends on its corrections
            self._kept[key] = observed
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return observed


def find_corrected(folder: Path) -> list[Path]:
    """Return the scans of a folder that have a corrections file next to them."""
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing there"
        raise InputError(folder, expected=f"a folder of scans with their *{SUFFIX}", found=found)
    files = sorted(folder.glob(f"*{SUFFIX}"))
    if not files:
        raise InputError(
            folder,
            expected=f"scans with their *{SUFFIX}",
            found="none",
            remedy="Correct some points first: point2node view SCAN.",
        )
    scans = [file.with_name(file.name.removesuffix(SUFFIX)) for file in files]
    for scan, file in zip(scans, files, strict=True):
        if not scan.is_file():
            raise InputError(file, expected=f"its scan {scan.name} next to it", found="no such file")
    return scans


def read_taught(path: Path, labeller: SceneLabeller, options: Options | None = None) -> TaughtScan:
    """Read a scan and the corrections next to it. Raises InputError if they do not belong together."""
    cloud = read(path)
    settled, _ = choose_scale(cloud, labeller, options or Options())
    return taught_scan(path, cloud, labeller, settled)


def taught_scan(path: Path, cloud: PointCloud, labeller: SceneLabeller, options: Options) -> TaughtScan:
    """Return a scan that was already read, with the corrections next to its file."""
    corrections = read_corrections_of(corrections_path(path), no_corrections(cloud, labeller.classes))
    return TaughtScan(path.name, cloud, corrections, options)


def teaching_settings(words: Sequence[str], labeller: SceneLabeller) -> tuple[Settings, Recipe]:
    """Return the settings of a round: network and input from the weights, the recipe from ``key=value`` words."""
    given = parse_overrides(words)
    for key in given:
        if key not in (*RECIPE, "start"):
            expected = f"one of {', '.join(RECIPE)} with --corrections"
            raise InputError(f"setting {key!r}", expected=expected, found=f"{key}={given[key]}")
    plain = Recipe()
    values = load_preset(PRESET).model_dump() | labeller.trained.card.model_dump(include=set(FROM_WEIGHTS))
    values |= {key: getattr(plain, key) for key in RECIPE} | {"validation_share": 0.0, "start": labeller.name} | given
    settings = check_settings(PRESET, values)
    assert settings.steps is not None
    return settings, Recipe(settings.steps, settings.learning_rate, settings.seed)


def write_run(
    run: RunFolder, taught: Taught, settings: Settings, scans: Sequence[TaughtScan], folder: Path | None = None
) -> None:
    """Write the result of a round as a run folder; the card is written last, so a run is complete or not there."""
    if run.exists:
        raise InputError(run.path, expected="a new folder", found="a finished run", remedy="Choose another --out.")
    try:
        run.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(run.path, expected="a folder that can be written", found=str(error.strerror)) from error
    for file in (run.best, run.last):
        write_weights(file, taught.network.state_dict(), taught.card)
    history = History(run.history, run.tensorboard, 0)
    for one in taught.history:
        if one["step"] % LOGGED_EVERY == 0 or one["step"] == len(taught.history):
            history.add(one["step"], {"epoch": 0, "loss": one["loss"]})
    history.close()
    steps = len(taught.history)
    summary = {"steps": steps, "best_step": None, "best_score": None, "seconds": round(taught.seconds, 1)}
    summary["share"] = taught.share
    run.write_json(run.summary, summary | _describe(scans))
    card = RunCard(
        preset=PRESET,
        model=taught.card.model,
        variant=taught.card.variant,
        seed=settings.seed,
        task=taught.card.task,
        dataset=taught.card.dataset,
        data=None if folder is None else str(folder.resolve()),
        data_checksum=hashlib.sha256("".join(dump_corrections(one.corrections) for one in scans).encode()).hexdigest(),
        test_split=settings.test_split,
        training=len(scans),
        validation=0,
        parameters=count_parameters(taught.network),
        steps=steps,
        classes=taught.card.classes,
        ignored=taught.card.ignored,
    )
    run.create(settings, card)


def _describe(scans: Sequence[TaughtScan]) -> dict[str, Any]:
    """Return the scans and corrections of a round, for the summary."""
    return {
        "corrections": {scan.name: len(scan.corrections.done) for scan in scans},
        "corrected_points": {scan.name: int((scan.corrections.class_indices() >= 0).sum()) for scan in scans},
    }
