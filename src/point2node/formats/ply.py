"""PLY files: text and both binary kinds are read, little-endian binary is written."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns, columns_from_cloud, narrow, usual_type
from point2node.formats.meshes import fan, split_polygons
from point2node.formats.numbers import NumberRows, as_type, parse_rows
from point2node.formats.pieces import Pieces, check_alike, rows_in_pieces
from point2node.formats.ply_header import CORNERS, Element, Header, read_header, truncated

TYPE_NAMES = {
    "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
    "f4": "float", "f8": "double",
}  # fmt: skip
LONGEST_HEADER = 1 << 20  # bytes
OWN_REMARK = "comment written by point2node"


@dataclass(frozen=True)
class PlyOrigin:
    """The header data apart from the elements."""

    remarks: tuple[str, ...]


def read(path: Path) -> PointCloud:
    """Read the vertices and, as triangles, the faces; other elements are skipped."""
    data = path.read_bytes()
    header = _checked_header(path, data)
    body = data[header.size :]
    columns, faces = read_text(path, header, body) if not header.byte_order else read_binary(path, header, body)
    triangles = None if faces is None else fan(path, *faces, len(columns["x"]))
    return cloud_from_columns(path, columns, faces=triangles, origin=PlyOrigin(header.remarks))


def pieces(path: Path) -> Pieces | None:
    """Open a binary file for reading vertices in pieces; None if it has faces, or lists before the vertices."""
    with path.open("rb") as stream:
        header = _checked_header(path, stream.read(LONGEST_HEADER))
    sizes = {one.name: sum(np.dtype(prop.type).itemsize for prop in one.properties) for one in header.elements}
    before = list(takewhile(lambda element: element.name != "vertex", header.elements))
    vertices = header.elements[len(before)]
    if not header.byte_order or any(one.has_lists() for one in before) or "face" in sizes:
        return None
    row = np.dtype([(prop.name, header.byte_order + prop.type) for prop in vertices.properties])
    start = header.size + sum(sizes[one.name] * one.count for one in before)
    if start + row.itemsize * vertices.count > path.stat().st_size:
        raise truncated(path, vertices)

    def read_pieces() -> Iterator[PointCloud]:
        for table in rows_in_pieces(path, row, vertices.count, start):
            columns = {name: table[name].astype(row[name].newbyteorder("=")) for name in row.names or ()}
            yield cloud_from_columns(path, columns, origin=PlyOrigin(header.remarks))

    return Pieces(vertices.count, row.itemsize, read_pieces)


def _checked_header(path: Path, data: bytes) -> Header:
    header = read_header(path, data)
    names = [element.name for element in header.elements]
    if names.count("vertex") != 1 or names.count("face") > 1:
        raise InputError(path, expected="one element 'vertex' and at most one 'face'", found=", ".join(names) or "none")
    for element in header.elements:
        _check(path, element)
    return header


def _check(path: Path, element: Element) -> None:
    """Raise InputError for elements that no reader could interpret."""
    names = [prop.name for prop in element.properties]
    if len(set(names)) < len(names):
        raise InputError(f"{path}, element {element.name}", expected="properties of different names", found=str(names))
    if element.name == "vertex" and element.has_lists():
        lists = ", ".join(prop.name for prop in element.properties if prop.length_type)
        raise InputError(f"{path}, element vertex", expected="one number per property", found=f"a list ({lists})")
    if element.name == "face" and any(prop.name in CORNERS and prop.type[0] == "f" for prop in element.properties):
        raise InputError(f"{path}, element face", expected="whole vertex numbers", found="fractions")
    if element.name == "vertex" and not {"x", "y", "z"} <= set(names):
        raise InputError(f"{path}, element vertex", expected="properties x, y and z", found=", ".join(names) or "none")


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write little-endian binary: double coordinates, fields in their own types, and faces."""
    write_pieces(path, [cloud], len(cloud), stream)
    if cloud.faces is not None:
        faces = np.empty(len(cloud.faces), [("length", "u1"), ("corners", "<i4", (3,))])
        faces["length"], faces["corners"] = 3, cloud.faces
        stream.write(faces.tobytes())


def write_pieces(path: Path, pieces: Iterable[PointCloud], points: int, stream: BinaryIO) -> None:
    """Write points that come in pieces, without faces."""
    layout: list[tuple[str, Any]] | None = None
    for piece in pieces:
        columns = narrow(path, columns_from_cloud(path, piece))
        columns = {name: _storable(path, name, values) for name, values in columns.items()}
        found = [(name, values.dtype.newbyteorder("<")) for name, values in columns.items()]
        if layout is None:
            layout = found
            stream.write(("\n".join(_header_lines(piece, layout, points)) + "\n").encode())
        check_alike(path, layout, found)
        table = np.empty(len(piece), layout)
        for name, values in columns.items():
            table[name] = values
        stream.write(table.tobytes())


def _header_lines(cloud: PointCloud, layout: list[tuple[str, Any]], points: int) -> list[str]:
    remarks = cloud.origin.remarks if isinstance(cloud.origin, PlyOrigin) else ()
    lines = ["ply", "format binary_little_endian 1.0", *dict.fromkeys((*remarks, OWN_REMARK))]
    lines += [f"element vertex {points}"]
    lines += [f"property {TYPE_NAMES[dtype.str[1:]]} {name}" for name, dtype in layout]
    if cloud.faces is not None:
        lines += [f"element face {len(cloud.faces)}", "property list uchar int vertex_indices"]
    return [*lines, "end_header"]


