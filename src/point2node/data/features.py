"""The network's input next to xyz: the features of the points of a scene.

The same code makes the features of training samples, of scored scenes and of users' scans, so that a network always
gets what it was trained on. If a scene has no colours, they are grey; if it has no normals, they are estimated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.words import COLOURS, SURROUNDINGS, WIDTHS, Feature
from point2node.core.writing import replacing
from point2node.data.store import Store
from point2node.geometry.augment import transform_normals
from point2node.geometry.frames import floor_height
from point2node.geometry.normals import CELL, NEIGHBOURS, estimate_normals
from point2node.geometry.surroundings import Surroundings, describe_surroundings

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
NO_TURN = np.eye(3)
HALF = np.float32(0.5)
COLOUR_POINTS = 100_000
"""The number of points for the mean colour of a scene."""
SPREAD = 4.0
"""Relative colours within ± 2 standard deviations map to the range of plain ones, −0.5 to 0.5."""
QUANTA = 127
"""Normals are stored as bytes: exact to half a degree, in a quarter of the space."""
SURROUNDINGS_FORM = 1
"""Version of the surroundings features: cached files of older versions are not used."""


@dataclass(frozen=True, eq=False)
class SceneFeatures:
    """What the features of one scene's points are made from.

    ``rgb``: colours as rgb / 255 − 0.5; 0, middle grey, if there are none.
    ``relative_rgb``: colours as (rgb − mean of the scene) / (4 · standard deviation), clipped to ± 0.5, so that
    lighting has no effect; 0 if there are none.
    ``normals``: the absolute values of a normal's components, since the sign of an estimated normal is arbitrary.
    ``height``: metres above the floor.
    ``shape``, ``column``, ``boundary``, ``segment``: the surroundings of a point (``geometry.surroundings``), computed
    from the whole scan without augmentation.
    """

    wanted: tuple[Feature, ...]
    rgb: NDArray[Any] | None = None
    """(N, 3), 0 to 255."""
    normals: NDArray[Any] | None = None
    """(N, 3), of any sign and length; required if normals are wanted."""
    floor: float = 0.0
    """The z of the floor."""
    surroundings: Surroundings | None = None
    """Required if any of ``SURROUNDINGS`` is wanted; its table has these, in the order of ``wanted``."""

    def of(
        self,
        chosen: Numbers,
        xyz: Floats,
        matrix: NDArray[Any] = NO_TURN,
        recolour: Callable[[Floats], Floats] = lambda rgb: rgb,
        hide: Callable[[Floats], Floats] = lambda described: described,
    ) -> Floats | None:
        """Return the features (M, width) of some points; None if none are wanted.

        Args:
            chosen: (M,) the indices of the points.
            xyz: (M, 3) their augmented coordinates.
            matrix: (3, 3) the transform that was applied to them, for the normals.
            recolour: the augmentation of colours.
            hide: the augmentation of each feature of the surroundings.
        """
        parts: list[Floats] = []
        column = 0
        for name in self.wanted:
            if name in SURROUNDINGS:
                assert self.surroundings is not None
                there = self.surroundings.number[chosen]
                parts.append(hide(self.surroundings.table[there, column : column + WIDTHS[name]].astype(np.float32)))
                column += WIDTHS[name]
            elif name == "height":
                parts.append(xyz[:, 2:] - np.float32(self.floor))
            elif name == "normals":
                assert self.normals is not None
                parts.append(np.abs(transform_normals(self.normals[chosen].astype(np.float32), matrix)))
            elif self.rgb is None:
                parts.append(np.zeros((len(chosen), 3), np.float32))
            else:
                rgb: Floats = self.rgb[chosen].astype(np.float32)
                parts.append(recolour(self._relative(rgb) if name == "relative_rgb" else rgb / np.float32(255) - HALF))
        return np.concatenate(parts, axis=1, dtype=np.float32) if parts else None

    def _relative(self, rgb: Floats) -> Floats:
        mean, deviation = self._mean_and_deviation
        return np.clip((rgb - mean) / (SPREAD * deviation), -0.5, 0.5, dtype=np.float32)

    @cached_property
    def _mean_and_deviation(self) -> tuple[Floats, Floats]:
        assert self.rgb is not None
        sample = np.asarray(self.rgb[:: -(-len(self.rgb) // COLOUR_POINTS)], np.float32)
        return sample.mean(axis=0), np.maximum(sample.std(axis=0), 1.0)  # a scene of one colour must not become noise


def stored_features(store: Store, name: str, wanted: tuple[Feature, ...], cache: Path) -> SceneFeatures:
    """Return the features of a stored scene; slow ones are computed on first use and cached under ``cache``."""
    arrays = store.arrays(name)
    normals = arrays.get("normals")
    if "normals" in wanted and normals is None:
        how = ["normals", CELL, NEIGHBOURS, QUANTA]
        (normals,) = _cached(store, name, cache, how, ("normals",), lambda xyz: (compact_normals(xyz),))
    surroundings = None
    around = surroundings_of(wanted)
    if around:
        how = ["surroundings", *around, SURROUNDINGS_FORM]
        parts = _cached(store, name, cache, how, ("cells", "around"), lambda xyz: _compact_surroundings(xyz, around))
        surroundings = Surroundings(*parts)
    floor = floor_height(np.asarray(arrays["xyz"][:, 2], np.float32)) if "height" in wanted else 0.0
    return SceneFeatures(wanted, arrays.get("rgb"), normals, floor, surroundings)


def surroundings_of(wanted: tuple[Feature, ...]) -> tuple[Feature, ...]:
    """Return the wanted features that need the whole scan."""
    return tuple(name for name in wanted if name in SURROUNDINGS)


def compact_normals(xyz: Floats) -> NDArray[np.int8]:
    """Estimate normals (N, 3) as bytes."""
    return np.rint(QUANTA * estimate_normals(torch.from_numpy(xyz)).numpy()).astype(np.int8)


def _compact_surroundings(xyz: Floats, wanted: tuple[Feature, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    found = describe_surroundings(xyz, wanted)
    return found.number.astype(np.int32), found.table.astype(np.float16)


def _cached(
    store: Store,
    name: str,
    cache: Path,
    how: list[Any],
    suffixes: tuple[str, ...],
    find: Callable[[Floats], tuple[NDArray[Any], ...]],
) -> tuple[NDArray[Any], ...]:
    """Compute arrays from a scene's coordinates, or load them from the cache; ``how`` is part of the file names."""
    entry = store.entry(name)
    what = hashlib.sha256(json.dumps([*how, entry.checksum]).encode()).hexdigest()
    files = [cache / f"{entry.folder}.{what[:12]}.{suffix}.npy" for suffix in suffixes]
    if not all(file.is_file() for file in files):
        found = find(np.array(store.arrays(name)["xyz"], np.float32))
        try:
            cache.mkdir(parents=True, exist_ok=True)
            for file, array in zip(files, found, strict=True):
                with replacing(file) as stream:
                    np.save(stream, array, allow_pickle=False)
        except (OSError, InputError):  # read-only store or full disk: keep them in memory
            return found
    return tuple(np.load(file, mmap_mode="r") for file in files)


def missing_colour_notes(store: Store, wanted: tuple[Feature, ...]) -> list[str]:
    """Return a note if a network takes colours and some scenes of the store have none."""
    if not set(COLOURS) & set(wanted) or store.manifest.task != "segmentation":
        return []
    entries = store.manifest.scenes
    grey = sum("rgb" not in entry.arrays for entry in entries)
    return [f"note: {grey} of {len(entries)} scenes have no colour and are treated as grey"] if grey else []
