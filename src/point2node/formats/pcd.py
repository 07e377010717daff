"""PCD files of the Point Cloud Library: text, binary and compressed are read, binary is written."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.memory import check_unpacked
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns, columns_from_cloud, usual_type
from point2node.formats.numbers import as_type, parse_rows
from point2node.formats.pieces import Pieces, check_alike, rows_in_pieces

PADDING = "_"  # the name of padding bytes
KINDS = {"i": "I", "u": "U", "f": "F"}


@dataclass(frozen=True)
class PcdOrigin:
    """The header data of a PCD file: the grid of an organised cloud, and the sensor's pose."""

    width: int
    height: int
    viewpoint: str


def read(path: Path) -> PointCloud:
    """Read every field; points without a position (NaN) are kept, so an organised cloud keeps its grid."""
    data = path.read_bytes()
    header = _checked_header(path, data)
    body = data[header.size :]
    if header.storage == "ascii":
        columns = _read_text(path, header, body)
    elif header.storage == "binary":
        columns = _read_binary(path, header, body)
    else:
        columns = _read_compressed(path, header, body)
    return _cloud(path, header, columns)


def pieces(path: Path) -> Pieces | None:
    """Open a binary file for reading in pieces; None for text and compressed files."""
    with path.open("rb") as stream:
        header = _checked_header(path, stream.read(LONGEST))
    if header.storage != "binary":
        return None
    row = np.dtype((np.void, sum(field.size() for field in header.fields)))
    _check_size(path, header, path.stat().st_size - header.size, row.itemsize * header.points())

    def read_pieces() -> Iterator[PointCloud]:
        for table in rows_in_pieces(path, row, header.points(), header.size):
            part = replace(header, width=len(table), height=1)
            yield _cloud(path, header, _read_binary(path, part, table.tobytes()))

    return Pieces(header.points(), row.itemsize, read_pieces)


def _checked_header(path: Path, data: bytes) -> Header:
    header = read_header(path, data)
    names = [field.name for field in header.fields if field.name != PADDING]
    if len(set(names)) < len(names):
        raise InputError(path, expected="fields of different names", found=" ".join(names))
    return header


def _cloud(path: Path, header: Header, columns: dict[str, Array]) -> PointCloud:
    columns = {name: values[:, 0] if values.shape[1] == 1 else values for name, values in columns.items()}
    for packed in ("rgb", "rgba"):
        if packed in columns and columns[packed].dtype.itemsize == 4 and columns[packed].ndim == 1:
            columns |= _unpack(columns.pop(packed), packed)
    return cloud_from_columns(path, columns, origin=PcdOrigin(header.width, header.height, header.viewpoint))


def _read_text(path: Path, header: Header, body: bytes) -> dict[str, Array]:
    rows = parse_rows(path, body, line_numbers=range(header.lines + 1, sys.maxsize))
    if len(rows) != header.points():
        raise InputError(path, expected=f"{header.points()} points", found=str(len(rows)))
    width = sum(field.count for field in header.fields)
    rows.check_width(path, width)
    numbers = rows.columns(width)
    columns, start = {}, 0
    for field in header.fields:
        parts = [as_type(path, field.name, part, field.dtype) for part in numbers[start : start + field.count]]
        if field.name != PADDING:
            columns[field.name] = np.stack(parts, axis=1) if parts else np.empty((len(rows), 0), field.dtype)
        start += field.count
    return columns


def _read_binary(path: Path, header: Header, body: bytes) -> dict[str, Array]:
    """Read data that is stored point by point."""
    size = sum(field.size() for field in header.fields)
    _check_size(path, header, len(body), size * header.points())
    table = np.frombuffer(body, np.uint8, size * header.points()).reshape(header.points(), size)
    columns, start = {}, 0
    for field in header.fields:
        if field.name != PADDING:
            columns[field.name] = _numbers(field, table[:, start : start + field.size()].tobytes(), header.points())
        start += field.size()
    return columns


def _read_compressed(path: Path, header: Header, body: bytes) -> dict[str, Array]:
    """Field by field, LZF-compressed as a whole, after the compressed and the uncompressed size."""
    from point2node.formats import lzf  # imports numba: half a second that most imports can avoid

    size = sum(field.size() for field in header.fields) * header.points()
    _check_size(path, header, len(body), 8)
    compressed, expanded = struct.unpack_from("<II", body)
    _check_size(path, header, len(body), 8 + compressed)
    check_unpacked(path, expanded)
    plain = lzf.decompress(body[8 : 8 + compressed], expanded) if expanded == size else None
    if plain is None:
        raise InputError(path, expected=f"LZF data of {header.points()} points", found="damaged data")
    columns, start = {}, 0
    for field in header.fields:
        stop = start + field.size() * header.points()
        if field.name != PADDING:
            columns[field.name] = _numbers(field, plain[start:stop], header.points())
        start = stop
    return columns


def _numbers(field: Field, data: bytes, points: int) -> Array:
    return np.frombuffer(data, field.dtype).astype(field.dtype.newbyteorder("=")).reshape(points, field.count)


def _check_size(path: Path, header: Header, found: int, needed: int) -> None:
    if found < needed:
        raise InputError(path, expected=f"{needed} bytes for {header.points()} points", found=f"{found}")


