"""LAS and LAZ files, through laspy: whatever was read is written back, with new labels where there are any."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.memory import check_unpacked
from point2node.core.point_cloud import PointCloud
from point2node.formats.columns import cloud_from_columns, plain_name
from point2node.formats.las_dimensions import COLOURS, dimensions_from_cloud, fill
from point2node.formats.las_header import LasOrigin, make_header
from point2node.formats.las_unit import unit_of
from point2node.formats.laz_chunks import check_chunks
from point2node.formats.libraries import damage_reported, import_library

PIECE = 1 << 26  # bytes decompressed at once: memory grows with what the file holds, not with what it claims
RECORD, EXTENDED_RECORD = 54, 60  # bytes before the contents of a VLR and an EVLR
HEADER_1_4 = 375  # bytes


def read(path: Path) -> PointCloud:
    """Read every dimension; labels are the extra dimension ``label`` if there is one, else ``classification``.

    The header with its scales, offsets, CRS and other records goes to ``origin``, as do colours of 16 bits. A CRS in
    feet or metres also gives the cloud's ``unit``.
    """
    laspy = import_library(path, "laspy", "las")
    _check_records(path)
    decoder = laspy.LazBackend.Lazrs  # on one thread: the parallel one crashes the process on some damaged files
    # coordinates of a damaged file may overflow; infinite ones are a matter for whoever uses them
    with (
        damage_reported(path, "a LAS file"),
        np.errstate(over="ignore"),
        laspy.open(path, laz_backend=decoder) as reader,
    ):
        header = reader.header
        _check_scales(path, header)
        if header.are_points_compressed and header.point_count:
            check_chunks(path, header, import_library(path, "lazrs", "las"))
            check_unpacked(path, header.point_count * header.point_format.size)
        _check_count(path, header)
        pieces = [piece.array for piece in reader.chunk_iterator(max(1, PIECE // header.point_format.size))]
        record = np.concatenate(pieces) if pieces else np.empty(0, header.point_format.dtype())
        points = laspy.ScaleAwarePointRecord(record, header.point_format, header.scales, header.offsets)
        names = [name for name in header.point_format.dimension_names if name not in ("X", "Y", "Z")]
        columns = {name: np.array(points[name]) for name in ("x", "y", "z", *names)}
        extra = {plain_name(name) for name in header.point_format.extra_dimension_names}
        unit = unit_of(header)
    if len(record) != header.point_count:
        raise InputError(path, expected=f"{header.point_count} points", found=str(len(record)))
    deep = set(COLOURS) <= set(columns) and not extra & set(COLOURS)  # the format's own 16 bits, no extra dimensions
    colours = np.stack([columns[name] for name in COLOURS], axis=1) if deep else None
    if "label" not in extra:
        columns["label"] = columns["classification"]
    if "intensity" in extra:
        del columns["intensity"]  # the extra one is there because this one could not hold the values
    return cloud_from_columns(path, columns, unit=unit, origin=LasOrigin(header, colours))


def _check_records(path: Path) -> None:
    """Refuse more records than the file has room for, before laspy looks for every one of them."""
    with path.open("rb") as stream:
        start = stream.read(HEADER_1_4)
    if start[:4] != b"LASF":
        raise InputError(path, expected="a LAS file, which begins with 'LASF'", found=repr(start[:16])[1:])
    needed = RECORD * struct.unpack_from("<I", start, 100)[0] if len(start) >= 104 else 0
    if len(start) == HEADER_1_4 and start[25] >= 4:
        needed += EXTENDED_RECORD * struct.unpack_from("<I", start, 243)[0]
    if needed > path.stat().st_size:
        raise InputError(path, expected=f"{needed} bytes of records", found=f"{path.stat().st_size} in all")


def _check_scales(path: Path, header: Any) -> None:
    """Refuse a scale of 0, which puts all points into one plane, and what is no number."""
    for name, values, fit in (
        ("scale", header.scales, np.isfinite(header.scales) & (header.scales != 0)),
        ("offset", header.offsets, np.isfinite(header.offsets)),
    ):
        if not fit.all():
            axis = int(np.argmin(fit))
            expected = f"a {name} of {'xyz'[axis]} that can be reckoned with"
            raise InputError(path, expected=expected, found=f"{values[axis]:g} in the header")


def _check_count(path: Path, header: Any) -> None:
    """Compare the number of points with the file's size, where they are not compressed."""
    room = path.stat().st_size - header.offset_to_point_data
    needed = header.point_count * header.point_format.size
    if not header.are_points_compressed and needed > room:
        raise InputError(path, expected=f"{needed} bytes for {header.point_count} points", found=str(max(room, 0)))


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write labels as ``classification``, and all other parts and fields as the dimensions of their name.

    Fields that the point format does not have become extra dimensions. Faces have no place in LAS.
    """
    laspy = import_library(path, "laspy", "las")
    dimensions = dimensions_from_cloud(path, cloud)
    header = make_header(laspy, path, cloud, dimensions)
    points = laspy.ScaleAwarePointRecord.zeros(len(cloud), header=header)
    fill(path, points, cloud, dimensions)
    laspy.LasData(header, points).write(stream, do_compress=path.suffix.lower() == ".laz")
