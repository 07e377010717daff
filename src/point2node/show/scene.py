"""A labelled scan, ready to be shown: points, what was predicted of them, and what is true if that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError

if TYPE_CHECKING:
    from point2node.evaluation.metrics import Counts, Scores


Array = NDArray[Any]

UNLABELLED = 255
"""In arrays of bytes; the labels of a scene have −1 there."""
MOST_CLASSES = 255


@dataclass(frozen=True, eq=False)
class LabelledScene:
    """N points of one scan. Labels are places in ``classes``; −1 (or 255, if that is no place) marks none."""

    name: str
    xyz: Array
    """(N, 3) float64; NaN marks a point without a position."""
    classes: tuple[SemanticClass, ...]
    labels: Array
    """(N,) int64, as predicted."""
    rgb: Array | None = None
    """(N, 3) uint8."""
    confidence: Array | None = None
    """(N,) from 0 to 1."""
    entropy: Array | None = None
    """(N,) from 0 to 1: a share of the largest possible entropy."""
    truth: Array | None = None
    """(N,) int64."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Protocol and settings, as text."""
    remarks: tuple[str, ...] = ()
    """What a reader has to know first."""
    scale: float | None = None
    """Metres in one unit of ``xyz``, if that is known."""

    def __post_init__(self) -> None:
        if not 0 < len(self.classes) <= MOST_CLASSES:
            raise InputError(self.name, expected=f"1 to {MOST_CLASSES} classes", found=str(len(self.classes)))
        shapes = {"xyz": (len(self.xyz), 3), "rgb": (len(self.xyz), 3)}
        for name in ("xyz", "labels", "rgb", "confidence", "entropy", "truth"):
            values = getattr(self, name)
            if values is None:
                continue
            wanted = shapes.get(name, (len(self.xyz),))
            if np.shape(values) != wanted:
                raise InputError(f"{self.name}, {name}", expected=f"shape {wanted}", found=str(np.shape(values)))
            if name in ("labels", "truth"):
                object.__setattr__(self, name, self._as_places(name, np.asarray(values, np.int64)))

    def _as_places(self, name: str, labels: Array) -> Array:
        labels = np.where((labels == UNLABELLED) & (len(self.classes) <= UNLABELLED), -1, labels)
        if labels.size and (labels.min() < -1 or labels.max() >= len(self.classes)):
            span = f"{labels.min()} to {labels.max()}"
            raise InputError(f"{self.name}, {name}", expected=f"places from -1 to {len(self.classes) - 1}", found=span)
        return labels

    def __len__(self) -> int:
        return len(self.xyz)

    def __getitem__(self, chosen: Array) -> LabelledScene:
        """The chosen points, by mask or numbers."""

        def take(values: Array | None) -> Array | None:
            return None if values is None else values[chosen]

        return LabelledScene(
            self.name,
            self.xyz[chosen],
            self.classes,
            self.labels[chosen],
            rgb=take(self.rgb),
            confidence=take(self.confidence),
            entropy=take(self.entropy),
            truth=take(self.truth),
            notes=self.notes,
            remarks=self.remarks,
            scale=self.scale,
        )

    @cached_property
    def placed(self) -> Array:
        """(N,) bool: which points have a position."""
        return np.asarray(np.isfinite(self.xyz).all(axis=1))

    @property
    def palette(self) -> Array:
        """(classes, 3) uint8."""
        return np.array([one.colour for one in self.classes], np.uint8)

    def in_metres(self) -> LabelledScene:
        """The same with coordinates in metres; a unit that is not known is taken for one."""
        if self.scale in (None, 1.0):
            return self
        return replace(self, xyz=self.xyz * self.scale, scale=1.0)

    def count(self, labels: Array) -> Array:
        """(classes,): how many of the labels are of each class."""
        return np.bincount(labels[labels >= 0], minlength=len(self.classes))


@dataclass(frozen=True, eq=False)
class SceneScores:
    """The confusion matrix of a scene (rows: true, columns: predicted) and what follows from it."""

    confusion: Counts
    scores: Scores
    scored: int
    """How many points have both a label and a truth."""


def score_scene(scene: LabelledScene) -> SceneScores | None:
    """The scores over every point that has both a label and a truth; None without any such point."""
    if scene.truth is None:
        return None
    both = (scene.truth >= 0) & (scene.labels >= 0)
    if not both.any():
        return None
    from point2node.evaluation.metrics import count_confusion, score

    confusion = count_confusion(scene.truth[both], scene.labels[both], len(scene.classes))
    # places instead of names: two classes may share a name, and a dictionary would keep one of them
    scores = score(confusion, [str(place) for place in range(len(scene.classes))])
    return SceneScores(confusion, scores, int(both.sum()))
