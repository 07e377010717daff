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
    """A prepared data set. Opening it reads only the manifest; arrays are mapped when a scene is loaded."""

    path: Path
    manifest: Manifest

    def __reduce__(self) -> tuple[object, ...]:
        return open_store, (self.path,)  # workers read the manifest themselves

    @property
    def classes(self) -> tuple[SemanticClass, ...]:
        """The class list; a label is the ``value`` of one of them."""
        return self.manifest.classes

    @property
    def checksum(self) -> str:
        """The SHA-256 of the manifest, which includes that of every scene. Stores with the same one are equal, even
        if different versions of the software made them.
        """
        anonymous = self.manifest.model_copy(update={"software": ""})
        return hashlib.sha256(dump_json(anonymous).encode()).hexdigest()

    @property
    def block_cache(self) -> Path:
        """The folder for cut blocks and estimated normals of the scenes."""
        return self.path / "blocks"

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits: ``train`` and ``test``, or the areas of S3DIS."""
        return tuple(self.manifest.splits)

    def scenes(self, split: str | None = None) -> tuple[str, ...]:
        """Return the names of all scenes, or of those of one split."""
        if split is None:
            return tuple(entry.name for entry in self.manifest.scenes)
        if split not in self.manifest.splits:
            raise unknown_choice(f"{self.path}, split", split, self.manifest.splits)
        return self.manifest.splits[split]

    def entry(self, name: str) -> SceneEntry:
        """Return the manifest's entry of one scene."""
        for entry in self.manifest.scenes:
            if entry.name == name:
                return entry
        raise unknown_choice(f"{self.path}, scene", name, self.scenes())

    def arrays(self, name: str) -> dict[str, Any]:
        """Return one scene's arrays as memory maps; coordinates are local, in the frame of the room."""
        self._check_task("segmentation")
        return self._map(self.entry(name))

    def load(self, name: str) -> PointCloud:
        """Load one scene with absolute coordinates; colours, normals and fields are read when they are accessed."""
        entry, arrays = self.entry(name), self.arrays(name)
        fields = {array.removeprefix(FIELD): arrays.pop(array) for array in entry.arrays if array.startswith(FIELD)}
        return PointCloud(_shift_back(arrays.pop("xyz"), entry.shift), **arrays, fields=fields)

    def shapes(self, split: str) -> Shapes:
        """Return all clouds of a split of a classification store, as memory maps."""
        self._check_task("classification")
        (name,) = self.scenes(split)
        return Shapes(**self._map(self.entry(name)))

    def number_labels(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Return each label's index in the class list; -1 for values that are neither learnt nor scored."""
        numbers = np.full(labels.shape, -1, np.int64)
        for number, one in enumerate(self.manifest.classes):
            if one.value not in self.manifest.ignored:
                numbers[labels == one.value] = number
        return numbers

    def check(self, name: str) -> None:
        """Compare a scene's arrays with the checksum in the manifest; raises InputError if they differ."""
        entry = self.entry(name)
        found = checksum_arrays(self._map(entry))
        if found != entry.checksum:
            raise InputError(self._folder(entry), expected=f"the checksum {entry.checksum}", found=found, remedy=REMEDY)

    def _check_task(self, task: str) -> None:
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
    """Open the store in the folder ``path``; raises InputError if any array of its manifest is missing."""
    folder = Path(path)
    if not (folder / MANIFEST).is_file():
        raise InputError(
            folder,
            expected=f"a prepared store with a {MANIFEST}",
            found="an unfinished one" if (folder / SCENES).is_dir() else "none",
            remedy="Make one with 'point2node prepare', which resumes where it was stopped.",
        )
    store = Store(folder, read_manifest(folder / MANIFEST))
    for entry in store.manifest.scenes:
        for array in entry.arrays:
            file = folder / SCENES / entry.folder / array_file(array)
            if not file.is_file():
                raise InputError(file, expected=f"the {array} of {entry.name!r}", found="nothing", remedy=REMEDY)
    return store


def _shift_back(local: NDArray[Any], shift: tuple[float, float, float]) -> NDArray[np.float64]:
    """Return absolute coordinates; axis by axis is twice as fast as broadcasting over rows of three."""
    xyz = np.empty(local.shape)
    for axis, distance in enumerate(shift):
        np.add(local[:, axis], distance, out=xyz[:, axis], dtype=np.float64)
    return xyz


def _map_array(path: Path) -> NDArray[Any]:
    """Map the array in ``path`` read-only."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(path, expected="a complete .npy file", found=str(error), remedy=REMEDY) from error
