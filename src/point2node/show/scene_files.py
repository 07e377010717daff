"""Making a labelled scene from files: the labelled cloud, its sidecar of classes and, if given, the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from point2node.core.classes import CLASS_LISTS, S3DIS, SemanticClass, spread_colour
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.core.words import as_text
from point2node.data.label_sidecar import LabelSidecar, read_sidecar, sidecar_path
from point2node.formats import read
from point2node.geometry.frames import UPWARDS, strays
from point2node.inference.labelled import LabelledCloud, describe
from point2node.show.scene import MOST_CLASSES, UNLABELLED, Array, LabelledScene

NONE = (-1, UNLABELLED)
"""The values that mean 'no label' where no sidecar says which one does."""
KEPT_LABELS = ("classification_input", "label_input")
"""Where labelling a cloud keeps the labels that it came with."""
NEAR = 1e-3
"""How far the coordinates of the truth may be off, in the file's unit."""


def read_scene(path: Path, truth: Path | None = None, classes: str | None = None) -> LabelledScene:
    """The scene of a labelled cloud, upright.

    ``classes`` names a class list (s3dis, scannet) or a YAML file of classes; it is for clouds without a sidecar.
    ``truth`` is a cloud of the same points with true labels; if it is the labelled file itself, the labels that the
    scan came with.
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
    remarks = [remark] if remark else []
    true = None
    if truth is not None:
        true, left_out = _to_places(_read_truth(path, cloud, truth), listed)
        if len(left_out):
            values = ", ".join(str(value) for value in left_out[:5]) + (", …" if len(left_out) > 5 else "")
            count = int((true < 0).sum())
            remarks.append(f"{count:,} points of the truth have a value that is no class ({values}): not scored.")
    labels, strange = _to_places(cloud.labels, listed)
    strange = np.setdiff1d(strange, none)
    if len(strange):
        raise InputError(
            path,
            expected=f"labels that {classes or sidecar_path(path).name} lists",
            found=f"the value {strange[0]}",
            remedy="Name the list with --classes.",
        )
    scale = _scale(sidecar)
    xyz, shown = _upright(cloud.xyz, sidecar, scale)
    return LabelledScene(
        name=as_text(path.stem),
        xyz=xyz,
        classes=listed,
        labels=labels,
        rgb=cloud.rgb,
        confidence=_field(cloud, "confidence"),
        entropy=_field(cloud, "entropy"),
        truth=true,
        notes=_notes(path, truth, sidecar),
        remarks=(*remarks, *shown),
        scale=scale,
    )


def scene_of(
    labelled: LabelledCloud, name: str, file: Path | None = None, truth: tuple[Path, Array] | None = None
) -> LabelledScene:
    """The scene of a cloud that was just labelled, upright: what ``read_scene`` gives once it is a file.

    ``file`` is where it was written, ``truth`` the file of the true labels and their values, each if there is one.
    """
    sidecar = describe(labelled)
    scale = _scale(sidecar)
    xyz, remarks = _upright(labelled.cloud.xyz, sidecar, scale)
    return LabelledScene(
        name=as_text(name),
        xyz=xyz,
        classes=labelled.classes,
        labels=labelled.places,
        rgb=labelled.cloud.rgb,
        confidence=labelled.confidence,
        entropy=labelled.entropy,
        truth=None if truth is None else _to_places(truth[1], labelled.classes)[0],
        notes=_notes_of(sidecar) if file is None else _notes(file, None if truth is None else truth[0], sidecar),
        remarks=tuple(remarks),
        scale=scale,
    )


def read_scene_in_metres(path: Path, truth: Path | None = None, classes: str | None = None) -> LabelledScene:
    """The same with coordinates in metres, by the scale that the scan was labelled with."""
    return read_scene(path, truth, classes).in_metres()


def _scale(sidecar: LabelSidecar | None) -> float | None:
    """Metres in one unit of the cloud, as it was labelled."""
    scale = sidecar.protocol.get("scale") if sidecar is not None else None
    if isinstance(scale, int | float) and math.isfinite(scale) and scale > 0:
        return float(scale)
    return None


def _upright(xyz: Array, sidecar: LabelSidecar | None, scale: float | None) -> tuple[Array, list[str]]:
    """Coordinates to look at: z upwards, without points that stray; and what was done about that."""
    remarks = []
    up = str(sidecar.protocol.get("up", "z")) if sidecar is not None else "z"
    if up != "z" and up in UPWARDS:
        xyz = xyz @ UPWARDS[up].T
        remarks.append(f"The scan's {up} points upwards: it is shown upright, with coordinates turned accordingly.")
    far = strays(xyz, scale or 1.0)
    if far.any():
        xyz = np.where(far[:, None], np.nan, xyz)
        remarks.append(f"{int(far.sum()):,} points lie far outside the rest: they are not shown.")
    if scale not in (None, 1.0):
        remarks.append(f"Coordinates are the file's own: one unit is {scale:g} m.")
    return xyz, remarks


def _class_list(
    path: Path, labels: Array, sidecar: LabelSidecar | None, named: str | None
) -> tuple[tuple[SemanticClass, ...], tuple[int, ...], str]:
    """The classes, the values that mean 'none', and a remark if they were guessed."""
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


def _to_places(labels: Array, listed: tuple[SemanticClass, ...]) -> tuple[Array, Array]:
    """Each label's place in the list, −1 for values that it does not have, and those values."""
    values, which = np.unique(labels, return_inverse=True)
    known = {one.value: place for place, one in enumerate(listed)}
    places = np.array([known.get(int(value), -1) for value in values], np.int64)
    return places[which], values[places < 0]


def _read_truth(path: Path, cloud: PointCloud, truth: Path) -> Array:
    """The true label values, once it is sure that they are of the same points in the same order."""
    if truth.exists() and truth.resolve() == path.resolve():
        kept = next((cloud.fields[name] for name in KEPT_LABELS if name in cloud.fields), None)
        if kept is None:
            expected = f"labels that the scan came with ({' or '.join(KEPT_LABELS)})"
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


def _field(cloud: PointCloud, name: str) -> Array | None:
    values = cloud.fields.get(name)
    return None if values is None or values.ndim != 1 else np.asarray(values, np.float32)


def _notes(path: Path, truth: Path | None, sidecar: LabelSidecar | None) -> Mapping[str, str]:
    notes = {"labelled file": as_text(path.name)}
    if truth is not None:
        notes["truth"] = as_text(truth.name)
    return notes if sidecar is None else notes | {"input": sidecar.input} | _notes_of(sidecar)


def _notes_of(sidecar: LabelSidecar) -> dict[str, str]:
    """How the labels came about."""
    notes = {"weights": sidecar.weights, "labelled by": f"point2node {sidecar.point2node}"}
    return notes | {name: _told(value) for name, value in {**sidecar.protocol, **sidecar.settings}.items()}


def _told(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
