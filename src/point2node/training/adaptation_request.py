"""What a person asks of ``adapt``, checked, and the settings of the training that follow from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from point2node.core.classes import S3DIS
from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.words import Report
from point2node.inference.jobs import checksum_of
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.norm_statistics import NORM_SHARE, check_share
from point2node.training.launch import find_store
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import Settings, check_settings, load_preset, parse_overrides
from point2node.weights.trained import FROM_WEIGHTS, Trained

PRESET = "adapt"
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
    norm_share: float = NORM_SHARE
    minutes: float | None = None
    """Of training, all rounds together; 20 if neither these nor ``steps`` are given."""
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
        for key in parse_overrides(self.words):
            if key in OWN:
                raise InputError(f"setting {key!r}", expected="a setting of the training", found="one of the weights")
        if self.gives_steps and self.minutes is not None:
            raise InputError("--minutes", expected="minutes or steps=", found="both")

    @property
    def gives_steps(self) -> bool:
        """Whether the steps of a round are given, rather than minutes."""
        return parse_overrides(self.words).get("steps") is not None

    def as_note(self, labeller: SceneLabeller) -> dict[str, Any]:
        """All that the result depends on, as JSON takes it."""
        files = [(scan.name, scan.stat().st_size, scan.stat().st_mtime_ns) for scan in self.scans]
        note = asdict(self) | {
            "scans": files,
            "weights": checksum_of(labeller),
            "data": None if self.data is None else str(self.data.resolve()),
        }
        plain: dict[str, Any] = json.loads(json.dumps(note))  # tuples become lists, as in the file
        return plain


def training_settings(request: Request, trained: Trained) -> tuple[Settings, Path | None]:
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


def check_source(settings: Settings, data: Path | None, labeller: SceneLabeller, progress: Progress) -> None:
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


def refuse_other_request(run: RunFolder, file: Path, note: dict[str, Any]) -> None:
    """Refuse a folder in which something else was asked for."""
    noted = parse_json(file.read_text(encoding="utf-8")) if file.is_file() else note
    for key, value in note.items():
        if noted.get(key) != value:
            expected = f"the {key} that it was started with"
            raise InputError(run.path, expected=expected, found="others", remedy="Choose another --out.")
