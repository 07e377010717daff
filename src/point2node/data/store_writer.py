"""Writing of a prepared store, so that it stays readable after a kill at any moment and the next run resumes.

A scene's arrays are written to a temporary folder that is then renamed. The folder's name contains the checksum, so
nothing that a manifest lists is ever overwritten. Then a journal entry records that the source is done. The manifest
is replaced last, and after that, everything it does not list is deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from point2node._version import __version__
from point2node.core.documents import Strict, dump_json
from point2node.core.point_cloud import PointCloud
from point2node.data.manifest import (
    FIELD,
    FORMAT,
    LostLine,
    Manifest,
    SceneEntry,
    array_file,
    checksum_arrays,
    encode_name,
)
from point2node.data.sources import Dataset, Scene, Shapes, Source
from point2node.data.store import MANIFEST, SCENES

JOURNAL = ".journal"
TOLERANCE = 1e-6  # metres; if single precision is further off, double precision is stored
ATTRIBUTES = ("rgb", "normals", "intensity", "labels", "instance")


class JournalEntry(Strict):
    """Records that a source is done, from which state of its files, and its scenes."""

    fingerprint: str
    scenes: tuple[SceneEntry, ...]


def fingerprint(source: Source, dataset: Dataset) -> str:
    """Hash the files of a source (by size and time) and the settings.

    Renaming a class of scenes changes no label, but the label of a shape is the index of its class in a list of names.
    """
    files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in source.files]
    shapes = dataset.task == "classification"
    classes = [one.name for one in dataset.classes] if shapes else sorted(one.value for one in dataset.classes)
    data_set = (dataset.name, dataset.release, classes, dataset.ignored, dict(dataset.settings))
    known = (FORMAT, __version__, data_set, source.split, files)
    return hashlib.sha256(json.dumps(known, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def write_scene(store: Path, scene: Scene) -> SceneEntry:
    """Store one scene and return its manifest entry; nothing is written for a scene without points."""
    arrays, shift = _pack(scene.content) if len(scene.content) else ({}, np.zeros(3))
    values, counts = np.unique(arrays.get("labels", ()), return_counts=True)
    entry = SceneEntry(
        name=scene.name,
        split=scene.split,
        points=arrays["xyz"].size // 3 if arrays else 0,
        shapes=len(scene.content) if isinstance(scene.content, Shapes) else None,
        shift=(float(shift[0]), float(shift[1]), float(shift[2])),
        arrays=tuple(sorted(arrays)),
        labels=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        checksum=checksum_arrays(arrays),
        lost=tuple(LostLine(**asdict(damage)) for damage in scene.lost),
        notes=scene.notes,
    )
    folder = store / SCENES / entry.folder
    if arrays and not folder.is_dir():
        partial = folder.with_name(f".{os.getpid()}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, array in arrays.items():
            np.save(partial / array_file(name), array, allow_pickle=False)
        partial.replace(folder)
    return entry


def read_journal(store: Path, source: Source) -> JournalEntry | None:
    """Read an earlier run's journal entry of ``source``; None if it is missing or out of date."""
    path = _journal_path(store, source)
    try:
        entry = JournalEntry.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):  # not done, or by another version: do it again
        return None
    complete = all((store / SCENES / scene.folder).is_dir() for scene in entry.scenes if scene.points)
    return entry if complete else None


def write_journal(store: Path, source: Source, entry: JournalEntry) -> None:
    """Record that ``source`` is done; its scenes must already be in place."""
    path = _journal_path(store, source)
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace_text(path, dump_json(entry))


def write_manifest(store: Path, dataset: Dataset, scenes: Iterable[SceneEntry]) -> Manifest:
    """Make ``scenes`` the contents of the store, and delete everything else.

    Scenes without points are left out; they are listed in the notes, and what was lost from them in ``lost``.
    """
    everything = sorted(scenes, key=lambda entry: (entry.split, entry.name))
    listed = [entry for entry in everything if entry.points]
    empty = (f"{entry.name}: no points, left out" for entry in everything if not entry.points)
    splits: dict[str, tuple[str, ...]] = {}
    for entry in listed:
        splits[entry.split] = (*splits.get(entry.split, ()), entry.name)
    manifest = Manifest(
        format=FORMAT,
        software=f"point2node {__version__}",
        dataset=dataset.name,
        release=dataset.release,
        task=dataset.task,
        classes=tuple(dataset.classes),
        ignored=dataset.ignored,
        settings=dict(dataset.settings),
        splits=splits,
        scenes=tuple(listed),
        lost=tuple(lost for entry in everything for lost in entry.lost),
        notes=(*dataset.notes, *empty, *(note for entry in everything for note in entry.notes)),
    )
    (store / SCENES).mkdir(parents=True, exist_ok=True)
    _replace_text(store / MANIFEST, dump_json(manifest))
    _sweep(store / SCENES, {entry.folder for entry in listed})
    _sweep(store / JOURNAL, {_journal_path(store, source).name for source in dataset.sources})
    return manifest


def _pack(content: PointCloud | Shapes) -> tuple[dict[str, NDArray[Any]], NDArray[np.float64]]:
    """Return the arrays to store, in the smallest types that fit, and the shift back to absolute coordinates."""
    if isinstance(content, Shapes):
        arrays = {"xyz": content.xyz, "labels": _shrink(content.labels), "names": content.names}
        if content.normals is not None:
            arrays["normals"] = content.normals
        return arrays, np.zeros(3)
    single, shift = content.local()
    double = content.xyz - shift
    exact = not len(double) or np.nanmax(np.abs(single - double), initial=0.0) <= TOLERANCE
    arrays = {"xyz": single if exact else double}
    for name in ATTRIBUTES:
        values = getattr(content, name)
        if values is not None:
            arrays[name] = _shrink(values) if name in ("labels", "instance") else values
    arrays |= {f"{FIELD}{name}": values for name, values in content.fields.items()}
    return arrays, shift


def _shrink(values: NDArray[Any]) -> NDArray[Any]:
    """Convert whole numbers to the smallest type that fits them all."""
    smallest = np.result_type(np.min_scalar_type(values.min()), np.min_scalar_type(values.max()))
    return values.astype(smallest)


def _journal_path(store: Path, source: Source) -> Path:
    return store / JOURNAL / f"{encode_name(source.name)}.json"


def _replace_text(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial")  # overwritten by the next run if this one is killed
    partial.write_text(text, encoding="utf-8", newline="\n")
    partial.replace(path)


def _sweep(folder: Path, kept: set[str]) -> None:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name in kept:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
