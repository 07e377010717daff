"""Training samples from a store: blocks of rooms, or shapes; or from several stores at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError, unknown_choice
from point2node.core.words import Feature
from point2node.data.batches import Sample, Samples, SampleSource
from point2node.data.block_cache import Blocks, blocks_of
from point2node.data.features import SceneFeatures, stored_features
from point2node.data.store import Store
from point2node.geometry.augment import Augmentation, swap_part, transform_normals, transform_points
from point2node.geometry.blocks import PAPER, BlockRules, training_group
from point2node.geometry.frames import FRAMES, UPWARDS, Frame
from point2node.kernels.calling import kernels_are_thread_safe

NO_AUGMENTATION = Augmentation()
LARGEST_PART = 0.5
"""The largest share of a shape that is replaced by another's."""
CHECKED_POINTS, LEAST_SHARE = 512, 0.02
"""A block counts as containing a class if at least this share of this many of its points has the class."""


class RoomBlocks(Samples):
    """Blocks of some scenes of a segmentation store: a sample is ``points`` random points of one block, augmented.

    Args:
        store: a prepared store.
        scenes: the names of the scenes to draw from.
        points: N, the size of a sample.
        features: the input of the network next to xyz, in this order.
        augmentation: the random changes to each sample.
        rules: how rooms are cut; samples are drawn from both the "zero" and the "half" blocks.
        frame: the origin of a sample's x and y: the middle of its room or of its block.
        balance: the share of the samples that are drawn by class: a random class, then a block that contains it.
        mix: the probability of replacing quarters of a sample by those of another one.
        cache: folder for cut blocks and estimated normals; by default next to the store's scenes.
    """

    def __init__(
        self,
        store: Store,
        scenes: tuple[str, ...],
        points: int,
        features: tuple[Feature, ...] = ("rgb",),
        augmentation: Augmentation = NO_AUGMENTATION,
        rules: BlockRules = PAPER,
        frame: Frame = "room",
        balance: float = 0.0,
        mix: float = 0.0,
        cache: Path | None = None,
    ) -> None:
        if not scenes:
            raise InputError(store.path, expected="at least one scene to draw from", found="none")
        for name in scenes:
            check_arrays(f"{store.path}, scene {name!r}", store.entry(name).arrays, ("labels",))
        self._arguments = (store, scenes, points, features, augmentation, rules, frame, balance, mix, cache)
        self._store, self._scenes, self._points, self._features = store, scenes, points, features
        self._augmentation, self._frame, self._balance, self._mix = augmentation, FRAMES[frame], balance, mix
        self.card = _card(store, points, features, rules, frame)
        """What labelling needs to know about these samples: ``model.save_pretrained(..., trained_on=blocks.card)``."""
        folder = store.block_cache if cache is None else cache
        offsets = (0.0, rules.side / 2)

        def cut(name: str) -> tuple[Blocks, SceneFeatures]:
            return blocks_of(store, name, rules, offsets, folder), stored_features(store, name, features, folder)

        found = [cut(scenes[0])]
        with ThreadPoolExecutor(torch.get_num_threads() if kernels_are_thread_safe() else 1) as pool:
            found += pool.map(cut, scenes[1:])
        self._blocks, self._described = [blocks for blocks, _ in found], [described for _, described in found]
        self._ends = np.cumsum([len(blocks) for blocks in self._blocks])
        self._holding = self._blocks_by_class() if balance else []

    def __reduce__(self) -> tuple[object, ...]:
        return RoomBlocks, self._arguments  # workers map the files themselves: memory maps are pickled as copies

    def __len__(self) -> int:
        return int(self._ends[-1])

    def draw(self, number: int, random: np.random.Generator) -> Sample:
        """Draw random points of block ``number``, over all scenes; balancing and mixing may use other blocks."""
        sample = self._draw_block(self._rebalanced(number, random), random)
        if not self._mix or random.random() >= self._mix:
            return sample
        other = self._rebalanced(int(random.integers(len(self))), random)
        return mix_quarters(sample, self._draw_block(other, random), random)

    def _rebalanced(self, number: int, random: np.random.Generator) -> int:
        """Return ``number``, or that of a block drawn by class."""
        if not self._balance or random.random() >= self._balance:
            return number
        return int(random.choice(self._holding[random.integers(len(self._holding))]))

    def _draw_block(self, number: int, random: np.random.Generator) -> Sample:
        scene, block = self._block(number)
        arrays = self._store.arrays(self._scenes[scene])
        scanned = block[self._augmentation.scanned(arrays["xyz"][block], random)]
        chosen = self._augmentation.thin(training_group(scanned, self._points, random), random)
        matrix = self._augmentation.draw(random)
        xyz = transform_points(self._frame(arrays["xyz"][chosen].astype(np.float32)), matrix)
        xyz = self._augmentation.shake(self._augmentation.bend(xyz, random), random)
        recolour, hide = (
            partial(change, random=random) for change in (self._augmentation.recolour, self._augmentation.hide)
        )
        return Sample(
            xyz=xyz,
            features=self._described[scene].of(chosen, xyz, matrix, recolour, hide),
            labels=self._store.number_labels(arrays["labels"][chosen]),
            scene=self._scenes[scene],
        )

    def _block(self, number: int) -> tuple[int, NDArray[np.int64]]:
        """Return the scene of a block and the block's points, in random order."""
        scene = int(np.searchsorted(self._ends, number, side="right"))
        blocks = self._blocks[scene]
        return scene, blocks[number - int(self._ends[scene]) + len(blocks)]

    def _blocks_by_class(self) -> list[NDArray[np.int64]]:
        """For each class that occurs: the numbers of the blocks that contain it, judged from a few points of each."""
        shares = np.zeros((len(self), len(self._store.classes)))
        labels: dict[int, NDArray[Any]] = {}
        for number in range(len(self)):
            scene, block = self._block(number)
            if scene not in labels:
                labels = {scene: np.asarray(self._store.arrays(self._scenes[scene])["labels"])}
            seen = self._store.number_labels(labels[scene][block[:CHECKED_POINTS]])
            shares[number] = np.bincount(seen[seen >= 0], minlength=shares.shape[1]) / len(seen)
        holding = [np.flatnonzero(share >= LEAST_SHARE) for share in shares.T]
        return [numbers for numbers in holding if len(numbers)] or [np.arange(len(self))]


