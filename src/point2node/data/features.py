"""The network's input next to xyz: what the points of a scene are described by.

The same code makes the features of training samples, of scenes that are scored and of users' scans, so that a network
is always given what it was trained on. What a scene lacks is filled in: colours by grey, normals by an estimate.
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
LOOKED_AT = 100_000
"""Points that the mean colour of a scene is taken from."""
SPREAD = 4.0
"""Relative colours within ± 2 standard deviations fill the range of plain ones, −0.5 to 0.5."""
QUANTA = 127
"""Normals are kept as bytes: to half a degree, in a quarter of the space."""
SURROUNDINGS_FORM = 1
"""Counts the ways in which surroundings were described: files of an older one are not used."""


@dataclass(frozen=True, eq=False)
class SceneFeatures:
    """The points of one scene, as far as features are made of them.

    ``rgb``: colours as rgb / 255 − 0.5; 0, the middle grey, where there are none.
    ``relative_rgb``: colours as (rgb − mean of the scene) / (4 · standard deviation), clipped to ± 0.5, so that light
    makes no difference; 0 where there are none.
    ``normals``: the absolute values of a normal's three parts, since the sign of an estimated one says nothing.
    ``height``: metres above the floor.
    ``shape``, ``column``, ``boundary``, ``segment``: what surrounds a point (``geometry.surroundings``); made of the
    scan as it is, so that augmentation leaves them alone.
    """

    wanted: tuple[Feature, ...]
    rgb: NDArray[Any] | None = None
    """(N, 3), 0 to 255."""
    normals: NDArray[Any] | None = None
    """(N, 3), of any sign and length; needed where normals are wanted."""
    floor: float = 0.0
    """The z of the floor."""
    surroundings: Surroundings | None = None
    """Needed where any of ``SURROUNDINGS`` is wanted; its table holds these, in the order of ``wanted``."""

    def of(
        self,
        chosen: Numbers,
        xyz: Floats,
        matrix: NDArray[Any] = NO_TURN,
        recolour: Callable[[Floats], Floats] = lambda rgb: rgb,
        hide: Callable[[Floats], Floats] = lambda described: described,
    ) -> Floats | None:
        """The features (M, width) of some points; None where none are wanted.

        Args:
            chosen: (M,) which points.
            xyz: (M, 3) where these are, augmented.
            matrix: what turned them there; normals turn with them.
            recolour: what happens to colours.
            hide: what happens to each feature of the surroundings.
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
        looked_at = np.asarray(self.rgb[:: -(-len(self.rgb) // LOOKED_AT)], np.float32)
        return looked_at.mean(axis=0), np.maximum(looked_at.std(axis=0), 1.0)  # no noise from a scene of one colour


def stored_features(store: Store, name: str, wanted: tuple[Feature, ...], cache: Path) -> SceneFeatures:
    """The features of a stored scene; what takes time to find is found on first use and kept under ``cache``."""
    arrays = store.arrays(name)
    normals = arrays.get("normals")
    if "normals" in wanted and normals is None:
        how = ["normals", CELL, NEIGHBOURS, QUANTA]
        (normals,) = _found_once(store, name, cache, how, ("normals",), lambda xyz: (compact_normals(xyz),))
    surroundings = None
    around = surroundings_of(wanted)
    if around:
        how = ["surroundings", *around, SURROUNDINGS_FORM]
        parts = _found_once(
            store, name, cache, how, ("cells", "around"), lambda xyz: _compact_surroundings(xyz, around)
        )
        surroundings = Surroundings(*parts)
    floor = floor_height(np.asarray(arrays["xyz"][:, 2], np.float32)) if "height" in wanted else 0.0
    return SceneFeatures(wanted, arrays.get("rgb"), normals, floor, surroundings)


def surroundings_of(wanted: tuple[Feature, ...]) -> tuple[Feature, ...]:
    """Those of the wanted features that need the whole scan."""
    return tuple(name for name in wanted if name in SURROUNDINGS)


def compact_normals(xyz: Floats) -> NDArray[np.int8]:
    """Estimated normals (N, 3) as bytes."""
    return np.rint(QUANTA * estimate_normals(torch.from_numpy(xyz)).numpy()).astype(np.int8)


def _compact_surroundings(xyz: Floats, wanted: tuple[Feature, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    found = describe_surroundings(xyz, wanted)
    return found.number.astype(np.int32), found.table.astype(np.float16)


def _found_once(
    store: Store,
    name: str,
    cache: Path,
    how: list[Any],
    suffixes: tuple[str, ...],
    find: Callable[[Floats], tuple[NDArray[Any], ...]],
) -> tuple[NDArray[Any], ...]:
    """Arrays found from a scene's coordinates, one file each; ``how`` they are found is part of the files' names."""
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
        except (OSError, InputError):  # a store that is read-only, or a full disk: then they stay in memory
            return found
    return tuple(np.load(file, mmap_mode="r") for file in files)


def tell_missing_colour(store: Store, wanted: tuple[Feature, ...]) -> list[str]:
    """A line for a person where a network takes colours and some scenes of the store have none."""
    if not set(COLOURS) & set(wanted) or store.manifest.task != "segmentation":
        return []
    entries = store.manifest.scenes
    grey = sum("rgb" not in entry.arrays for entry in entries)
    return [f"note: {grey} of {len(entries)} scenes have no colour and are taken as grey"] if grey else []
