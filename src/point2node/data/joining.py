"""The parts of a split of shapes, which were read apart, put together as if they had been read at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.data.manifest import SceneEntry, array_file
from point2node.data.sources import Damage, Scene, Shapes, Source, no_shapes
from point2node.data.store import SCENES


def join_parts(store: Path, source: Source, entries: list[SceneEntry]) -> Scene:
    """One scene of all shapes in ``entries``, which are those of the parts of ``source`` in their order."""
    lost = tuple(Damage(one.path, one.line, one.bytes) for entry in entries for one in entry.lost)
    notes = tuple(note for entry in entries for note in entry.notes)
    filled = [place for place, entry in enumerate(entries) if entry.points]
    if not filled:
        return Scene(source.name, source.split, no_shapes(), lost, notes)
    parts = [_load(store, entries[place]) for place in filled]
    points = parts[0]["xyz"].shape[1]
    for place, part in zip(filled, parts, strict=True):
        if part["xyz"].shape[1] != points:
            file = next(file for file in source.parts[place].files if file.stem == part["names"][0])
            found = str(part["xyz"].shape[1])
            raise InputError(file, expected=f"{points} points, as in the others", found=found)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    joined["labels"] = joined["labels"].astype(np.int32)
    return Scene(source.name, source.split, Shapes(**joined), lost, notes)


def _load(store: Path, entry: SceneEntry) -> dict[str, np.ndarray]:
    folder = store / SCENES / entry.folder
    return {name: np.load(folder / array_file(name), mmap_mode="r", allow_pickle=False) for name in entry.arrays}
