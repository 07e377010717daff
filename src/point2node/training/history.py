"""The history of a training: a CSV table, the same values for TensorBoard, and what the training took."""

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
"""Entropies of the rows of the correlations: 1 if a row weighs all nodes equally, 0 if it has a single node."""
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
    """Writer of the history; a resumed run drops the lines after the step that it resumes from."""

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
        """Append one line; columns without a value stay empty."""
        try:
            with self._path.open("a", encoding="utf-8", newline="") as stream:
                csv.DictWriter(stream, COLUMNS, lineterminator="\n").writerow({"step": step, **values})
        except OSError as error:
            raise InputError(self._path, expected="a file that can be written", found=reason(error)) from error
        for name, value in values.items() if self._board is not None else ():
            self._board.add_scalar(name, value, step)

    def close(self) -> None:
        """Close TensorBoard's writer. It fails on a full disk, but then writing the CSV has already raised."""
        if self._board is not None:
            with suppress(OSError):
                self._board.close()


def _open_board(folder: Path, step: int) -> Any:
    """Return TensorBoard's writer; None without the extra ``train``, which the viewer does not need for teaching."""
    try:
        from tensorboardX import SummaryWriter  # slow to import
    except ModuleNotFoundError:
        return None
    return SummaryWriter(str(folder), purge_step=step + 1 if step else None)


def read_history(path: Path) -> list[dict[str, str]]:
    """Read the lines of a history; a line left half written by a kill is dropped."""
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, expected="the history of a run", found=str(error)) from error
    return [row for row in rows if None not in row.values() and (row.get("step") or "").isdigit()]


@dataclass(frozen=True)
class Cost:
    """The cost of a training over all its runs, without validations, and the final entropies of its correlations."""

    steps: int
    hours: float
    samples_per_second: float
    entropies: dict[str, float]
    """Row entropies of the correlations in the last line of the history; empty for networks without correlations."""


def training_cost(path: Path, batch_size: int, points: int) -> Cost:
    """Return the cost of a training from its history; each batch has ``batch_size`` clouds of ``points`` points."""
    rows = [row for row in read_history(path) if row["points_per_second"]]
    if not rows:
        raise InputError(path, expected="the history of a training", found="no step")
    seconds, steps = training_seconds(path, batch_size * points), int(rows[-1]["step"])
    entropies = {name: float(rows[-1][name]) for name in ENTROPIES if rows[-1].get(name)}
    return Cost(steps, seconds / 3600, steps * batch_size / seconds, entropies)


def training_seconds(path: Path, points_in_step: int) -> float:
    """Return the seconds that all steps took, without validations, from the speed noted in each line."""
    seconds, before = 0.0, 0
    for row in read_history(path):
        if row["points_per_second"]:
            seconds += (int(row["step"]) - before) * points_in_step / float(row["points_per_second"])
            before = int(row["step"])
    return seconds