def _storable(path: Path, name: str, values: Array) -> Array:
    """Convert to a type that PLY supports; 64-bit integers only if they fit 32 bits."""
    values = usual_type(values)
    if values.dtype.str[1:] in TYPE_NAMES:
        return values
    smaller = values.astype(np.int32 if values.dtype.kind == "i" else np.uint32)
    if not np.array_equal(smaller, values):
        remedy = "Write .npz instead, which keeps every type."
        raise InputError(f"{path}, {name}", expected="numbers that fit 32 bits", found=str(values.dtype), remedy=remedy)
    return smaller


Lists = dict[str, tuple[Array, Array]]
"""Sizes and values of the lists of an element, by name."""


def read_binary(path: Path, header: Header, body: bytes) -> tuple[dict[str, Array], tuple[Array, Array] | None]:
    """Return the columns of the vertices, and sizes and corners of the faces, if there are any."""
    columns: dict[str, Array] = {}
    faces = None
    offset = 0
    for element in header.elements:
        smallest = sum(np.dtype(prop.length_type or prop.type).itemsize for prop in element.properties)
        if smallest * element.count > len(body) - offset:
            raise truncated(path, element)
        if element.has_lists():
            lists, offset = _read_lists(path, element, body, offset, header.byte_order)
            if element.name == "face":
                faces = next((lists[name] for name in CORNERS if name in lists), None)
        else:
            if element.name == "vertex":
                row = np.dtype([(prop.name, header.byte_order + prop.type) for prop in element.properties])
                table = np.frombuffer(body, row, element.count, offset)
                columns = {name: table[name].astype(row[name].newbyteorder("=")) for name in row.names or ()}
            offset += smallest * element.count
    return columns, faces


def _read_lists(path: Path, element: Element, body: bytes, offset: int, order: str) -> tuple[Lists, int]:
    """Return sizes and values of every list of an element, by name, and the position after the element.

    If all rows have the lengths of the first, which is nearly always so, they are read at once, otherwise one by one.
    """
    lists, _ = _walk_lists(path, element, body, offset, order, min(element.count, 1))
    layout: list[Any] = []
    for prop in element.properties:
        if prop.length_type:
            length = int(lists[prop.name][0].sum())
            layout += [(f"{prop.name} length", order + prop.length_type), (prop.name, order + prop.type, (length,))]
        else:
            layout.append((prop.name, order + prop.type))
    row = np.dtype(layout)
    if offset + row.itemsize * element.count <= len(body):
        table = np.frombuffer(body, row, element.count, offset)
        lengths = {name: table[f"{name} length"] for name in lists}
        if all((sizes == table[name].shape[1]).all() for name, sizes in lengths.items()):
            whole = {name: (sizes.astype(np.int64), table[name].ravel()) for name, sizes in lengths.items()}
            return whole, offset + row.itemsize * element.count
    return _walk_lists(path, element, body, offset, order, element.count)


def _walk_lists(path: Path, element: Element, body: bytes, offset: int, order: str, rows: int) -> tuple[Lists, int]:
    sizes: dict[str, list[int]] = {prop.name: [] for prop in element.properties if prop.length_type}
    parts: dict[str, list[Array]] = {name: [] for name in sizes}
    steps = [
        (prop.name, np.dtype(order + prop.type), struct.Struct(order + np.dtype(prop.length_type).char))
        if prop.length_type
        else (prop.name, np.dtype(order + prop.type), None)
        for prop in element.properties
    ]
    for _ in range(rows):
        for name, dtype, length in steps:
            if length is None:
                offset += dtype.itemsize
                continue
            size = length.unpack_from(body, offset)[0] if offset + length.size <= len(body) else -1
            offset += length.size
            if size < 0 or offset + size * dtype.itemsize > len(body):
                raise truncated(path, element)
            sizes[name].append(size)
            parts[name].append(np.frombuffer(body, dtype, size, offset))
            offset += size * dtype.itemsize
    if offset > len(body):
        raise truncated(path, element)
    none = [np.empty(0, np.int64)]
    return {name: (np.array(sizes[name], np.int64), np.concatenate(parts[name] or none)) for name in sizes}, offset


def read_text(path: Path, header: Header, body: bytes) -> tuple[dict[str, Array], tuple[Array, Array] | None]:
    """Return the columns of the vertices, and sizes and corners of the faces, if there are any."""
    rows = parse_rows(path, body, line_numbers=range(header.lines + 1, sys.maxsize))
    columns: dict[str, Array] = {}
    faces = None
    start = 0
    for element in header.elements:
        stop = start + element.count
        if stop > len(rows):
            raise truncated(path, element)
        table = rows.rows(start, stop)
        if element.name == "vertex":
            table.check_width(path, len(element.properties))
            for prop, column in zip(element.properties, table.columns(len(element.properties)), strict=True):
                columns[prop.name] = as_type(path, prop.name, column, np.dtype(prop.type))
        elif element.name == "face":
            faces = _text_faces(path, element, table)
        start = stop
    return columns, faces


def _text_faces(path: Path, element: Element, table: NumberRows) -> tuple[Array, Array]:
    """Return sizes and corners of the faces; the list of corners must be first in their rows."""
    if not element.properties or element.properties[0].name not in CORNERS:
        raise InputError(f"{path}, element face", expected=f"{CORNERS[0]} as its first property", found="another")
    return split_polygons(path, table)