def mix_quarters(first: Sample, second: Sample, random: np.random.Generator) -> Sample:
    """Combine two samples into one of the same size: each quarter around a random vertical line comes from one of them.

    Both are cut at the same place and nothing is moved, so that floors, walls and objects of two rooms meet.
    """
    low, high = first.xyz[:, :2].min(axis=0), first.xyz[:, :2].max(axis=0)
    middle = random.uniform(low + (high - low) / 4, high - (high - low) / 4)
    from_first = random.permutation([True, False, *random.integers(2, size=2).astype(bool)])

    def quarter(sample: Sample) -> NDArray[np.int64]:
        return (sample.xyz[:, :2] >= middle) @ np.array([1, 2])

    count = len(first.xyz)
    taken = np.flatnonzero(np.concatenate([from_first[quarter(first)], ~from_first[quarter(second)]]))
    chosen = training_group(taken, count, random) if len(taken) else np.arange(count)

    def join(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([one, other])[chosen]

    features = None if first.features is None or second.features is None else join(first.features, second.features)
    scene = f"{first.scene} with {second.scene}"
    return Sample(join(first.xyz, second.xyz), features, join(first.labels, second.labels), scene)


class ShapeClouds(Samples):
    """Shapes of one split of a classification store: a sample is ``points`` random points of one shape, z up.

    Shapes are stored as released; the store says which axis points up. ``numbers`` selects some of the split's shapes;
    by default all. ``mix`` is the probability of replacing a part of a sample by one of another.
    """

    def __init__(
        self,
        store: Store,
        split: str,
        points: int,
        features: tuple[Feature, ...] = (),
        augmentation: Augmentation = NO_AUGMENTATION,
        numbers: NDArray[np.int64] | None = None,
        mix: float = 0.0,
    ) -> None:
        self._arguments = (store, split, points, features, augmentation, numbers, mix)
        self._shapes = store.shapes(split)
        available = ("labels",) if self._shapes.normals is None else ("labels", "normals")
        check_arrays(f"{store.path}, split {split!r}", available, features)
        if points > self._shapes.xyz.shape[1]:
            found = f"shapes of {self._shapes.xyz.shape[1]} points"
            raise InputError(store.path, expected=f"shapes of at least {points} points", found=found)
        self._labels, self._classes = store.number_labels(self._shapes.labels), len(store.classes)
        self.numbers = np.arange(len(self._shapes)) if numbers is None else numbers
        self._points, self._features, self._augmentation, self._mix = points, features, augmentation, mix
        up = store.manifest.settings.get("up", "z")
        if up not in UPWARDS:
            raise unknown_choice(f"{store.path}, setting 'up'", str(up), UPWARDS)
        self._upright = UPWARDS[up]
        self.card = _card(store, points, features, PAPER, "room")
        """See ``RoomBlocks``."""

    def __reduce__(self) -> tuple[object, ...]:
        return ShapeClouds, self._arguments  # see RoomBlocks

    def __len__(self) -> int:
        return len(self.numbers)

    def draw(self, number: int, random: np.random.Generator) -> Sample:
        """Draw random points of shape ``number``, in random order.

        If shapes are mixed, all labels are shares (classes,).
        """
        sample = self._draw_one(number, random)
        if not self._mix:
            return sample
        shares = self._shares(sample)
        if random.random() < self._mix:
            other = self._draw_one(int(random.integers(len(self))), random)
            replaced, taken, shift = swap_part(sample.xyz, other.xyz, random.uniform(0, LARGEST_PART), random)
            sample.xyz[replaced] = other.xyz[taken] + shift
            if sample.features is not None and other.features is not None:
                sample.features[replaced] = other.features[taken]
            part = np.float32(len(taken) / self._points)
            shares = (1 - part) * shares + part * self._shares(other)
        return replace(sample, labels=shares)

    def _shares(self, sample: Sample) -> NDArray[np.float32]:
        """Return 1 for the class of a shape, 0 for the others (classes,); all 0 if it has none."""
        return (np.arange(self._classes) == sample.labels).astype(np.float32)

    def _draw_one(self, number: int, random: np.random.Generator) -> Sample:
        number = int(self.numbers[number])
        chosen = self._augmentation.thin(random.permutation(self._shapes.xyz.shape[1])[: self._points], random)
        matrix = self._augmentation.draw(random) @ self._upright
        normals = self._shapes.normals if self._features else None
        return Sample(
            xyz=self._augmentation.shake(transform_points(self._shapes.xyz[number][chosen], matrix), random),
            features=None if normals is None else transform_normals(normals[number][chosen], matrix),
            labels=self._labels[number],
            scene=str(self._shapes.names[number]),
        )


@dataclass(frozen=True)
class Portion:
    """One of several sources."""

    source: SampleSource
    share: float
    """The share of all samples; the shares of all portions sum to 1."""
    weight: float = 1.0
    """Factor on the loss of its samples."""


class MixedSources(Samples):
    """Several sources at once: each provides its share of an epoch's samples, so that batches contain some of each.

    An epoch is long enough to draw every source completely; samples of the other sources are repeated.
    """

    def __init__(self, portions: Sequence[Portion]) -> None:
        self._portions = [portion for portion in portions if portion.share > 0]
        length = max(len(portion.source) / portion.share for portion in self._portions)
        counts = [max(len(one.source), math.ceil(one.share * length)) for one in self._portions]
        self._ends = np.cumsum(counts)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def draw(self, number: int, random: np.random.Generator) -> Sample:
        """Draw sample ``number`` of the epoch from the source that it belongs to."""
        place = int(np.searchsorted(self._ends, number, side="right"))
        portion = self._portions[place]
        within = number - (int(self._ends[place - 1]) if place else 0)
        sample = portion.source.draw(within % len(portion.source), random)
        return replace(sample, weight=sample.weight * portion.weight)


def _card(store: Store, points: int, features: tuple[Feature, ...], rules: BlockRules, frame: Frame) -> dict[str, Any]:
    """Make the part of a weights card that depends on the samples; scans are labelled with one vote."""
    manifest = store.manifest
    return {
        "task": manifest.task,
        "dataset": manifest.dataset,
        "classes": [asdict(one) | {"colour": list(one.colour)} for one in manifest.classes],
        "ignored": list(manifest.ignored),
        "features": list(features),
        "points": points,
        "block_side": rules.side,
        "block_grid": rules.grid,
        "block_points": rules.max_points,
        "frame": frame,
        "votes": 1,
        "rule": "mean_probability",
        "voxel": None,
    }


def check_arrays(where: str, available: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    """Raise InputError if any of ``wanted`` is missing."""
    missing = [name for name in wanted if name not in available]
    if missing:
        raise InputError(where, expected=" and ".join(missing), found="only " + ", ".join(available))
