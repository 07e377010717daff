"""Which scenes or shapes of a store a run trains on, validates on, and holds out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import CLASS_LISTS
from point2node.core.errors import InputError, unknown_choice
from point2node.data.store import Store
from point2node.weights.settings import Settings

TRAIN, VALIDATION = "train", "val"


@dataclass(frozen=True, eq=False)
class Part:
    """Some scenes of a segmentation store, or some shapes of one split of a classification store."""

    name: str
    """The split's name as it is written to results."""
    scenes: tuple[str, ...] = ()
    shapes: NDArray[np.int64] | None = None
    """Indices into ``store.shapes(split)``."""
    split: str = ""
    """The store's split that ``shapes`` refers to."""

    @property
    def checksum(self) -> str:
        """A checksum of exactly these scenes or shapes."""
        members = self.scenes if self.shapes is None else (self.split, *map(str, self.shapes.tolist()))
        return hashlib.sha256("\n".join(members).encode()).hexdigest()[:12]

    def __len__(self) -> int:
        return len(self.scenes) if self.shapes is None else len(self.shapes)

    def first(self, count: int | None) -> Part:
        """Return the part with its first ``count`` scenes; shapes are quick to score, so all of them are kept."""
        return replace(self, scenes=self.scenes[:count])

    def overlaps(self, other: Part) -> bool:
        """Return whether both contain the same scene or shape."""
        if self.shapes is None or other.shapes is None:
            return not set(self.scenes).isdisjoint(other.scenes)
        return self.split == other.split and bool(np.isin(self.shapes, other.shapes).any())


@dataclass(frozen=True)
class Division:
    """The parts of one run."""

    training: Part
    validation: Part


def divide(settings: Settings, store: Store) -> Division:
    """Divide the data into training and validation parts, without the held-out split.

    If the data has a split "val", this is the validation part. Otherwise a share, or one fold, of the training scenes
    (or of the shapes of each class) is drawn with ``split_seed``. The held-out split is never used. Training itself
    validates on only the first ``validation_scenes`` of the validation scenes.
    """
    random = np.random.default_rng([settings.split_seed, 20])
    if store.manifest.task == "classification":
        return _divide_shapes(store, settings, random)
    if TRAIN in store.splits:
        scenes = store.scenes(TRAIN)
    else:
        others = [split for split in store.splits if split not in (settings.test_split, VALIDATION)]
        scenes = tuple(scene for split in others for scene in store.scenes(split))
    if VALIDATION in store.splits:
        validation = store.scenes(VALIDATION)
    else:
        chosen = set(_held_back(random.permutation(len(scenes)), settings).tolist())
        validation = tuple(scene for number, scene in enumerate(scenes) if number in chosen)
        scenes = tuple(scene for number, scene in enumerate(scenes) if number not in chosen)
    if not scenes:
        raise InputError(store.path, expected="scenes to train on", found=f"only {', '.join(store.splits) or 'none'}")
    return Division(Part(TRAIN, scenes), Part(VALIDATION, validation))


def _divide_shapes(store: Store, settings: Settings, random: np.random.Generator) -> Division:
    if TRAIN not in store.splits:
        raise InputError(store.path, expected="a split 'train'", found=", ".join(store.splits) or "no shapes")
    everything = np.arange(len(store.shapes(TRAIN)))
    if VALIDATION in store.splits:
        held = np.arange(len(store.shapes(VALIDATION)))
        return Division(Part(TRAIN, shapes=everything, split=TRAIN), Part(VALIDATION, shapes=held, split=VALIDATION))
    labels = np.asarray(store.shapes(TRAIN).labels)
    drawn = [
        _held_back(random.permutation(members), settings)
        for members in (np.flatnonzero(labels == one.value) for one in store.classes)
    ]
    held = np.sort(np.concatenate(drawn))
    rest = np.setdiff1d(everything, held)
    return Division(Part(TRAIN, shapes=rest, split=TRAIN), Part(VALIDATION, shapes=held, split=TRAIN))


def _held_back(shuffled: NDArray[np.int64], settings: Settings) -> NDArray[np.int64]:
    """Return the part of a shuffled list to validate on: one of its folds, or its first share."""
    if settings.folds is not None:
        return shuffled[settings.fold :: settings.folds]
    return shuffled[: _share(len(shuffled), settings.validation_share)]


def _share(count: int, share: float) -> int:
    """Return how many of ``count`` to hold back: at least one if a share is asked for, and never all of them."""
    return min(max(1, round(share * count)), count - 1) if share and count else 0


def find_part(settings: Settings | None, store: Store, split: str) -> Part:
    """Return one split of a store by its name.

    If the store has no split "val", it is the part of the training split that a run with these settings held back.
    """
    if split == VALIDATION and VALIDATION not in store.splits and settings is not None:
        part = divide(settings, store).validation
    elif split not in store.splits:
        raise unknown_choice(f"{store.path}, split", split, store.splits)
    elif store.manifest.task == "classification":
        part = Part(split, shapes=np.arange(len(store.shapes(split))), split=split)
    else:
        part = Part(split, store.scenes(split))
    if not len(part):
        raise InputError(f"{store.path}, split {split!r}", expected="something to score", found="nothing")
    return part


def check_classes(settings: Settings, store: Store) -> None:
    """Raise InputError if the classes of the data are not those that the settings ask for."""
    wanted, names = settings.classes, [one.name for one in store.classes]
    if wanted is None:
        return
    remedy = "Give the data that the preset is for, or classes=null to learn the classes of this data."
    if isinstance(wanted, int):
        if len(names) != wanted:
            raise InputError(store.path, expected=f"{wanted} classes", found=str(len(names)), remedy=remedy)
        return
    if wanted not in CLASS_LISTS:
        raise unknown_choice("setting 'classes'", wanted, CLASS_LISTS)
    expected = [one.name for one in CLASS_LISTS[wanted]]
    if names != expected:
        raise InputError(
            store.path,
            expected=f"the {len(expected)} classes of {wanted}: {', '.join(expected)}",
            found=", ".join(names),
            remedy=remedy,
        )


def class_weights(settings: Settings, store: Store, training: Part) -> NDArray[np.float32] | None:
    """Return the weight of each class in the loss (classes,); None if all count the same."""
    if settings.class_weights == "none":
        return None
    if training.shapes is None:
        counts = np.zeros(len(store.classes))
        for scene in training.scenes:
            labels = store.entry(scene).labels
            counts += [labels.get(one.value, 0) for one in store.classes]
        counts[[one.value in store.manifest.ignored for one in store.classes]] = 0
    else:
        numbers = store.number_labels(np.asarray(store.shapes(training.split).labels)[training.shapes])
        counts = np.bincount(numbers[numbers >= 0], minlength=len(store.classes)).astype(float)
    weights = np.zeros(len(counts), np.float32)
    weights[counts > 0] = (counts[counts > 0] / counts.sum()) ** -0.5
    return weights / weights[counts > 0].mean()
