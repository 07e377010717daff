"""The history of a training: a table in CSV, the same values for TensorBoard, and the curve."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from point2node.core.errors import InputError
from point2node.core.writing import reason, replacing

ENTROPIES = ("local_entropy", "non_local_entropy")
"""How evenly the rows of the correlations listen: 1 to all alike, 0 to one node each."""
COLUMNS = (
    "step",
    "epoch",
    "loss",
    "accuracy",
    "learning_rate",
    "points_per_second",
    *ENTROPIES,
    "val_oa",
    "val_macc",
    "val_miou",
)


class History:
    """Adds a line now and then; a resumed run continues below the step that it resumes from."""

    def __init__(self, path: Path, tensorboard: Path, step: int) -> None:
        rows = [row for row in read_history(path) if int(row["step"]) <= step] if path.is_file() else []
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        with replacing(path) as stream:
            stream.write(text.getvalue().encode())
        self._path = path
        self._board = _open_board(tensorboard, step)

    def add(self, step: int, values: Mapping[str, float | int]) -> None:
        """One line; columns without a value stay empty."""
        try:
            with self._path.open("a", encoding="utf-8", newline="") as stream:
                csv.DictWriter(stream, COLUMNS, lineterminator="\n").writerow({"step": step, **values})
        except OSError as error:
            raise InputError(self._path, expected="a file that can be written", found=reason(error)) from error
        for name, value in values.items() if self._board is not None else ():
            self._board.add_scalar(name, value, step)

    def close(self) -> None:
        """Let TensorBoard's writer finish. On a full disk it cannot; the CSV, which says the same, has said so."""
        if self._board is not None:
            with suppress(OSError):
                self._board.close()


def _open_board(folder: Path, step: int) -> Any:
    """TensorBoard's writer; None without the extra ``train``: the viewer learns from corrections without it, too."""
    try:
        from tensorboardX import SummaryWriter  # slow to import
    except ModuleNotFoundError:
        return None
    return SummaryWriter(str(folder), purge_step=step + 1 if step else None)


def read_history(path: Path) -> list[dict[str, str]]:
    """The lines of a history; one that a kill left half written is dropped."""
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, expected="the history of a run", found=str(error)) from error
    return [row for row in rows if None not in row.values() and (row.get("step") or "").isdigit()]


@dataclass(frozen=True)
class Cost:
    """What a training took, over all sittings and without validations, and how its correlations ended."""

    steps: int
    hours: float
    samples_per_second: float
    entropies: dict[str, float]
    """Of the rows of the correlations in the last line of the history; empty for networks without any."""


def training_cost(path: Path, batch_size: int, points: int) -> Cost:
    """What the history of a training of batches of so many clouds of so many points tells."""
    rows = [row for row in read_history(path) if row["points_per_second"]]
    if not rows:
        raise InputError(path, expected="the history of a training", found="no step")
    seconds, steps = training_seconds(path, batch_size * points), int(rows[-1]["step"])
    entropies = {name: float(rows[-1][name]) for name in ENTROPIES if rows[-1].get(name)}
    return Cost(steps, seconds / 3600, steps * batch_size / seconds, entropies)


def training_seconds(path: Path, points_in_step: int) -> float:
    """How long the steps took, over all sittings and without validations, from the speed that each line notes."""
    seconds, before = 0.0, 0
    for row in read_history(path):
        if row["points_per_second"]:
            seconds += (int(row["step"]) - before) * points_in_step / float(row["points_per_second"])
            before = int(row["step"])
    return seconds