def _unpack(packed: Array, name: str) -> dict[str, Array]:
    """Unpack colours from four bytes, blue lowest; the fourth is used only if the name says so."""
    codes = np.ascontiguousarray(packed).view(np.uint8).reshape(-1, 4)
    if sys.byteorder == "big":
        codes = codes[:, ::-1]
    colours = {"blue": codes[:, 0], "green": codes[:, 1], "red": codes[:, 2]}
    return colours if name == "rgb" else colours | {"alpha": codes[:, 3]}


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write binary: 8-byte coordinates, packed colours, fields in their own types. PCD cannot store faces."""
    write_pieces(path, [cloud], len(cloud), stream)


def write_pieces(path: Path, pieces: Iterable[PointCloud], points: int, stream: BinaryIO) -> None:
    """Write points that come in pieces."""
    row: np.dtype[np.void] | None = None
    for piece in pieces:
        stored = _stored_columns(path, piece)
        found = np.dtype([(name, v.dtype.newbyteorder("<"), v.shape[1:]) for name, v in stored.items()])
        if row is None:
            row = found
            header = _header_entries(piece, stored, points)
            stream.write("".join(f"{key} {value}\n" for key, value in header.items()).encode())
        check_alike(path, row, found)
        table = np.empty(len(piece), row)
        for name, values in stored.items():
            table[name] = values
        stream.write(table.tobytes())


def _stored_columns(path: Path, cloud: PointCloud) -> dict[str, Array]:
    columns = columns_from_cloud(path, cloud)
    if cloud.rgb is not None:
        red, green, blue = (columns.pop(name).astype(np.uint32) for name in ("red", "green", "blue"))
        columns["rgb"] = red << 16 | green << 8 | blue
    if cloud.normals is not None:
        columns |= {f"normal_{axis}": columns.pop(f"n{axis}") for axis in "xyz"}
    return {name: usual_type(values) for name, values in columns.items()}


def _header_entries(cloud: PointCloud, stored: dict[str, Array], points: int) -> dict[str, str]:
    origin = cloud.origin if isinstance(cloud.origin, PcdOrigin) else PcdOrigin(points, 1, " ".join(NO_VIEWPOINT))
    organised = origin.width * origin.height == points
    return {
        "VERSION": "0.7",
        "FIELDS": " ".join(stored),
        "SIZE": " ".join(str(values.dtype.itemsize) for values in stored.values()),
        "TYPE": " ".join(KINDS[values.dtype.kind] for values in stored.values()),
        "COUNT": " ".join(str(1 if values.ndim == 1 else values.shape[1]) for values in stored.values()),
        "WIDTH": str(origin.width if organised else points),
        "HEIGHT": str(origin.height if organised else 1),
        "VIEWPOINT": origin.viewpoint,
        "POINTS": str(points),
        "DATA": "binary",
    }


STORAGES = ("ascii", "binary", "binary_compressed")
LONGEST = 1 << 20  # bytes: the longest header that is accepted
WIDEST = 1 << 16  # numbers per field and point: far above any descriptor's
NO_VIEWPOINT = ("0", "0", "0", "1", "0", "0", "0")  # a sensor at the origin, without rotation
TYPES = {("F", 4), ("F", 8), *((kind, size) for kind in "UI" for size in (1, 2, 4, 8))}


@dataclass(frozen=True)
class Field:
    """A field: ``count`` numbers per point under one name."""

    name: str
    dtype: np.dtype[np.generic]
    count: int

    def size(self) -> int:
        """Size in bytes of one point's numbers."""
        return self.dtype.itemsize * self.count


@dataclass(frozen=True)
class Header:
    """The content of the header, and where the data starts."""

    fields: list[Field]
    width: int
    height: int
    viewpoint: str
    storage: str
    lines: int
    size: int
    """The header's length in bytes."""

    def points(self) -> int:
        """How many points there are."""
        return self.width * self.height


def read_header(path: Path, data: bytes) -> Header:
    """Read the header at the start of ``data``; it ends with the line DATA."""
    entries: dict[str, list[str]] = {}
    lines = offset = 0
    while "DATA" not in entries:
        end = data.find(b"\n", offset, LONGEST)
        if end < 0:
            raise InputError(path, expected="a PCD file, whose header ends with a line DATA", found="no such line")
        words = data[offset:end].decode("latin-1").split("#")[0].split()
        lines, offset = lines + 1, end + 1
        if words:
            entries[words[0].upper()] = words[1:]
    try:
        names, points = entries["FIELDS"], int(entries["POINTS"][0]) if "POINTS" in entries else None
        kinds, sizes = entries["TYPE"], [int(size) for size in entries["SIZE"]]
        counts = [int(count) for count in entries.get("COUNT", ["1"] * len(names))]
        width = int(entries["WIDTH"][0]) if points is None or "WIDTH" in entries else points
        height = int(entries.get("HEIGHT", ["1"])[0])
        storage = entries["DATA"][0].lower()
        described = list(zip(names, kinds, sizes, counts, strict=True))
        if not described:
            raise ValueError("no FIELDS")
    except (LookupError, ValueError, TypeError) as error:
        raise InputError(path, expected="a PCD header", found=f"a damaged one ({error})") from error
    known = all((kind, size) in TYPES for _, kind, size, _ in described)
    if not known or storage not in STORAGES:
        found = f"TYPE {' '.join(kinds)}, SIZE {' '.join(entries['SIZE'])}, DATA {storage}"
        raise InputError(path, expected="types, sizes and a storage that PCD has", found=found)
    if min(width, height, *counts) < 0 or max(counts) > WIDEST:
        found = f"WIDTH {width}, HEIGHT {height}, COUNT {' '.join(entries.get('COUNT', []))}"
        raise InputError(path, expected=f"sizes that are not negative, counts up to {WIDEST}", found=found)
    if points is not None and points != width * height:
        raise InputError(path, expected="POINTS to be WIDTH × HEIGHT", found=f"{points} and {width} × {height}")
    fields = [Field(name, np.dtype(f"<{kind.lower()}{size}"), count) for name, kind, size, count in described]
    viewpoint = " ".join(entries.get("VIEWPOINT", NO_VIEWPOINT))
    return Header(fields, width, height, viewpoint, storage, lines, offset)
