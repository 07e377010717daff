"""The blocks of a scene, cut once and cached on disk: cutting a room of a million points for each sample would be too
slow.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.writing import replacing
from point2node.data.store import Store
from point2node.geometry.blocks import BlockRules, cut_blocks

SEED = 0
"""Seed of the cut: the blocks of a store are the same in every run."""


@dataclass(frozen=True)
class Blocks:
    """All blocks of one scene, concatenated; memory maps if they could be cached on disk."""

    numbers: NDArray[np.int32]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, block: int) -> NDArray[np.int64]:
        """Return the point numbers of one block."""
        start = self.ends[block - 1] if block else 0
        return self.numbers[start : self.ends[block]].astype(np.int64)


def blocks_of(store: Store, scene: str, rules: BlockRules, offsets: tuple[float, ...], folder: Path) -> Blocks:
    """Return the blocks of a scene at every offset, cut on first use and cached under ``folder`` if it is writable."""
    entry = store.entry(scene)
    what = json.dumps([asdict(rules), offsets, SEED, entry.checksum])
    place = folder / f"{entry.folder}.{hashlib.sha256(what.encode()).hexdigest()[:12]}"
    numbers, ends = place.with_name(f"{place.name}.numbers.npy"), place.with_name(f"{place.name}.ends.npy")
    if not ends.is_file():  # written last: if it exists, the numbers do too
        blocks = _cut(store, scene, rules, offsets)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _save(numbers, blocks.numbers)
            _save(ends, blocks.ends)
        except (OSError, InputError):  # read-only store or full disk: keep them in memory
            return blocks
    return Blocks(np.load(numbers, mmap_mode="r"), np.load(ends))


def _cut(store: Store, scene: str, rules: BlockRules, offsets: tuple[float, ...]) -> Blocks:
    xyz = np.asarray(store.arrays(scene)["xyz"])
    random = np.random.default_rng(SEED)
    cut = [block for offset in offsets for block in cut_blocks(xyz, offset, random, rules)]
    return Blocks(np.concatenate(cut).astype(np.int32), np.cumsum([len(block) for block in cut]))


def _save(path: Path, values: NDArray[np.integer]) -> None:
    with replacing(path) as stream:
        np.save(stream, values, allow_pickle=False)
