"""E57 files, read with pye57: all scans as one cloud, each transformed by its pose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns
from point2node.formats.libraries import damage_reported, import_library
from point2node.formats.pieces import Pieces

NAMES = {
    "cartesianX": "x", "cartesianY": "y", "cartesianZ": "z",
    "colorRed": "red", "colorGreen": "green", "colorBlue": "blue",
    "intensity": "intensity",
}  # fmt: skip
POLAR = {"sphericalRange", "sphericalAzimuth", "sphericalElevation"}  # read as cartesian coordinates
FURTHER = {"normalX": "nx", "normalY": "ny", "normalZ": "nz"}
INVALID = {"cartesianInvalidState", "sphericalInvalidState"}
WHOLE = np.longlong  # not int64, which pye57 treats as 32 bits
BYTES_PER_NUMBER = 8  # when unpacked
POINTS_PER_BYTE = 8  # one bit per point: coordinates take many times that


def read(path: Path) -> PointCloud:
    """Read every numeric column; the field ``scan`` is the index of the scan.

    Points that the scanner marked as invalid get NaN positions and 0 for colour and intensity. If only some scans have
    a column, it is 0 in the others.
    """
    pye57 = import_library(path, "pye57", "e57")
    with damage_reported(path, "an E57 file"), pye57.E57(str(path)) as file:
        scans = [_read_scan(path, file, number) for number in range(file.scan_count)]
    if not scans:
        raise InputError(path, expected="at least one scan", found="none")
    names = dict.fromkeys(name for scan in scans for name in scan)  # in order of appearance, each once
    columns = {name: np.concatenate([_column(scan, name) for scan in scans]) for name in names}
    return cloud_from_columns(path, columns)


def pieces(path: Path) -> Pieces | None:
    """Open the file for reading scan by scan; None if scans have different columns."""
    pye57 = import_library(path, "pye57", "e57")
    with damage_reported(path, "an E57 file"), pye57.E57(str(path)) as file:
        headers = [file.get_header(number) for number in range(file.scan_count)]
        layouts = {tuple(header.point_fields) for header in headers}
        points = sum(_check_room(path, number, header.point_count) for number, header in enumerate(headers))
    if len(layouts) != 1:
        return None

    def read_pieces() -> Iterator[PointCloud]:
        with damage_reported(path, "an E57 file"), pye57.E57(str(path)) as file:
            for number in range(file.scan_count):
                yield cloud_from_columns(path, _read_scan(path, file, number))

    return Pieces(points, BYTES_PER_NUMBER * len(layouts.pop()), read_pieces)


def _check_room(path: Path, number: int, points: int) -> int:
    """Raise InputError for a scan that claims more points than the file could hold."""
    if points > POINTS_PER_BYTE * path.stat().st_size:
        found = f"{path.stat().st_size} bytes"
        raise InputError(f"{path}, scan {number}", expected=f"room for {points} points", found=found)
    return points


def _read_scan(path: Path, file: Any, number: int) -> dict[str, Array]:
    _check_room(path, number, file.get_header(number).point_count)
    read = file.read_scan(number, intensity=True, colors=True, ignore_missing_fields=True)  # the valid points alone
    columns = {NAMES[name]: values for name, values in read.items() if name in NAMES}
    further, valid = _further_columns_and_validity(path, file, number)
    if not valid.all():
        columns = {name: _spread(name, values, valid) for name, values in columns.items()}
    return columns | further | {"scan": np.full(len(valid), number, np.int32)}


def _spread(name: str, values: Array, valid: Array) -> Array:
    """Expand values of the valid points to all points."""
    everywhere = np.full(len(valid), np.nan) if name in ("x", "y", "z") else np.zeros(len(valid), values.dtype)
    everywhere[valid] = values
    return everywhere


def _further_columns_and_validity(path: Path, file: Any, number: int) -> tuple[dict[str, Array], Array]:
    """Return the columns that pye57 skips, those of extensions without their prefix, and which points are valid.

    Whole numbers stay integers if they fit 32 bits. Text is left out: fields are numeric.
    """
    libe57 = import_library(path, "pye57.libe57", "e57")
    header = file.get_header(number)
    prototype = libe57.StructureNode(header.points.prototype())
    read: dict[str, Array] = {}
    for name in header.point_fields:
        if name not in NAMES.keys() | POLAR and not isinstance(prototype[name], libe57.StringNode):
            is_whole = isinstance(prototype[name], libe57.IntegerNode)
            read[name] = np.zeros(header.point_count, WHOLE if is_whole else np.float64)
    if read:
        buffers = libe57.VectorSourceDestBuffer()
        for name, values in read.items():
            buffers.append(libe57.SourceDestBuffer(file.image_file, name, values, len(values), True, True))
        header.points.reader(buffers).read()
    valid = np.ones(header.point_count, np.bool_)
    for name in read.keys() & INVALID:
        valid &= read.pop(name) == 0
    columns: dict[str, Array] = {}
    for name, values in read.items():
        plain = name.rpartition(":")[2]
        chosen = FURTHER.get(plain, plain)
        is_taken = chosen in {*columns, *NAMES.values(), "scan"}
        columns[name if is_taken else chosen] = _narrowed(values)
    return columns, valid


def _narrowed(values: Array) -> Array:
    if values.dtype.kind != "i":
        return values
    smaller = values.astype(np.int32)
    return smaller if np.array_equal(smaller, values) else values.astype(np.float64)


def _column(scan: dict[str, Array], name: str) -> Array:
    return scan[name] if name in scan else np.zeros(len(scan["scan"]), np.uint8)
