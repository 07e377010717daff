"""From a data set as found to a prepared store: only what changed is read, in parallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from point2node.core.errors import InputError
from point2node.data.manifest import Manifest, SceneEntry, read_manifest
from point2node.data.parallel import map_unordered
from point2node.data.sources import Dataset, Source
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

Report = Callable[[int, int, str], None]
"""Called with how many sources are done, how many there are, and the name of the latest."""


@dataclass(frozen=True)
class Prepared:
    """What a run gave."""

    manifest: Manifest
    read: int
    """How many sources were read; the others had not changed."""


def prepare(
    dataset: Dataset,
    store: Path,
    *,
    workers: int | None = None,
    skip_damaged: bool = False,
    report: Report = lambda done, total, name: None,
) -> Prepared:
    """Bring ``store`` up to date with ``dataset``.

    A run that is stopped, by an error or a kill, keeps the sources that were finished; the next one goes on.
    """
    _refuse_foreign_folder(store, dataset)
    done: dict[str, tuple[SceneEntry, ...]] = {}
    pending: list[tuple[Source, str]] = []
    for source in dataset.sources:
        mark = fingerprint(source, dataset)
        noted = read_journal(store, source)
        if noted and noted.fingerprint == mark and (skip_damaged or not any(scene.lost for scene in noted.scenes)):
            done[source.name] = noted.scenes
        else:
            pending.append((source, mark))
    for place, scenes in map_unordered(partial(_prepare_source, store, skip_damaged), pending, workers):
        name = pending[place][0].name
        done[name] = scenes
        report(len(done), len(dataset.sources), name)
    everything = [scene for source in dataset.sources for scene in done[source.name]]
    _refuse_two_of_a_name(store, everything)
    return Prepared(write_manifest(store, dataset, everything), len(pending))


def _prepare_source(store: Path, skip_damaged: bool, marked: tuple[Source, str]) -> tuple[SceneEntry, ...]:
    """Read one source, store its scenes and note that it is done. Runs in a worker."""
    source, mark = marked
    scenes = tuple(write_scene(store, scene) for scene in source.read(skip_damaged))
    write_journal(store, source, JournalEntry(fingerprint=mark, scenes=scenes))
    return scenes


def _refuse_two_of_a_name(store: Path, scenes: list[SceneEntry]) -> None:
    repeated = [name for name, count in Counter(scene.name for scene in scenes).items() if count > 1]
    if repeated:
        raise InputError(store, expected="a name of its own for every scene", found=f"{repeated[0]!r} more than once")


def _refuse_foreign_folder(store: Path, dataset: Dataset) -> None:
    """A store is swept after writing: never let that happen to a folder that holds anything else."""
    if (store / MANIFEST).is_file():
        held = read_manifest(store / MANIFEST).dataset
        found = "" if held == dataset.name else f"a store of {held}"
    elif store.is_dir():
        unfinished = {JOURNAL, SCENES, f".{MANIFEST}.partial"}
        found = "" if {path.name for path in store.iterdir()} <= unfinished else "a folder with other contents"
    else:
        found = "a file" if store.exists() else ""
    if found:
        expected = f"a store of {dataset.name} or a new folder"
        raise InputError(store, expected=expected, found=found, remedy="Choose another --out.")
