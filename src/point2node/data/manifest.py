"""The manifest of a prepared store: what is in it, checked when it is read."""

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
FIELD = "field."  # before the name of an array that is a further field of a cloud
TOLD = 5  # notes: a data set may have hundreds
LONGEST_NAME = 200  # bytes; file systems take 255, and more is added to it


class LostLine(Strict):
    """A line (null: a whole file) that was damaged and left out."""

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
    """What leads from the stored local coordinates back to the absolute ones."""
    arrays: tuple[str, ...]
    labels: dict[int, int]
    """How many points (of shapes: how many shapes) have each label value."""
    checksum: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    """Its beginning is part of a folder's name, so it has to be what it is called."""
    lost: tuple[LostLine, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Where the arrays are. The checksum in its name lets an old and a new state stand side by side."""
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
    """All of them, including those of scenes of which nothing was left."""
    notes: tuple[str, ...]
    """What was left out or mapped, and why."""

    def told_notes(self) -> list[str]:
        """Lines for a person: the first notes, and how many more there are."""
        more = len(self.notes) - TOLD
        told = [*self.notes[:TOLD], *([f"and {more} more notes in the store's manifest.json"] if more > 0 else [])]
        return [f"note: {note}" for note in told]


def encode_name(name: str) -> str:
    """Any name as that of one file or folder on every system; spaces and letters of any alphabet stay as they are."""
    encoded = UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", name)
    if len(encoded.encode()) <= LONGEST_NAME:
        return encoded
    start = encoded.encode()[: LONGEST_NAME - 20].decode(errors="ignore")
    return f"{start}%~{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def array_file(array: str) -> str:
    """The name of the file that holds one array of a scene."""
    return f"{encode_name(array)}.npy"


def checksum_arrays(arrays: Mapping[str, NDArray[Any]]) -> str:
    """The SHA-256 of the arrays' bytes, with each one's name, type and shape before it."""
    digest = hashlib.sha256()
    for name, values in sorted(arrays.items()):
        digest.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def read_manifest(path: Path) -> Manifest:
    """The manifest in ``path``; whatever is wrong with it is said in one line."""
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
