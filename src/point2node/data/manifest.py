"""The manifest of a prepared store, validated when it is read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import StringConstraints, ValidationError

from point2node.core.classes import SemanticClass
from point2node.core.documents import Strict, first_fault, parse_json
from point2node.core.errors import InputError

FORMAT = 1
CHECKSUM_IN_NAME = 12  # characters: enough to tell two states of one scene apart
UNSAFE = re.compile(r'[%/\\:*?"<>|\x00-\x1f]')
FIELD = "field."  # prefix of arrays that are additional fields of a cloud
SHOWN_NOTES = 5  # a data set can have hundreds
LONGEST_NAME = 200  # bytes; file systems allow 255, and a suffix is added


class LostLine(Strict):
    """A damaged line (null: a whole file) that was left out."""

    path: str
    line: int | None
    bytes: str


class SceneEntry(Strict):
    """One stored scene, or one split of shapes."""

    name: str
    split: str
    points: int
    shapes: int | None = None
    """How many clouds the split holds; null for a scene."""
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The shift from the stored local coordinates back to the absolute ones."""
    arrays: tuple[str, ...]
    labels: dict[int, int]
    """How many points (or shapes) have each label value."""
    checksum: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    """Its first characters are part of a folder's name, so its form is checked."""
    lost: tuple[LostLine, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The folder of the arrays. The checksum in its name lets an old and a new state exist side by side."""
        return f"{encode_name(self.name)}.{self.checksum[:CHECKSUM_IN_NAME]}"


class Manifest(Strict):
    """The whole store in one file, without times or absolute paths: the same input gives the same bytes."""

    format: int
    software: str
    dataset: str
    release: str
    task: str
    classes: tuple[SemanticClass, ...]
    ignored: tuple[int, ...]
    settings: dict[str, Any]
    splits: dict[str, tuple[str, ...]]
    scenes: tuple[SceneEntry, ...]
    lost: tuple[LostLine, ...]
    """All lost lines, including those of scenes that were lost completely."""
    notes: tuple[str, ...]
    """What was left out or mapped, and why."""

    def notes_to_print(self) -> list[str]:
        """Return the first notes as lines to print, and how many more there are."""
        more = len(self.notes) - SHOWN_NOTES
        shown = [
            *self.notes[:SHOWN_NOTES],
            *([f"and {more} more notes in the store's manifest.json"] if more > 0 else []),
        ]
        return [f"note: {note}" for note in shown]


def encode_name(name: str) -> str:
    """Encode any name as a file or folder name for every system; spaces and letters of any alphabet are kept."""
    encoded = UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", name)
    if len(encoded.encode()) <= LONGEST_NAME:
        return encoded
    start = encoded.encode()[: LONGEST_NAME - 20].decode(errors="ignore")
    return f"{start}%~{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def array_file(array: str) -> str:
    """Return the file name of one array of a scene."""
    return f"{encode_name(array)}.npy"


def checksum_arrays(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of the arrays' names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name, values in sorted(arrays.items()):
        digest.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def read_manifest(path: Path) -> Manifest:
    """Read the manifest in ``path``; raises InputError if it is invalid."""
    remedy = "Run 'point2node prepare' again."
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise InputError(path, expected="a manifest in JSON", found=str(error), remedy=remedy) from error
    version = data.get("format") if isinstance(data, dict) else None
    if version != FORMAT:
        raise InputError(path, expected=f"a store of format {FORMAT}", found=f"format {version!r}", remedy=remedy)
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        place, message = first_fault(error)
        raise InputError(path, expected=f"a valid {place!r}", found=message, remedy=remedy) from error
