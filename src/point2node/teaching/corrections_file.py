"""``room.ply.corrections.json``: the corrections next to their scan, written atomically and read strictly.

Each correction is one line; runs of indices are written as ``[first, last]``. The file is small enough to be written
after every click.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from point2node.core.classes import SemanticClass
from point2node.core.documents import parse_json
from point2node.core.errors import InputError, unknown_choice
from point2node.core.writing import reason, replacing
from point2node.teaching.corrections import LONGEST_NAME, MOST_CLASSES, Correction, Corrections, Indices

FORMAT = 1
SUFFIX = ".corrections.json"
LARGEST = 256 * 2**20
"""Bytes: nobody clicks more than that; a larger file is something else."""
EXPECTED = f"corrections of a scan, format {FORMAT}"
START_AGAIN = "Move the file away to start with no corrections."

Index = Annotated[int, Field(ge=0, lt=2**63)]
Run = Annotated[list[Index], Field(min_length=2, max_length=2)]
Channel = Annotated[int, Field(ge=0, le=255)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ListedClass(_Entry):
    """One class: its name, the value in labelled files, and its colour."""

    name: Name
    value: Annotated[int, Field(ge=-(2**31), lt=2**31)]
    colour: Annotated[list[Channel], Field(min_length=3, max_length=3)]


class ListedCorrection(_Entry):
    """One correction; runs of points are given by their first and last index."""

    name: Name = Field(alias="class")
    points: Annotated[list[Index | Run], Field(min_length=1)]


class CorrectionsFile(_Entry):
    """The whole file."""

    format: int
    points: Annotated[int, Field(ge=1, lt=2**40)]
    checksum: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    classes: Annotated[list[ListedClass], Field(min_length=1, max_length=MOST_CLASSES)]
    corrections: list[ListedCorrection]
    undone: list[ListedCorrection]


def corrections_path(scan: Path) -> Path:
    """Return the path of a scan's corrections: ``room.ply`` → ``room.ply.corrections.json``."""
    return scan.with_name(scan.name + SUFFIX)


def write_corrections(path: Path, corrections: Corrections) -> None:
    """Write the file atomically; the new content is on disk before it replaces the old file."""
    with replacing(path) as stream:
        stream.write(dump_corrections(corrections).encode())
        stream.flush()
        os.fsync(stream.fileno())


