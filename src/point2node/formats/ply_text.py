"""The rows of a PLY file that is text."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array
from point2node.formats.number_rows import NumberRows, as_type, parse_rows
from point2node.formats.ply_header import CORNERS, Element, Header, truncated
from point2node.formats.triangles import split_polygons


def read_text(path: Path, header: Header, body: bytes) -> tuple[dict[str, Array], tuple[Array, Array] | None]:
    """The columns of the vertices; the sizes and corners of the faces, if there are any."""
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
    """Sizes and corners of the faces; the list of corners has to come first in their rows."""
    if not element.properties or element.properties[0].name not in CORNERS:
        raise InputError(f"{path}, element face", expected=f"{CORNERS[0]} as its first property", found="another")
    return split_polygons(path, table)
