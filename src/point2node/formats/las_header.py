"""A LAS file's header, dimensions, and the unit of its coordinate system."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import XYZ, columns_from_cloud, narrow, to_bytes, usual_type

FINEST_SCALE = 1e-4  # metres: coordinates are exact to half of it
LARGEST_CODE = 2**31 - 1  # coordinates are stored as 32-bit multiples of the scale
LONGEST_NAME = 32  # bytes
WITH_COLOUR, WITHOUT_COLOUR = 7, 6  # point formats of LAS 1.4


@dataclass(frozen=True)
class LasOrigin:
    """A LAS file's header, and its colours before conversion to 8 bits."""

    header: Any
    colours: Array | None


def make_header(laspy: Any, path: Path, cloud: PointCloud, dimensions: Mapping[str, Array]) -> Any:
    """Return the header of the file that ``cloud`` came from, or a new one, with exactly the given dimensions."""
    if isinstance(cloud.origin, LasOrigin):
        header = cloud.origin.header.copy()
        # an index of the octants in the old file, invalid in a rewritten one
        header.vlrs = [record for record in header.vlrs if record.user_id != "copc"]
        if header.evlrs is not None:
            header.evlrs = type(header.evlrs)([record for record in header.evlrs if record.user_id != "copc"])
    else:
        header = _new_header(laspy, path, cloud)
    gone = set(header.point_format.extra_dimension_names) - set(dimensions)
    header.remove_extra_dims(gone)
    known = set(header.point_format.dimension_names)
    for name, values in dimensions.items():
        if name not in known:
            if len(name.encode()) > LONGEST_NAME:
                raise InputError(f"{path}, fields", expected=f"names of at most {LONGEST_NAME} bytes", found=repr(name))
            header.add_extra_dim(laspy.ExtraBytesParams(name, values.dtype))
    return header


def _new_header(laspy: Any, path: Path, cloud: PointCloud) -> Any:
    """Make a LAS 1.4 header with the finest scale, down to 0.1 mm, that can encode the cloud's extent."""
    header = laspy.LasHeader(version="1.4", point_format=WITHOUT_COLOUR if cloud.rgb is None else WITH_COLOUR)
    header.global_encoding.wkt = True  # required by the standard from point format 6 on
    if not np.isfinite(cloud.xyz).all() or not np.isfinite(_span(cloud.xyz)):
        lower, upper = cloud.xyz.min(axis=0), cloud.xyz.max(axis=0)
        raise InputError(
            f"{path}, xyz", expected="a position for every point that LAS can hold", found=f"{lower} to {upper}"
        )
    lower = cloud.xyz.min(axis=0) if len(cloud) else np.zeros(3)
    header.scales, header.offsets = np.full(3, coding_scale(cloud.xyz)), np.floor(lower)
    return header


def coding_scale(xyz: Array) -> float:
    """Return the finest scale, down to 0.1 mm, at which the coordinates' extent fits 32 bits."""
    scale = FINEST_SCALE
    while _span(xyz) / scale > LARGEST_CODE:
        scale *= 10
    return scale


def _span(xyz: Array) -> float:
    """Return the longest side, plus one for the offset's rounding; halved first, since the difference can overflow."""
    if not len(xyz):
        return 1.0
    return float(np.max(xyz.max(axis=0) / 2 - xyz.min(axis=0) / 2)) * 2 + 1


COLOURS = ("red", "green", "blue")
TO_16_BITS = 257  # 255 becomes 65535, and the high byte is the 8-bit value again
FIRST_WITH_WIDE_CLASSES = 6  # earlier point formats store a class in 5 bits


def dimensions_from_cloud(path: Path, cloud: PointCloud) -> dict[str, Array]:
    """Return every part except the coordinates, by the name of its dimension.

    Labels become ``classification``. A ``classification`` that was read and differs from them is kept as
    ``classification_input``, unless there is one already, which is older and stays.
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
    """Write the coordinates and all dimensions to the laspy record ``points``; raises InputError if they do not fit."""
    with np.errstate(all="ignore"):  # a scale of 0 or distant coordinates are rejected in the next line
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
    """Return the smallest and largest value of an integer dimension; None for floating point."""
    if dimension.dtype is None:
        return dimension  # a bit field of a byte: laspy knows its width
    return np.iinfo(dimension.dtype.base) if dimension.dtype.base.kind in "iu" and not dimension.is_scaled else None


def _fits(values: Array, limits: Any) -> bool:
    """Return whether all are whole numbers between ``limits.min`` and ``limits.max``."""
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


WKT, GEO_KEYS = 2112, 34735  # records of 'LASF_Projection'
PROJECTED_UNIT, VERTICAL_UNIT = 3076, 4099  # GeoTIFF keys
EPSG_UNITS = {9001: 1.0, 9002: 0.3048, 9003: 1200 / 3937}
"""Metres, feet and US survey feet."""
SYSTEMS = {"PROJCS", "LOCAL_CS", "VERT_CS", "PROJCRS", "PROJECTEDCRS", "ENGCRS", "VERTCRS", "VERTICALCRS"}
TOKEN = re.compile(r'"(?:[^"]|"")*"|[A-Za-z_]+(?=\s*[\[(])|[\])]|[-+]?\d[\d.eE+-]*')


def unit_of(header: Any) -> float | None:
    """Return metres per unit; None if the file does not state it, or if heights have another unit than the plane."""
    records = [*header.vlrs, *(header.evlrs or ())]
    projection = {one.record_id: one.record_data_bytes() for one in records if one.user_id == "LASF_Projection"}
    found = _units_in_wkt(projection[WKT].decode("utf-8", "replace")) if WKT in projection else []
    if not found and GEO_KEYS in projection:
        found = _units_in_keys(projection[GEO_KEYS])
    valid = [unit for unit in found if math.isfinite(unit) and unit > 0]
    alike = valid and math.isclose(min(valid), max(valid), rel_tol=1e-5)  # feet and US survey feet differ by 2e-6
    return valid[0] if alike else None


def _units_in_wkt(text: str) -> list[float]:
    """Return the units of the projected and the vertical system in WKT, in either version of the format.

    Other units in it are those of an ellipsoid or a parameter, or degrees.
    """
    found: list[float] = []
    path: list[str] = []
    for token in TOKEN.findall(text):
        if token in ("]", ")"):
            path = path[:-1]
        elif token[0].isalpha():
            path.append(token.upper())
        elif token[0] != '"' and path and path[-1] in ("UNIT", "LENGTHUNIT"):
            holder = path[-3] if path[-2:-1] == ["AXIS"] and len(path) > 2 else path[-2] if len(path) > 1 else ""
            if holder in SYSTEMS:
                found.append(_number(token))
            path[-1] = "READ"  # what follows the factor is a code
    return found


def _number(token: str) -> float:
    try:
        return float(token)
    except ValueError:
        return math.nan


def _units_in_keys(data: bytes) -> list[float]:
    """Return the units that are given by their EPSG codes."""
    keys = list(struct.iter_unpack("<4H", data[8 : len(data) - len(data) % 8]))
    values = {key: value for key, place, _, value in keys if place == 0}
    return [EPSG_UNITS.get(values[key], math.nan) for key in (PROJECTED_UNIT, VERTICAL_UNIT) if key in values]