def dump_corrections(corrections: Corrections) -> str:
    """Return the text of the file; the same corrections always give the same text."""
    head = {"format": FORMAT, "points": corrections.points, "checksum": corrections.checksum}
    lists = {
        "classes": ({"name": one.name, "value": one.value, "colour": one.colour} for one in corrections.classes),
        "corrections": map(_as_json, corrections.done),
        "undone": map(_as_json, corrections.undone),
    }
    lines = [f' "{key}": {json.dumps(value)}' for key, value in head.items()]
    lines += [f' "{key}": {_dump_list(entries)}' for key, entries in lists.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_corrections(path: Path) -> Corrections:
    """Read the corrections in a file. Raises InputError, in one line, if anything is wrong with it."""
    try:
        if path.stat().st_size > LARGEST:
            found = f"{path.stat().st_size / 1e6:,.0f} MB"
            raise InputError(path, expected=f"{EXPECTED}, of at most {LARGEST / 1e6:.0f} MB", found=found)
        content = path.read_bytes()
    except OSError as error:
        raise InputError(path, expected=EXPECTED, found=reason(error)) from error
    if not content.strip():
        raise InputError(path, expected=EXPECTED, found="an empty file", remedy=START_AGAIN)
    try:
        data = parse_json(content)
    except ValueError as error:
        found = f"no JSON ({' '.join(str(error).split())[:120]})"
        raise InputError(path, expected=EXPECTED, found=found, remedy=START_AGAIN) from error
    version = data.get("format") if isinstance(data, dict) else None
    if version != FORMAT or isinstance(version, bool):
        raise InputError(path, expected=EXPECTED, found=f"format {version!r:.40}", remedy=START_AGAIN)
    try:
        file = CorrectionsFile.model_validate(data)
    except ValidationError as error:
        raise _explain(path, error) from error
    return _understand(path, file)


def read_corrections_of(path: Path, empty: Corrections) -> Corrections:
    """Read the corrections in ``path`` of the scan that ``empty`` belongs to; the classes of ``empty`` come first.

    Returns ``empty`` itself if there is no file. Raises InputError if the file belongs to other points.
    """
    if not path.exists():
        return empty
    found = read_corrections(path)
    if (found.checksum, found.points) != (empty.checksum, empty.points):
        raise InputError(
            path,
            expected=f"corrections of this scan ({empty.points:,} points, checksum {empty.checksum[:12]})",
            found=f"those of another ({found.points:,} points, checksum {found.checksum[:12]})",
            remedy="Restore the scan that was corrected, or move the corrections away.",
        )
    return found.with_classes(empty.classes)


def _understand(path: Path, file: CorrectionsFile) -> Corrections:
    classes = tuple(SemanticClass(one.name, one.value, _colour(one.colour)) for one in file.classes)
    for what, values in (("name", [one.name for one in classes]), ("value", [one.value for one in classes])):
        if len(set(map(str, values))) < len(values):
            raise InputError(path, expected=f"a different {what} for every class", found="one twice")
    names = tuple(one.name for one in classes)
    done, undone = (
        tuple(_read_one(f"{path}, {key} {place}", one, names, file.points) for place, one in enumerate(entries, 1))
        for key, entries in (("correction", file.corrections), ("undone correction", file.undone))
    )
    return Corrections(file.checksum, file.points, classes, done, undone)


def _read_one(where: str, listed: ListedCorrection, names: tuple[str, ...], points: int) -> Correction:
    if listed.name not in names:
        raise unknown_choice(where, listed.name, names)
    last = -1
    for run in listed.points:
        first, end = (run, run) if isinstance(run, int) else (run[0], run[1])
        if not last < first <= end:
            expected = "indices in ascending order, each once"
            raise InputError(where, expected=expected, found=f"{json.dumps(run)} after {last}")
        if end >= points:  # checked before a run, however long, becomes an array
            raise InputError(where, expected=f"indices from 0 to {points - 1}", found=str(end), remedy=START_AGAIN)
        last = end
    return Correction(listed.name, _from_runs(listed.points))


def _from_runs(runs: Iterable[int | list[int]]) -> Indices:
    parts = [np.arange(run, run + 1) if isinstance(run, int) else np.arange(run[0], run[1] + 1) for run in runs]
    return np.concatenate(parts).astype(np.int64)


def _as_runs(indices: Indices) -> list[int | list[int]]:
    """Return ascending indices with each run of three or more as its two ends; a run of two stays two numbers."""
    pieces = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1)
    runs: list[int | list[int]] = []
    for piece in pieces:
        runs += [[int(piece[0]), int(piece[-1])]] if len(piece) > 2 else piece.tolist()
    return runs


def _as_json(correction: Correction) -> dict[str, Any]:
    return {"class": correction.name, "points": _as_runs(correction.indices)}


def _dump_list(entries: Iterable[dict[str, Any]]) -> str:
    lines = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in entries]
    return "[\n  " + ",\n  ".join(lines) + "\n ]" if lines else "[]"


def _colour(channels: list[int]) -> tuple[int, int, int]:
    red, green, blue = channels
    return red, green, blue


def _explain(path: Path, error: ValidationError) -> InputError:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("int", "constrained", "list[")))
    found = "nothing" if first["type"] == "missing" else f"{first['input']!r:.60} ({first['msg']})"
    return InputError(path, expected=f"a valid {place!r}", found=" ".join(found.split()), remedy=START_AGAIN)
