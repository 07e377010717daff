"""Files of labelled clouds: in the input's format with all its contents, and a sidecar file with the classes."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node._version import __version__
from point2node.core.classes import CLASS_LISTS, S3DIS, SemanticClass, spread_colour
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.core.words import as_text
from point2node.core.writing import replacing
from point2node.data.label_sidecar import UNFINISHED, LabelSidecar, read_sidecar, sidecar_path
from point2node.formats import WRITABLE, WRITABLE_IN_PIECES, encode, encode_pieces, read
from point2node.formats.las_header import FIRST_WITH_WIDE_CLASSES, LasOrigin
from point2node.formats.text import written_digits
from point2node.formats.text_layout import TextOrigin, append_columns, names_beside
from point2node.geometry.frames import UPWARDS
from point2node.inference.labelled import MOST_CLASSES, UNLABELLED, LabelledCloud

Array = NDArray[np.integer[Any]]

FALLBACK = ".ply"
LARGEST_NARROW_CLASS = 31


def write_labelled(path: Path, labelled: LabelledCloud, further: dict[str, Any] | None = None) -> Path:
    """Write the labelled cloud and then the sidecar file with its classes; returns the path of the cloud.

    Until the sidecar is complete, a placeholder states that the cloud is being written: after a kill at any moment,
    new labels cannot be mistaken for old ones, nor a labelled cloud for somebody else's file.
    The cloud is written to ``path``, or to a PLY next to it if that format cannot hold the labels. ``further`` are
    additional entries of the sidecar.
    """
    origin = _kept_text(labelled.cloud, path.suffix.lower())
    target = path if origin or _holds_labels(path.suffix.lower(), labelled) else path.with_suffix(FALLBACK)
    note = describe(labelled).model_dump(mode="json") | (further or {})
    with replacing(target) as stream:
        if origin is not None:
            added = {"label": labelled.labels, **labelled.certainty}
            columns = {name: written_digits(values) for name, values in added.items()}
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
    """A labelled scan that was written to a file."""

    target: Path
    points: int
    counts: dict[str, int]
    """The number of points of each class."""


def write_labelled_pieces(
    path: Path, pieces: Iterable[LabelledCloud], points: int, labelled: LabelledCloud, further: dict[str, Any]
) -> Written:
    """Write a labelled cloud of ``points`` points that come in pieces; ``labelled`` are the few that represent them.

    The cloud is written to ``path``, or to a PLY next to it if that format cannot hold it or cannot be written in
    pieces.
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
    """Encode the sidecar of a labelled cloud."""
    return (json.dumps(note, indent=1, ensure_ascii=False) + "\n").encode()


def describe(labelled: LabelledCloud) -> LabelSidecar:
    """Return the contents of a labelled cloud's sidecar."""
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
    """Return the text the cloud was read from, if it has that format, still exists and still matches the cloud."""
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
    """LAS needs a position for every point, and old point formats store classes in five bits."""
    origin = labelled.cloud.origin
    narrow = isinstance(origin, LasOrigin) and origin.header.point_format.id < FIRST_WITH_WIDE_CLASSES
    values = [*(one.value for one in labelled.classes), int(labelled.labels.max(initial=0))]
    fits = min(values) >= 0 and max(values) <= (LARGEST_NARROW_CLASS if narrow else 255)
    return fits and bool(np.isfinite(labelled.cloud.xyz).all())


NONE = (-1, UNLABELLED)
"""The values that mean 'no label' if there is no sidecar to state it."""
KEPT_LABELS = ("classification_input", "label_input")
"""The fields in which labelling keeps the labels of the input."""
NEAR = 1e-3
"""The largest deviation of the truth's coordinates, in the file's unit."""


def read_labelled(path: Path, truth: Path | None = None, classes: str | None = None) -> LabelledCloud:
    """Read a labelled cloud from a file.

    ``classes`` names a class list (s3dis, scannet) or a YAML file of classes, for clouds without a sidecar.
    ``truth`` is a cloud of the same points with true labels; if it is the labelled file itself, the input's own labels
    are the truth.
    """
    sidecar = None if classes else read_sidecar(path)
    named = " ".join(sidecar.columns) if sidecar is not None and sidecar.columns else None
    cloud = read(path) if named is None else read(path, columns=named)
    if not len(cloud):
        raise InputError(path, expected="a labelled cloud", found="no points")
    if cloud.labels is None:
        remedy = "Label it with 'point2node predict', or name its field 'label'."
        raise InputError(path, expected="a cloud with labels", found="none", remedy=remedy)
    listed, none, remark = _class_list(path, cloud.labels, sidecar, classes)
    strange = np.setdiff1d(cloud.labels, [*none, *(one.value for one in listed)])
    if len(strange):
        raise InputError(
            path,
            expected=f"labels that {classes or sidecar_path(path).name} lists",
            found=f"the value {strange[0]}",
            remedy="Name the list with --classes.",
        )
    true = None if truth is None else _read_truth(path, cloud, truth)
    protocol = {} if sidecar is None else sidecar.protocol
    up = str(protocol.get("up", "z"))
    return LabelledCloud(
        cloud=cloud,
        labels=cloud.labels,
        confidence=_field(cloud, "confidence"),
        entropy=_field(cloud, "entropy"),
        classes=listed,
        weights="" if sidecar is None else sidecar.weights,
        unlabelled=UNLABELLED if sidecar is None else sidecar.unlabelled,
        protocol=protocol,
        name=as_text(path.stem),
        settings={} if sidecar is None else sidecar.settings,
        truth=true,
        up=up if up in UPWARDS else "z",
        scale=_scale(protocol.get("scale")),
        notes=_notes(path, truth, sidecar),
        remarks=tuple(one for one in (remark, _not_scored(true, listed)) if one),
    )


