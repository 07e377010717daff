"""Which named array of an archive is which part of a point cloud, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.colours import to_bytes
from point2node.formats.columns import make_cloud, plain_name

HIGHEST_RATIO = 1032  # deflate cannot shrink further, so a larger claim is damage (or an attack)
SPELLINGS = {
    "xyz": ("xyz", "points", "coord"),
    "rgb": ("rgb", "color"),
    "normals": ("normals", "normal"),
    "intensity": ("intensity",),
    "labels": ("labels", "label", "segment"),
    "instance": ("instance",),
    "faces": ("faces",),
}


def cloud_from_arrays(path: Path, arrays: Mapping[str, Array]) -> PointCloud:
    """The point cloud that named arrays describe; arrays without a part of their own become ``fields``."""
    for name, values in arrays.items():
        if values.dtype.kind not in "biuf":
            raise InputError(f"{path}, {name}", expected="numbers", found=str(values.dtype))
    left = {name: values.astype(values.dtype.newbyteorder("="), copy=False) for name, values in arrays.items()}
    parts: dict[str, Array] = {}
    for part, spellings in SPELLINGS.items():
        found = [name for spelling in spellings for name in left if plain_name(name) == spelling]
        if found:
            parts[part] = left.pop(found[0])
    if "xyz" not in parts or parts["xyz"].ndim != 2:
        found_names = ", ".join(f"{name} {values.shape}" for name, values in arrays.items()) or "none"
        raise InputError(path, expected="an array xyz, points or coord of shape (N, 3)", found=found_names)
    if "labels" in parts:
        parts["labels"] = parts["labels"].reshape(-1)  # some sets keep them as (N, 1)
    if "rgb" in parts:
        parts["rgb"] = to_bytes(path, parts["rgb"])
    if "faces" in parts:
        _check_faces(path, parts["faces"], len(parts["xyz"]))
    return make_cloud(path, **parts, fields=left)


def _check_faces(path: Path, faces: Array, points: int) -> None:
    if faces.size and not (faces.min() >= 0 and faces.max() < points):
        found = f"{faces.min()} to {faces.max()}"
        raise InputError(f"{path}, faces", expected=f"vertex numbers from 0 to {points - 1}", found=found)


def arrays_from_cloud(path: Path, cloud: PointCloud) -> dict[str, Array]:
    """Every part of ``cloud`` under the first of its spellings."""
    parts = {name: getattr(cloud, name) for name in SPELLINGS}
    arrays = {name: values for name, values in parts.items() if values is not None}
    for name, values in cloud.fields.items():
        if name in arrays or values.dtype.kind not in "biuf":
            found = f"{name!r} of type {values.dtype}"
            raise InputError(f"{path}, fields", expected="numbers under names of their own", found=found)
        arrays[name] = values
    return arrays
