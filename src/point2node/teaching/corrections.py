"""Corrections of a scan's labels: which points get which class, in the order in which they were made.

A later correction of the same point wins. Undo and redo move corrections between two lists, so undoing loses nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from point2node.core.classes import SemanticClass, spread_colour
from point2node.core.errors import InputError, unknown_choice
from point2node.core.point_cloud import PointCloud
from point2node.inference.labelled import LabelledCloud

Indices = NDArray[np.int64]

LONGEST_NAME = 60
MOST_CLASSES = 254
"""One of 255 label values is reserved for points without a label."""
UNLABELLED = 255
"""The label value in files for points without a label; new classes never get it."""
COLOUR_WHEEL = 24
"""User-defined classes take their colours from a wheel of this many; more would be hard to tell apart."""


@dataclass(frozen=True, eq=False)
class Correction:
    """One or more points and their class."""

    name: str
    """The name of the class."""
    indices: Indices
    """(M,) ascending indices of the points in the scan, without duplicates, at least one."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Correction):
            return NotImplemented
        return self.name == other.name and np.array_equal(self.indices, other.indices)

    def __hash__(self) -> int:
        return hash((self.name, self.indices.tobytes()))


@dataclass(frozen=True)
class Corrections:
    """All corrections of one scan. It is immutable: every change returns a new object."""

    checksum: str
    """Checksum of the scan's points: corrections are meaningless for any other scan."""
    points: int
    """The number of points of the scan."""
    classes: tuple[SemanticClass, ...]
    """The classes of the weights, then the user-defined ones."""
    done: tuple[Correction, ...] = ()
    undone: tuple[Correction, ...] = field(default=())
    """Corrections that were undone, the latest last; a new correction clears them."""

    def add(self, name: str, indices: ArrayLike) -> Corrections:
        """Return the corrections with one more; what was undone can no longer be redone."""
        self._check_class(name)
        return replace(self, done=(*self.done, Correction(name, self._check_indices(indices))), undone=())

    def undo(self) -> Corrections:
        """Return the corrections without the latest one; unchanged if there is none."""
        if not self.done:
            return self
        return replace(self, done=self.done[:-1], undone=(*self.undone, self.done[-1]))

    def redo(self) -> Corrections:
        """Return the corrections with the one that was last undone; unchanged if there is none."""
        if not self.undone:
            return self
        return replace(self, done=(*self.done, self.undone[-1]), undone=self.undone[:-1])

    def add_class(self, name: str) -> Corrections:
        """Return the corrections with one more class, which gets the next free value and a colour."""
        name = " ".join(name.split())
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError(
                "class", expected=f"a name of 1 to {LONGEST_NAME} characters", found=repr(name[: LONGEST_NAME + 1])
            )
        if name in self.class_names:
            raise InputError("class", expected="a name that is not in the list yet", found=repr(name))
        if len(self.classes) >= MOST_CLASSES:
            raise InputError("class", expected=f"at most {MOST_CLASSES} classes", found="one more")
        taken = {one.value for one in self.classes} | {UNLABELLED}
        value = max((one.value for one in self.classes), default=-1) + 1
        while value in taken:
            value += 1
        colour = spread_colour(len(self.classes) % COLOUR_WHEEL, COLOUR_WHEEL)
        return replace(self, classes=(*self.classes, SemanticClass(name, value, colour)))

    def with_classes(self, classes: Iterable[SemanticClass]) -> Corrections:
        """Return the corrections with ``classes`` first, followed by the classes that are not among them."""
        listed = replace(self, classes=tuple(classes))
        for one in self.classes:
            if one.name not in listed.class_names:
                listed = listed.add_class(one.name)
        return listed

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes, in order."""
        return tuple(one.name for one in self.classes)

    def class_indices(self) -> NDArray[np.int64]:
        """Return the index in ``classes`` that each point was corrected to (N,); −1 for points that were not."""
        index = np.array([self.class_names.index(one.name) for one in self.done] + [-1], np.int64)
        return index[self.latest()]

    def latest(self) -> NDArray[np.int64]:
        """Return the number of the last correction of each point (N,), from 0; −1 for points without one."""
        numbers = np.full(self.points, -1, np.int64)
        for number, one in enumerate(self.done):
            numbers[one.indices] = number
        return numbers

    def _check_class(self, name: str) -> None:
        if name not in self.class_names:
            raise unknown_choice("class", name, self.class_names)

    def _check_indices(self, indices: ArrayLike) -> Indices:
        given = np.asarray(indices)
        if given.ndim != 1 or not len(given) or not np.issubdtype(given.dtype, np.integer):
            raise InputError("points", expected="one point or more, by index", found=f"{given.dtype} {given.shape}")
        unique = np.unique(given).astype(np.int64)
        for index in (int(unique[0]), int(unique[-1])):
            if not 0 <= index < self.points:
                raise InputError("points", expected=f"indices from 0 to {self.points - 1}", found=str(index))
        return unique


def no_corrections(cloud: PointCloud, classes: Iterable[SemanticClass]) -> Corrections:
    """Return the empty corrections of a scan."""
    return Corrections(checksum_points(cloud), len(cloud), tuple(classes))


def checksum_points(cloud: PointCloud) -> str:
    """Return the SHA-256 of the scan's coordinates in order: what an index means depends on nothing else."""
    xyz = np.ascontiguousarray(cloud.xyz, dtype="<f8")
    return hashlib.sha256(f"{len(xyz)}\n".encode() + xyz.tobytes()).hexdigest()


def apply_corrections(labelled: LabelledCloud, corrections: Corrections) -> LabelledCloud:
    """Return the labelled cloud with the corrected labels, which get confidence 1 and entropy 0.

    User-defined classes follow those of the weights.
    """
    corrections = corrections.with_classes(labelled.classes)
    indices = corrections.class_indices()
    known = indices >= 0
    values = np.array([one.value for one in corrections.classes], labelled.labels.dtype)
    used = {one.name for one in corrections.done}
    own = tuple(one for one in corrections.classes[len(labelled.classes) :] if one.name in used)
    return replace(
        labelled,
        labels=np.where(known, values[indices], labelled.labels),
        confidence=np.where(known, np.float32(1), labelled.confidence),
        entropy=np.where(known, np.float32(0), labelled.entropy),
        classes=labelled.classes + own,
    )
