"""A run folder: the self-sufficient files of one training."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from point2node._version import __version__
from point2node.core.classes import SemanticClass
from point2node.core.documents import Strict, dump_json, parse_json
from point2node.core.errors import InputError
from point2node.core.writing import TEMPORARY, reason, replacing
from point2node.data.store import Store
from point2node.weights.settings import Settings, read_settings

FORMAT = 1


class RunCard(Strict):
    """What was trained, on which data, with which version."""

    format: int = FORMAT
    point2node: str = __version__
    preset: str
    model: str
    variant: str | None
    seed: int
    task: str
    dataset: str
    data: str | None
    """Where the data was; null for generated rooms."""
    data_checksum: str
    """The checksum of the store's manifest."""
    test_split: str
    training: int
    """Number of scenes, or shapes, to learn from."""
    validation: int
    parameters: int
    steps: int
    classes: tuple[SemanticClass, ...]
    ignored: tuple[int, ...]


class RunFolder:
    """The files of one run, by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings = path / "settings.yaml"
        self.card = path / "run.json"
        self.state = path / "state.safetensors"
        self.last = path / "last.safetensors"
        self.best = path / "best.safetensors"
        self.calibrated = path / "calibrated.safetensors"
        self.history = path / "history.csv"
        self.tensorboard = path / "tensorboard"
        self.curve = path / "curve.png"
        self.summary = path / "summary.json"
        self.evaluations = path / "evaluations"

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.resolve().name

    @property
    def exists(self) -> bool:
        """Whether a run was started here."""
        return self.card.is_file()

    @property
    def finished(self) -> bool:
        """Whether its training finished."""
        return self.summary.is_file()

    @property
    def best_step(self) -> int | None:
        """The step of the best weights; None if the run is not finished."""
        if not self.finished:
            return None
        summary = parse_json(self.summary.read_text(encoding="utf-8"))
        best: int | None = summary["best_step"]
        return summary["steps"] if best is None else best  # nothing was held back to select the best

    def create(self, settings: Settings, card: RunCard) -> None:
        """Create the folder. The card is written last: if it exists, the settings do too."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(self.path, expected="a folder that can be written", found=str(error.strerror)) from error
        with replacing(self.settings) as stream:
            stream.write(settings.dump().encode())
        with replacing(self.card) as stream:
            stream.write(dump_json(card).encode())

    def remove_leftovers(self) -> None:
        """Remove temporary files of interrupted writes; they can be as large as a checkpoint."""
        for path in self.path.glob(f"{TEMPORARY}*"):
            path.unlink(missing_ok=True)

    def read_settings(self) -> Settings:
        """Read the resolved settings of the run."""
        self.check()
        return read_settings(self.settings)

    def read_card(self) -> RunCard:
        """Read the card of the run."""
        self.check()
        try:
            return RunCard.model_validate_json(self.card.read_text(encoding="utf-8"))
        except (ValidationError, OSError, UnicodeDecodeError) as error:
            found = " ".join(str(error).split())[:120]
            raise InputError(self.card, expected="the card of a run", found=found) from error

    def check(self) -> None:
        """Raise InputError if the folder has no run."""
        if not self.exists:
            found = "a folder without a run.json" if self.path.is_dir() else "nothing there"
            raise InputError(self.path, expected="a run folder made by 'point2node train'", found=found)

    def write_json(self, path: Path, content: Any) -> None:
        """Write one of the folder's JSON files atomically."""
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(path.parent, expected="a folder that can be written", found=reason(error)) from error
        with replacing(path) as stream:
            stream.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


@dataclass(frozen=True)
class RunSizes:
    """Counts that are known when a run starts."""

    training: int
    """Number of samples to learn from."""
    validation: int
    parameters: int
    steps: int


def describe_run(settings: Settings, preset: str, store: Store, data: str | None, sizes: RunSizes) -> RunCard:
    """Make the card of a new run."""
    return RunCard(
        preset=preset,
        model=settings.model,
        variant=settings.variant,
        seed=settings.seed,
        task=store.manifest.task,
        dataset=store.manifest.dataset,
        data=data,
        data_checksum=store.checksum,
        test_split=settings.test_split,
        **asdict(sizes),
        classes=store.manifest.classes,
        ignored=store.manifest.ignored,
    )
