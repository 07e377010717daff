"""The rows of a binary PLY file, of either byte order."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.point_cloud import Array
from point2node.formats.ply_header import CORNERS, Element, Header, truncated

Lists = dict[str, tuple[Array, Array]]
"""The sizes and the values of the lists of an element, by name."""


def read_binary(path: Path, header: Header, body: bytes) -> tuple[dict[str, Array], tuple[Array, Array] | None]:
    """The columns of the vertices; the sizes and corners of the faces, if there are any."""
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
    """Sizes and values of every list of an element, by name, and where the element ends.

    Rows are walked one by one; where all have the lengths of the first, which is nearly always so, at once.
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