def as_if_read(
    labelled: LabelledCloud, file: Path | None = None, truth: tuple[Path, Array] | None = None
) -> LabelledCloud:
    """Return what ``read_labelled`` would return for a cloud that was just labelled, without reading its file.

    ``truth`` is the file of the true labels and their values.
    """
    return replace(
        labelled,
        name=as_text((file or Path(labelled.name)).stem),
        truth=None if truth is None else truth[1],
        notes=_notes(file, None if truth is None else truth[0], describe(labelled)),
    )


def _scale(scale: object) -> float | None:
    """Return metres per unit, if it is a finite positive number."""
    usable = isinstance(scale, int | float) and math.isfinite(scale) and scale > 0
    return float(scale) if usable else None  # type: ignore[arg-type]


def _not_scored(true: Array | None, listed: tuple[SemanticClass, ...]) -> str:
    """Return a remark on true values that are not in the class list."""
    left_out = np.isin([] if true is None else true, [one.value for one in listed], invert=True)
    if true is None or not left_out.any():
        return ""
    values = np.unique(true[left_out])
    named = ", ".join(str(value) for value in values[:5]) + (", …" if len(values) > 5 else "")
    return f"{int(left_out.sum()):,} points of the truth have a value that is not a class ({named}): not scored."


def _class_list(
    path: Path, labels: Array, sidecar: LabelSidecar | None, named: str | None
) -> tuple[tuple[SemanticClass, ...], tuple[int, ...], str]:
    """Return the classes, the values that mean 'none', and a remark if they were guessed."""
    if sidecar is not None:
        return sidecar.classes, (sidecar.unlabelled,), ""
    if named is not None:
        if named in CLASS_LISTS:
            return CLASS_LISTS[named], NONE, ""
        if Path(named).suffix.lower() not in (".yaml", ".yml"):
            expected = f"{', '.join(CLASS_LISTS)} or a YAML file of classes"
            raise InputError("--classes", expected=expected, found=repr(named))
        from point2node.data.class_file import read_class_file

        listed, ignored = read_class_file(Path(named))
        return listed, (*NONE, *ignored), ""
    values = np.setdiff1d(labels, NONE)
    missing = f"There is no {sidecar_path(path).name}, so class names are not known:"
    if np.isin(values, [one.value for one in S3DIS]).all():
        return S3DIS, NONE, f"{missing} those of S3DIS are taken, since the values fit. --classes names others."
    if len(values) > MOST_CLASSES:
        found = f"{len(values)} different labels"
        raise InputError(path, expected=f"at most {MOST_CLASSES} classes", found=found)
    plain = (SemanticClass(str(v), int(v), spread_colour(n, len(values))) for n, v in enumerate(values))
    return tuple(plain), NONE, f"{missing} classes go by their numbers. --classes names them."


def _read_truth(path: Path, cloud: PointCloud, truth: Path) -> Array:
    """Return the true label values after checking that they belong to the same points in the same order."""
    if truth.exists() and truth.resolve() == path.resolve():
        kept = next((cloud.fields[name] for name in KEPT_LABELS if name in cloud.fields), None)
        if kept is None:
            expected = f"the input's own labels ({' or '.join(KEPT_LABELS)})"
            raise InputError(truth, expected=expected, found="none", remedy="Give --truth the scan with true labels.")
        return np.asarray(kept).astype(np.int64)
    true = read(truth)
    if true.labels is None:
        raise InputError(truth, expected="a cloud with true labels", found="none", remedy="Name its field 'label'.")
    same = f"the points of {path.name}, in the same order"
    if len(true) != len(cloud):
        raise InputError(truth, expected=f"{same}: {len(cloud):,} of them", found=f"{len(true):,}")
    off = np.abs(true.xyz - cloud.xyz).max(axis=1)
    lost = np.isnan(true.xyz).any(axis=1) != np.isnan(cloud.xyz).any(axis=1)
    far = np.flatnonzero((off > NEAR) | lost)
    if len(far):
        found = f"{len(far):,} points elsewhere, point {far[0]:,} first"
        raise InputError(truth, expected=same, found=found)
    return true.labels


def _field(cloud: PointCloud, name: str) -> NDArray[np.float32]:
    values = cloud.fields.get(name)
    known = values is not None and values.ndim == 1
    return np.asarray(values, np.float32) if known else np.full(len(cloud), np.nan, np.float32)


def _notes(file: Path | None, truth: Path | None, sidecar: LabelSidecar | None) -> dict[str, str]:
    """Return the files and the origin of the labels as listed on a page."""
    files = {"labelled file": file, "truth": truth}
    notes = {name: as_text(path.name) for name, path in files.items() if path is not None}
    if sidecar is None:
        return notes
    if file is not None:
        notes["input"] = sidecar.input
    notes |= {"weights": sidecar.weights, "labelled by": f"point2node {sidecar.point2node}"}
    return notes | {name: _in_words(value) for name, value in {**sidecar.protocol, **sidecar.settings}.items()}


def _in_words(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
