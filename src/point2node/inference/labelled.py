"""A labelled cloud, and its files: in the format of the input, all that was in it kept, the classes named beside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node._version import __version__
from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.core.words import as_text
from point2node.core.writing import replacing
from point2node.data.label_sidecar import UNFINISHED, LabelSidecar, sidecar_path
from point2node.formats import WRITABLE, WRITABLE_IN_PIECES, encode, encode_pieces, read
from point2node.formats.las_header import FIRST_WITH_WIDE_CLASSES, LasOrigin
from point2node.formats.text import written_digits
from point2node.formats.text_layout import TextOrigin, append_columns, names_beside

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
    name: str = ""
    """The file that the cloud is from, or "array" or "cloud"."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The options that were given, likewise."""

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

    def as_cloud(self, *, keep_labels: bool = False) -> PointCloud:
        """The cloud with the labels as its own; what it called label, confidence or entropy gets ``_input`` behind.

        Labels that it had are kept if its ``classification`` does not say the same, or if asked for.
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
        fields |= {"confidence": self.confidence, "entropy": self.entropy}
        return self.cloud.with_(labels=self.labels, fields=fields)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the labelled cloud in the format of the suffix, with the names of the classes beside it.

        Returns the file, which is a PLY where the format cannot hold labels.
        """
        return write_labelled(Path(path), self)


FALLBACK = ".ply"
LARGEST_NARROW_CLASS = 31


def write_labelled(path: Path, labelled: LabelledCloud, further: dict[str, Any] | None = None) -> Path:
    """Write the labelled cloud and, last, the file beside it that names the classes; returns where the cloud is.

    Until that file is whole, one in its place says that the cloud is being written: after a kill at any moment nobody
    takes new labels for old ones, nor a labelled cloud for a file of somebody else.
    The cloud is in ``path``, or in a PLY beside it where that format cannot hold the labels. ``further`` are entries
    for the file next to what the labelled cloud says of itself.
    """
    origin = _kept_text(labelled.cloud, path.suffix.lower())
    target = path if origin or _holds_labels(path.suffix.lower(), labelled) else path.with_suffix(FALLBACK)
    note = describe(labelled).model_dump(mode="json") | (further or {})
    with replacing(target) as stream:
        if origin is not None:
            columns = {
                "label": written_digits(labelled.labels),
                "confidence": written_digits(labelled.confidence),
                "entropy": written_digits(labelled.entropy),
            }
            append_columns(origin, columns, stream)
            if not origin.layout.names:
                note["columns"] = [*names_beside(origin.columns, list(columns)), *columns]
        else:
            encode(target, labelled.as_cloud(), stream)
        _write_note(target, UNFINISHED)
    _write_note(target, note)
    return target


@dataclass(frozen=True)
class Written:
    """What was written of a labelled scan."""

    target: Path
    points: int
    counts: dict[str, int]
    """How many points each class has."""


def write_labelled_pieces(
    path: Path, pieces: Iterable[LabelledCloud], points: int, labelled: LabelledCloud, further: dict[str, Any]
) -> Written:
    """The same of ``points`` points that come in pieces; ``labelled`` are the few that stand for all of them.

    They are in ``path``, or in a PLY beside it where that format cannot hold them, or not be written in pieces.
    """
    suffix = path.suffix.lower()
    holds = suffix in WRITABLE_IN_PIECES and _holds_labels(suffix, labelled)
    if suffix in (".las", ".laz") and labelled.protocol["points_without_position"]:
        holds = False
    target = path if holds else path.with_suffix(FALLBACK)
    counts: Counter[int] = Counter()
    classes = {one.value: one for one in labelled.classes}

    def counted() -> Iterator[PointCloud]:
        for piece in pieces:
            classes.update((one.value, one) for one in piece.classes)
            values, numbers = np.unique(piece.labels, return_counts=True)
            counts.update(dict(zip(values.tolist(), numbers.tolist(), strict=True)))
            yield piece.as_cloud(keep_labels=True)

    with replacing(target) as stream:
        encode_pieces(target, counted(), points, stream)
        _write_note(target, UNFINISHED)
    named = {one.name: counts[one.value] for one in classes.values()}
    described = describe(labelled).model_copy(
        update={"points": points, "counts": named, "classes": tuple(classes.values())}
    )
    _write_note(target, described.model_dump(mode="json") | further)
    return Written(target, points, named)


def _write_note(target: Path, note: dict[str, Any]) -> None:
    with replacing(sidecar_path(target)) as stream:
        stream.write(encode_note(note))


def encode_note(note: dict[str, Any]) -> bytes:
    """The file beside a labelled cloud, as it is written."""
    return (json.dumps(note, indent=1, ensure_ascii=False) + "\n").encode()


def describe(labelled: LabelledCloud) -> LabelSidecar:
    """What the file beside a labelled cloud says."""
    return LabelSidecar(
        point2node=__version__,
        input=as_text(Path(labelled.name).name),
        weights=labelled.weights,
        classes=labelled.classes,
        unlabelled=labelled.unlabelled,
        points=len(labelled),
        counts=labelled.counts,
        protocol=labelled.protocol,
        settings=labelled.settings,
    )


def _kept_text(cloud: PointCloud, suffix: str) -> TextOrigin | None:
    """The text that the cloud was read from, if it is of that format, still there, and says what the cloud says."""
    origin = cloud.origin
    if not isinstance(origin, TextOrigin) or origin.path.suffix.lower() != suffix:
        return None
    try:
        layout = origin.layout
        again = read(
            origin.path, columns=" ".join(origin.columns), delimiter=layout.delimiter, skip=layout.first_line - 1
        )
    except InputError:
        return None
    same = len(again) == len(cloud) and np.array_equal(again.xyz, cloud.xyz, equal_nan=True)
    return origin if same and again.fields.keys() == cloud.fields.keys() else None


def _holds_labels(suffix: str, labelled: LabelledCloud) -> bool:
    return suffix in WRITABLE and (suffix not in (".las", ".laz") or _fits_las(labelled))


def _fits_las(labelled: LabelledCloud) -> bool:
    """Every point needs a position there, and old point formats keep a class in five bits."""
    origin = labelled.cloud.origin
    narrow = isinstance(origin, LasOrigin) and origin.header.point_format.id < FIRST_WITH_WIDE_CLASSES
    values = [*(one.value for one in labelled.classes), int(labelled.labels.max(initial=0))]
    fits = min(values) >= 0 and max(values) <= (LARGEST_NARROW_CLASS if narrow else 255)
    return fits and bool(np.isfinite(labelled.cloud.xyz).all())
