"""Preparation of a store from a data set: only what changed is read, in parallel."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.words import Report, unreported
from point2node.core.writing import alone_in
from point2node.data.manifest import Manifest, SceneEntry, array_file
from point2node.data.parallel import map_unordered
from point2node.data.sources import Damage, Dataset, Scene, Shapes, Source, no_shapes
from point2node.data.store import MANIFEST, SCENES
from point2node.data.store_writer import (
    JOURNAL,
    JournalEntry,
    fingerprint,
    read_journal,
    write_journal,
    write_manifest,
    write_scene,
)


@dataclass(frozen=True)
class Prepared:
    """The result of a preparation."""

    manifest: Manifest
    read: int
    """How many sources, or parts of sources, were read; the others had not changed."""


def prepare(
    dataset: Dataset,
    store: Path,
    *,
    workers: int | None = None,
    skip_damaged: bool = False,
    wait: bool = True,
    report: Report = unreported,
) -> Prepared:
    """Bring ``store`` up to date with ``dataset``; if another process is doing so, ``wait`` or raise InputError.

    After an error or a kill, finished sources are kept and the next run resumes.
    """
    _check_folder(store, dataset)
    if not dataset.sources:
        left_out = f"none; {dataset.notes[0]}" if dataset.notes else "none"
        raise InputError(dataset.name, expected="scenes or shapes to prepare", found=left_out)
    with alone_in(store, wait=wait):
        done, pending = _find_pending(dataset, store, skip_damaged)
        total = len(done) + len(pending)
        for place, scenes in map_unordered(partial(_prepare_unit, store, skip_damaged), pending, workers):
            name = pending[place][0].name
            done[name] = scenes
            report(len(done), total, name)
        for source in dataset.sources:
            if source.name not in done:
                parts = [entry for part in source.parts for entry in done[part.name]]
                joined = (write_scene(store, join_parts(store, source, parts)),)
                write_journal(store, source, JournalEntry(fingerprint=fingerprint(source, dataset), scenes=joined))
                done[source.name] = joined
        everything = [scene for source in dataset.sources for scene in done[source.name]]
        _check_unique_names(store, everything)
        return Prepared(write_manifest(store, dataset, everything), len(pending))


def _find_pending(
    dataset: Dataset, store: Path, skip_damaged: bool
) -> tuple[dict[str, tuple[SceneEntry, ...]], list[tuple[Source, str]]]:
    """Return the scenes of sources that are already done, by name, and the sources to read, with their fingerprints."""
    done: dict[str, tuple[SceneEntry, ...]] = {}
    pending: list[tuple[Source, str]] = []

    def is_done(source: Source, mark: str) -> bool:
        noted = read_journal(store, source)
        if noted and noted.fingerprint == mark and (skip_damaged or not any(scene.lost for scene in noted.scenes)):
            done[source.name] = noted.scenes
        return source.name in done

    for source in dataset.sources:
        if is_done(source, fingerprint(source, dataset)):
            continue
        marked = [(unit, fingerprint(unit, dataset)) for unit in source.units()]
        pending += [(unit, mark) for unit, mark in marked if not is_done(unit, mark)]
    return done, pending


def _prepare_unit(store: Path, skip_damaged: bool, marked: tuple[Source, str]) -> tuple[SceneEntry, ...]:
    """Read one source or part, store its scenes and record it in the journal. Runs in a worker."""
    unit, mark = marked
    scenes = tuple(write_scene(store, scene) for scene in unit.read(skip_damaged))
    write_journal(store, unit, JournalEntry(fingerprint=mark, scenes=scenes))
    return scenes


def _check_unique_names(store: Path, scenes: list[SceneEntry]) -> None:
    repeated = [name for name, count in Counter(scene.name for scene in scenes).items() if count > 1]
    if repeated:
        raise InputError(store, expected="a different name for every scene", found=f"{repeated[0]!r} more than once")


def _check_folder(store: Path, dataset: Dataset) -> None:
    """Raise InputError if the folder is not a store of this data set: leftovers in a store are deleted after writing.

    A store of another version, or one with a damaged manifest, is replaced like any other old state.
    """
    held = _held_dataset(store / MANIFEST)
    if held is not None:
        found = "" if held == dataset.name else f"a store of {held}"
    elif store.is_dir():
        unfinished = {JOURNAL, SCENES, MANIFEST, f".{MANIFEST}.partial"}
        found = "" if {path.name for path in store.iterdir()} <= unfinished else "a folder with other contents"
    else:
        found = "a file" if store.exists() else ""
    if found:
        expected = f"a store of {dataset.name} or a new folder"
        raise InputError(store, expected=expected, found=found, remedy="Choose another --out.")


def _held_dataset(manifest: Path) -> str | None:
    """Return the data set of a manifest of any version; None if it is unknown."""
    try:
        data = parse_json(manifest.read_bytes())
    except (OSError, ValueError):
        return None
    held = data.get("dataset") if isinstance(data, dict) else None
    return held if isinstance(held, str) else None


def join_parts(store: Path, source: Source, entries: list[SceneEntry]) -> Scene:
    """Join the shapes in ``entries``, which belong to the parts of ``source`` in order, to one scene."""
    lost = tuple(Damage(one.path, one.line, one.bytes) for entry in entries for one in entry.lost)
    notes = tuple(note for entry in entries for note in entry.notes)
    filled = [place for place, entry in enumerate(entries) if entry.points]
    if not filled:
        return Scene(source.name, source.split, no_shapes(), lost, notes)
    parts = [_load_part(store, entries[place]) for place in filled]
    points = parts[0]["xyz"].shape[1]
    for place, part in zip(filled, parts, strict=True):
        if part["xyz"].shape[1] != points:
            file = next(file for file in source.parts[place].files if file.stem == part["names"][0])
            found = str(part["xyz"].shape[1])
            raise InputError(file, expected=f"{points} points, as in the others", found=found)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    joined["labels"] = joined["labels"].astype(np.int32)
    return Scene(source.name, source.split, Shapes(**joined), lost, notes)


def _load_part(store: Path, entry: SceneEntry) -> dict[str, np.ndarray]:
    folder = store / SCENES / entry.folder
    return {name: np.load(folder / array_file(name), mmap_mode="r", allow_pickle=False) for name in entry.arrays}
