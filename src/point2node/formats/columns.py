"""Mapping between named columns of a file and the parts of a point cloud; colours of any type and scale as uint8."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud

XYZ = (("x", "y", "z"),)
RGB = (("red", "green", "blue"), ("r", "g", "b"), ("diffuse_red", "diffuse_green", "diffuse_blue"))
NORMALS = (("nx", "ny", "nz"), ("normal_x", "normal_y", "normal_z"))
CLOUDCOMPARE = "scalar_"  # CloudCompare's prefix of field names


def plain_name(name: str) -> str:
    """Return the name by which a column is recognised: in lower case, without CloudCompare's prefix."""
    return name.lower().removeprefix(CLOUDCOMPARE)


def cloud_from_columns(
    path: Path,
    columns: Mapping[str, Array],
    *,
    faces: Array | None = None,
    unit: float | None = None,
    origin: object = None,
) -> PointCloud:
    """Make a point cloud from named columns; other columns become ``fields``."""
    left = dict(columns)
    xyz = _take_three(left, XYZ)
    if xyz is None:
        names = ", ".join(columns) or "none"
        raise InputError(path, expected="columns x, y and z", found=names)
    rgb = _take_three(left, RGB)
    return make_cloud(
        path,
        xyz=xyz,
        rgb=None if rgb is None else to_bytes(path, rgb),
        normals=_take_three(left, NORMALS),
        intensity=_take(left, "intensity"),
        labels=_take(left, "label"),
        instance=_take(left, "instance"),
        fields=left,
        faces=faces,
        unit=unit,
        origin=origin,
    )


def make_cloud(path: Path, **parts: Any) -> PointCloud:
    """Make a point cloud; errors name the file that its parts were read from."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a normal beyond float32 becomes infinite, as it should
            return PointCloud(**parts)
    except InputError as error:
        raise InputError(f"{path}, {error.where}", expected=error.expected, found=error.found) from error


def _take(left: dict[str, Array], wanted: str) -> Array | None:
    """Remove and return the column called ``wanted``; an exact name has priority over a similar one."""
    similar = [name for name in left if plain_name(name) == wanted and left[name].ndim == 1]
    if not similar:
        return None
    return left.pop(wanted if wanted in similar else similar[0])


def _take_three(left: dict[str, Array], spellings: Iterable[tuple[str, str, str]]) -> Array | None:
    """Remove the three columns of the first complete spelling and return them as (N, 3)."""
    for spelling in spellings:
        trial = dict(left)
        taken = [_take(trial, name) for name in spelling]
        three = [column for column in taken if column is not None]
        if len(three) == 3:
            left.clear()
            left.update(trial)
            return _side_by_side(three)
    return None


def _side_by_side(three: list[Array]) -> Array:
    """Return three columns as (N, 3); without a copy if they are columns of one array."""
    whole = three[0].base
    if isinstance(whole, np.ndarray) and whole.shape == (len(three[0]), 3) and whole.flags.c_contiguous:
        places = [column.ctypes.data if column.strides == whole.strides[:1] else 0 for column in three]
        if places == [whole.ctypes.data + number * whole.itemsize for number in range(3)] and len(whole):
            return whole
    return np.stack(three, axis=1)


def columns_from_cloud(path: Path, cloud: PointCloud) -> dict[str, Array]:
    """Return every part of ``cloud`` as columns with the names that ``cloud_from_columns`` recognises.

    Blanks in field names become underscores: most formats separate names by blanks.
    """
    columns = dict(zip(XYZ[0], cloud.xyz.T, strict=True))
    if cloud.rgb is not None:
        columns |= zip(RGB[0], cloud.rgb.T, strict=True)
    if cloud.normals is not None:
        columns |= zip(NORMALS[0], cloud.normals.T, strict=True)
    named = {"intensity": cloud.intensity, "label": cloud.labels, "instance": cloud.instance}
    columns |= {name: values for name, values in named.items() if values is not None}
    for name, values in cloud.fields.items():
        written = "_".join(name.split())
        if written in columns or not written:
            raise InputError(f"{path}, fields", expected="names of their own", found=f"{name!r}, which is taken")
        if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            raise InputError(f"{path}, field {name!r}", expected="numbers", found=str(values.dtype))
        columns[written] = values
    return columns


def narrow(path: Path, columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return the columns with wide fields split into ``name_0``, ``name_1`` …, for formats of scalars only."""
    flat: dict[str, Array] = {}
    for name, values in columns.items():
        parts = {name: values} if values.ndim == 1 else {f"{name}_{i}": part for i, part in enumerate(values.T)}
        taken = flat.keys() & parts.keys()
        if taken:
            raise InputError(f"{path}, fields", expected="names of their own", found=f"{taken.pop()!r} twice")
        flat |= parts
    return flat


def usual_type(values: Array) -> Array:
    """Convert to a type that other programs support: booleans to bytes, half precision to single."""
    wider = {"b1": np.uint8, "f2": np.float32}.get(values.dtype.str[1:])
    return values if wider is None else values.astype(wider)


def to_bytes(path: Path, rgb: Array) -> Array:
    """Convert colours (N, 3) to uint8; files do not state the scale, so it is derived from the values.

    - Whole numbers up to 255 are kept, even in a 16-bit field; up to 65535 they are 16-bit colours, whose
      high byte is kept.
    - Fractions up to 1 are scaled to 0 to 255; larger ones up to 255 are rounded.
    """
    if rgb.dtype == np.uint8:
        return rgb
    lowest, highest = (float(rgb.min()), float(rgb.max())) if rgb.size else (0.0, 0.0)
    fraction = rgb.dtype.kind == "f"
    in_range = lowest >= 0 and highest <= (255 if fraction else 65535)  # false for NaN too
    if not in_range:
        raise InputError(
            f"{path}, colours",
            expected="0 to 1, 0 to 255, or whole numbers up to 65535",
            found=f"{lowest:g} to {highest:g}",
        )
    if fraction:
        return np.rint(rgb * 255.0 if highest <= 1 else rgb).astype(np.uint8)
    return (rgb if highest <= 255 else rgb >> 8).astype(np.uint8)
