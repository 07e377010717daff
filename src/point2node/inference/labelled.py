"""A labelled cloud, as a network gives it and as files hold it."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass
from point2node.core.point_cloud import PointCloud
from point2node.inference.labelled_files import write_labelled

UNLABELLED = 255
"""The label of points that have none, unless a class is called so."""
SHOWN = 5
"""Classes that a short description names."""


@dataclass(frozen=True, eq=False)
class LabelledCloud:
    """A cloud and what a network says of each of its points."""

    cloud: PointCloud
    """As it was given."""
    labels: NDArray[np.int32]
    """(N,) values of classes, or ``unlabelled`` for points without a position."""
    confidence: NDArray[np.float32]
    """(N,) the probability of the label; 0 where there is none."""
    entropy: NDArray[np.float32]
    """(N,) from 0, sure, to 1, all classes alike."""
    classes: tuple[SemanticClass, ...]
    weights: str
    unlabelled: int = UNLABELLED
    protocol: dict[str, Any] = field(default_factory=dict)
    """How the labels were made, as flat text and numbers."""

    def __len__(self) -> int:
        return len(self.cloud)

    def __repr__(self) -> str:
        found = sorted((item for item in self.counts.items() if item[1]), key=lambda item: -item[1])
        shares = ", ".join(f"{name} {100 * count / len(self):.0f} %" for name, count in found[:SHOWN])
        more = ", …" if len(found) > SHOWN else ""
        return f"<{type(self).__name__}: {len(self):,} points by {self.weights!r}: {shares or 'no labels'}{more}>"

    @property
    def counts(self) -> dict[str, int]:
        """How many points each class has."""
        return {one.name: int((self.labels == one.value).sum()) for one in self.classes}

    @property
    def places(self) -> NDArray[np.int64]:
        """(N,) the labels as places in ``classes``; −1 where there is none."""
        places = np.full(len(self.labels), -1, np.int64)
        for place, one in enumerate(self.classes):
            places[self.labels == one.value] = place
        return places

    def as_cloud(self) -> PointCloud:
        """The cloud with the labels as its own; what it called label, confidence or entropy gets ``_input`` behind."""
        fields = dict(self.cloud.fields)
        for name in ("classification", "confidence", "entropy"):
            if name in fields:
                fields.setdefault(f"{name}_input", fields[name])
                fields.pop(name)
        labels, classification = self.cloud.labels, self.cloud.fields.get("classification")
        if labels is not None and (classification is None or not np.array_equal(labels, classification)):
            fields.setdefault("label_input", labels)
        fields |= {"confidence": self.confidence, "entropy": self.entropy}
        return self.cloud.with_(labels=self.labels, fields=fields)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the labelled cloud in the format of the suffix, with the names of the classes beside it.

        Returns the file, which is a PLY where the format cannot hold labels.
        """
        return write_labelled(Path(path), self)
