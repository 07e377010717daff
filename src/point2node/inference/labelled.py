"""A labelled scan: a network's prediction for each point of a cloud and, if known, the true labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.geometry.frames import UPWARDS, strays

UNLABELLED = 255
"""The label of points without one, unless a class has this value."""
MOST_CLASSES = 255
SHOWN = 5
"""The number of classes that a short description lists."""

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelledCloud:
    """A cloud of N points with their labels, as returned by labelling, read from files and shown on pages."""

    cloud: PointCloud
    """The cloud as it was passed in."""
    labels: NDArray[np.int32]
    """(N,) class values, or ``unlabelled`` for points without a position."""
    confidence: NDArray[np.float32]
    """(N,) the probability of the label; 0 without a label, NaN if unknown."""
    entropy: NDArray[np.float32]
    """(N,) from 0, certain, to 1, all classes equally likely; 0 without a label, NaN if unknown."""
    classes: tuple[SemanticClass, ...]
    weights: str
    unlabelled: int = UNLABELLED
    protocol: dict[str, Any] = field(default_factory=dict)
    """How the labels were made, as flat text and numbers."""
    name: str = ""
    """The file the cloud was read from, or "array" or "cloud"."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The options that were used, as flat text and numbers."""
    truth: NDArray[np.integer[Any]] | None = None
    """(N,) the true values, if known; a value that no class has marks a point without one."""
    up: str = "z"
    """The axis of the coordinates that points upwards."""
    scale: float | None = None
    """Metres per unit of the coordinates, if known."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Files, protocol and settings as a page lists them."""
    remarks: tuple[str, ...] = ()
    """Remarks shown before everything else."""

    def __post_init__(self) -> None:
        if not 0 < len(self.classes) <= MOST_CLASSES:
            raise InputError(self.name, expected=f"1 to {MOST_CLASSES} classes", found=str(len(self.classes)))
        for name in ("labels", "confidence", "entropy", "truth"):
            found, expected = np.shape(getattr(self, name)), (len(self.cloud),)
            if getattr(self, name) is not None and found != expected:
                raise InputError(f"{self.name}, {name}", expected=f"shape {expected}", found=str(found))

    def __len__(self) -> int:
        return len(self.cloud)

    def __repr__(self) -> str:
        found = sorted((item for item in self.counts.items() if item[1]), key=lambda item: -item[1])
        shares = ", ".join(f"{name} {100 * count / len(self):.0f} %" for name, count in found[:SHOWN])
        more = ", …" if len(found) > SHOWN else ""
        return f"<{type(self).__name__}: {len(self):,} points by {self.weights!r}: {shares or 'no labels'}{more}>"

    def __getitem__(self, chosen: NDArray[Any]) -> LabelledCloud:
        """Return the chosen points, by mask or indices."""
        return replace(
            self,
            cloud=self.cloud[chosen],
            labels=self.labels[chosen],
            confidence=self.confidence[chosen],
            entropy=self.entropy[chosen],
            truth=None if self.truth is None else self.truth[chosen],
        )

    @property
    def xyz(self) -> NDArray[np.float64]:
        """(N, 3) coordinates; NaN marks a point without a position."""
        return self.cloud.xyz

    @property
    def rgb(self) -> NDArray[np.uint8] | None:
        """(N, 3) colours, if the cloud has any."""
        return self.cloud.rgb

    @cached_property
    def placed(self) -> NDArray[np.bool_]:
        """(N,) whether each point has a position."""
        return np.asarray(np.isfinite(self.xyz).all(axis=1))

    @cached_property
    def places(self) -> Places:
        """(N,) the labels as indices into ``classes``; −1 for none."""
        return self._places_of(self.labels)

    @cached_property
    def true_places(self) -> Places | None:
        """(N,) the true labels as indices into ``classes``, −1 for none; None if the truth is unknown."""
        return None if self.truth is None else self._places_of(self.truth)

    @property
    def palette(self) -> NDArray[np.uint8]:
        """(classes, 3) the colours of the classes."""
        return np.array([one.colour for one in self.classes], np.uint8)

    @property
    def counts(self) -> dict[str, int]:
        """The number of points of each class."""
        return {one.name: int((self.labels == one.value).sum()) for one in self.classes}

    @property
    def certainty(self) -> dict[str, NDArray[np.float32]]:
        """Confidence and entropy, each if known for at least one point: not every labelled file has them."""
        both = {"confidence": self.confidence, "entropy": self.entropy}
        return {name: values for name, values in both.items() if not len(values) or not np.isnan(values).all()}

    def count(self, places: Places) -> Places:
        """Count how often each class occurs among indices into ``classes``; (classes,)."""
        return np.bincount(places[places >= 0], minlength=len(self.classes))

    def upright(self) -> LabelledCloud:
        """Return the cloud for display: positions and colours only, z up, no stray points; remarks list changes."""
        xyz, remarks = self.xyz, list(self.remarks)
        if self.up != "z":
            xyz = xyz @ UPWARDS[self.up].T
            remarks.append(
                f"The scan's {self.up} points upwards: it is shown upright, with coordinates turned accordingly."
            )
        far = strays(xyz, self.scale or 1.0)
        if far.any():
            xyz = np.where(far[:, None], np.nan, xyz)
            remarks.append(f"{int(far.sum()):,} points lie far outside the rest: they are not shown.")
        if self.scale not in (None, 1.0):
            remarks.append(f"Coordinates are the file's own: one unit is {self.scale:g} m.")
        return replace(self, cloud=PointCloud(xyz, rgb=self.rgb), up="z", remarks=tuple(remarks))

    def in_metres(self) -> LabelledCloud:
        """Return the cloud with coordinates in metres; an unknown unit counts as a metre."""
        if self.scale in (None, 1.0):
            return self
        return replace(self, cloud=self.cloud.with_(xyz=self.xyz * self.scale), scale=1.0)

    def as_cloud(self, *, keep_labels: bool = False) -> PointCloud:
        """Return the cloud with the new labels; its own fields of the same names get the suffix ``_input``.

        Its own labels are kept if they differ from its ``classification``, or with ``keep_labels``.
        """
        fields = dict(self.cloud.fields)
        for name in ("classification", "confidence", "entropy"):
            if name in fields:
                fields.setdefault(f"{name}_input", fields[name])
                fields.pop(name)
        labels, classification = self.cloud.labels, self.cloud.fields.get("classification")
        differ = labels is not None and (classification is None or not np.array_equal(labels, classification))
        if labels is not None and (keep_labels or differ):
            fields.setdefault("label_input", labels)
        fields |= self.certainty
        return self.cloud.with_(labels=self.labels, fields=fields)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the labelled cloud in the format of the suffix, and a file with the class names next to it.

        Returns the path of the file, a PLY if the format cannot hold labels.
        """
        from point2node.inference.labelled_files import write_labelled  # imports this module

        return write_labelled(Path(path), self)

    def _places_of(self, values: NDArray[Any]) -> Places:
        places = np.full(len(values), -1, np.int64)
        for place, one in enumerate(self.classes):
            places[values == one.value] = place
        return places
