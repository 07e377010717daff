"""Which part of a point cloud goes into which dimension of a LAS file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.colours import to_bytes
from point2node.formats.columns import XYZ, columns_from_cloud, narrow, usual_type
from point2node.formats.las_header import LARGEST_CODE, LasOrigin

COLOURS = ("red", "green", "blue")
TO_16_BITS = 257  # 255 becomes 65535, and the high byte is the 8-bit value again
FIRST_WITH_WIDE_CLASSES = 6  # point formats before it keep a class in 5 bits


def dimensions_from_cloud(path: Path, cloud: PointCloud) -> dict[str, Array]:
    """Every part but the coordinates, under the name of its dimension.

    Labels become ``classification``. A ``classification`` that was read and differs from them is kept as
    ``classification_input``, unless there is one already: then that is the older, and stays.
    """
    origin = cloud.origin if isinstance(cloud.origin, LasOrigin) else None
    wide = set(origin.header.point_format.extra_dimension_names) if origin else set()
    fields = {name: values for name, values in cloud.fields.items() if name != "classification"}
    if {"X", "Y", "Z"} & fields.keys():
        raise InputError(f"{path}, fields", expected="names other than X, Y and Z", found="one of them")
    columns = columns_from_cloud(path, cloud.with_(fields=fields))
    dimensions = {name: columns.pop(name) for name in fields if name in wide}  # as wide as they were read
    dimensions |= narrow(path, {name: usual_type(values) for name, values in columns.items() if name not in XYZ[0]})

    read_classes = cloud.fields.get("classification")
    labels = dimensions.pop("label", read_classes)
    if labels is not None:
        dimensions["classification"] = labels
        if read_classes is not None and not np.array_equal(labels, read_classes):
            dimensions.setdefault("classification_input", read_classes)
    if cloud.intensity is not None and not _fits(cloud.intensity, np.iinfo(np.uint16)):
        dimensions["scalar_intensity"] = dimensions.pop("intensity")
    if origin is not None and origin.colours is not None and cloud.rgb is not None:
        same = len(origin.colours) == len(cloud) and np.array_equal(to_bytes(path, origin.colours), cloud.rgb)
        colours = origin.colours if same else cloud.rgb.astype(np.uint16) * np.uint16(TO_16_BITS)
        dimensions |= zip(COLOURS, colours.T, strict=True)
    elif origin is None and cloud.rgb is not None:
        dimensions |= zip(COLOURS, cloud.rgb.T.astype(np.uint16) * np.uint16(TO_16_BITS), strict=True)
    return dimensions


def fill(path: Path, points: Any, cloud: PointCloud, dimensions: Mapping[str, Array]) -> None:
    """Put the coordinates and all dimensions into the laspy record ``points``; what does not fit is an error."""
    with np.errstate(all="ignore"):  # a scale of 0, or coordinates far away: refused in the next line
        codes = np.rint((cloud.xyz - points.offsets) / points.scales)
    if not ((codes >= -LARGEST_CODE - 1) & (codes <= LARGEST_CODE)).all():  # true for NaN too
        found = "NaN, infinity, or a point too far from the file's offset for its scale"
        raise InputError(f"{path}, xyz", expected="a position for every point that LAS can hold", found=found)
    for axis, column in zip("XYZ", codes.T, strict=True):
        points[axis] = column.astype(np.int32)
    point_format = points.point_format
    for name, values in dimensions.items():
        limits = _limits(point_format.dimension_by_name(name))
        if limits is not None and not _fits(values, limits):
            raise _misfit(path, name, values, limits, point_format.id)
        points[name] = values


def _limits(dimension: Any) -> Any:
    """The smallest and largest number of a dimension of integers; None where it holds fractions."""
    if dimension.dtype is None:
        return dimension  # some bits of a byte: laspy knows how many
    return np.iinfo(dimension.dtype.base) if dimension.dtype.base.kind in "iu" and not dimension.is_scaled else None


def _fits(values: Array, limits: Any) -> bool:
    """Whether all are whole numbers within ``limits.min`` and ``limits.max``."""
    whole = values.dtype.kind in "biu" or np.array_equal(values, np.rint(values))
    return not values.size or bool(whole and values.min() >= limits.min and values.max() <= limits.max)


def _misfit(path: Path, name: str, values: Array, limits: Any, point_format: int) -> InputError:
    narrow_classes = name == "classification" and point_format < FIRST_WITH_WIDE_CLASSES
    return InputError(
        f"{path}, {name}",
        expected=f"whole numbers from {limits.min} to {limits.max}, as point format {point_format} keeps them",
        found=f"{values.min()} to {values.max()}",
        remedy="Labels above 31 need point format 6 or higher." if narrow_classes else "",
    )
