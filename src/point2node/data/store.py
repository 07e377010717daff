"""Reading a prepared store: scenes and shapes as memory maps, checked against the manifest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass
from point2node.core.documents import dump_json
from point2node.core.errors import InputError, unknown_choice
from point2node.core.point_cloud import PointCloud
from point2node.data.manifest import FIELD, Manifest, SceneEntry, array_file, checksum_arrays, read_manifest
from point2node.data.sources import Shapes

MANIFEST = "manifest.json"
SCENES = "scenes"
REMEDY = "Run the 'point2node prepare' command that made the store again."


@dataclass(frozen=True)
class Store:
    """A prepared data set. Opening it reads the manifest only; arrays are mapped when a scene is loaded."""

    path: Path
    manifest: Manifest

    def __reduce__(self) -> tuple[object, ...]:
        return open_store, (self.path,)  # a worker reads the manifest itself

    @property
    def classes(self) -> tuple[SemanticClass, ...]:
        """The class list; a label is the ``value`` of one of them."""
        return self.manifest.classes

    @property
    def checksum(self) -> str:
        """The SHA-256 of the manifest, which holds that of every scene: two stores with the same one are the same, by
        whichever version of the software they were made.
        """
        anonymous = self.manifest.model_copy(update={"software": ""})
        return hashlib.sha256(dump_json(anonymous).encode()).hexdigest()

    @property
    def block_cache(self) -> Path:
        """Where cut blocks and estimated normals of the scenes are kept."""
        return self.path / "blocks"

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits: ``train`` and ``test``, or the areas of S3DIS."""
        return tuple(self.manifest.splits)

    def scenes(self, split: str | None = None) -> tuple[str, ...]:
        """The names of all scenes, or of those of one split."""
        if split is None:
            return tuple(entry.name for entry in self.manifest.scenes)
        if split not in self.manifest.splits:
            raise unknown_choice(f"{self.path}, split", split, self.manifest.splits)
        return self.manifest.splits[split]

    def entry(self, name: str) -> SceneEntry:
        """What the manifest says of one scene."""
        for entry in self.manifest.scenes:
            if entry.name == name:
                return entry
        raise unknown_choice(f"{self.path}, scene", name, self.scenes())

    def arrays(self, name: str) -> dict[str, Any]:
        """One scene's arrays as memory maps; its coordinates are local: in the frame of the room."""
        self._refuse_unless("segmentation")
        return self._map(self.entry(name))

    def load(self, name: str) -> PointCloud:
        """One scene with absolute coordinates; colours, normals and fields are read when they are looked at."""
        entry, arrays = self.entry(name), self.arrays(name)
        fields = {array.removeprefix(FIELD): arrays.pop(array) for array in entry.arrays if array.startswith(FIELD)}
        return PointCloud(_shift_back(arrays.pop("xyz"), entry.shift), **arrays, fields=fields)

    def shapes(self, split: str) -> Shapes:
        """All clouds of a split of a classification store, mapped."""
        self._refuse_unless("classification")
        (name,) = self.scenes(split)
        return Shapes(**self._map(self.entry(name)))

    def number_labels(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Each label's place in the class list; -1 for values that are neither learnt nor scored."""
        numbers = np.full(labels.shape, -1, np.int64)
        for number, one in enumerate(self.manifest.classes):
            if one.value not in self.manifest.ignored:
                numbers[labels == one.value] = number
        return numbers

    def check(self, name: str) -> None:
        """Compare a scene's arrays with the checksum in the manifest, byte for byte."""
        entry = self.entry(name)
        found = checksum_arrays(self._map(entry))
        if found != entry.checksum:
            raise InputError(self._folder(entry), expected=f"the checksum {entry.checksum}", found=found, remedy=REMEDY)

    def _refuse_unless(self, task: str) -> None:
        if self.manifest.task != task:
            raise InputError(self.path, expected=f"a store for {task}", found=f"one for {self.manifest.task}")

    def _folder(self, entry: SceneEntry) -> Path:
        return self.path / SCENES / entry.folder

    def _map(self, entry: SceneEntry) -> dict[str, Any]:
        arrays = {array: _map_array(self._folder(entry) / array_file(array)) for array in entry.arrays}
        expected = entry.points if entry.shapes is None else entry.shapes
        for array, values in arrays.items():
            if values.ndim == 0 or len(values) != expected:
                where = self._folder(entry) / array_file(array)
                raise InputError(where, expected=f"{expected} rows", found=f"shape {values.shape}", remedy=REMEDY)
        return arrays


def open_store(path: str | Path) -> Store:
    """The store in the folder ``path``; every array that its manifest names has to be there."""
    folder = Path(path)
    if not (folder / MANIFEST).is_file():
        raise InputError(
            folder,
            expected=f"a prepared store with a {MANIFEST}",
            found="an unfinished one" if (folder / SCENES).is_dir() else "none",
            remedy="Make one with 'point2node prepare', which continues where it was stopped.",
        )
    store = Store(folder, read_manifest(folder / MANIFEST))
    for entry in store.manifest.scenes:
        for array in entry.arrays:
            file = folder / SCENES / entry.folder / array_file(array)
            if not file.is_file():
                raise InputError(file, expected=f"the {array} of {entry.name!r}", found="nothing", remedy=REMEDY)
    return store


def _shift_back(local: NDArray[Any], shift: tuple[float, float, float]) -> NDArray[np.float64]:
    """Absolute coordinates; axis by axis, which is twice as fast as broadcasting over rows of three."""
    xyz = np.empty(local.shape)
    for axis, distance in enumerate(shift):
        np.add(local[:, axis], distance, out=xyz[:, axis], dtype=np.float64)
    return xyz


def _map_array(path: Path) -> NDArray[Any]:
    """The array in ``path`` as a read-only memory map."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(path, expected="a whole .npy file", found=str(error), remedy=REMEDY) from error
