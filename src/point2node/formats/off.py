"""OFF meshes, as in ModelNet, with the header glued to its counts or not."""

from __future__ import annotations

import re
from pathlib import Path

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats.columns import cloud_from_columns
from point2node.formats.number_rows import parse_rows
from point2node.formats.triangles import fan, split_polygons

KEYWORD = re.compile(rb"(?:\s*#[^\n]*\n)*\s*(C?N?OFF)", re.IGNORECASE)
VERTEX_COLUMNS = {
    "OFF": (("x", "y", "z"), ("x", "y", "z", "r", "g", "b"), ("x", "y", "z", "r", "g", "b", "alpha")),
    "COFF": (("x", "y", "z", "r", "g", "b"), ("x", "y", "z", "r", "g", "b", "alpha")),
    "NOFF": (("x", "y", "z", "nx", "ny", "nz"),),
    "CNOFF": (
        ("x", "y", "z", "nx", "ny", "nz", "r", "g", "b"),
        ("x", "y", "z", "nx", "ny", "nz", "r", "g", "b", "alpha"),
    ),
}


def read(path: Path) -> PointCloud:
    """Read vertices and faces; polygons become triangles, and colours of faces are left out."""
    data = path.read_bytes()
    keyword = KEYWORD.match(data)
    if keyword is None:
        raise InputError(path, expected="an OFF file, which begins with 'OFF'", found=repr(data[:16])[1:])
    kind = keyword[1].decode().upper()
    # the keyword becomes blanks: the counts may follow it on the same line, even without a space between
    rows = parse_rows(path, b"\n" * data.count(b"\n", 0, keyword.end()) + data[keyword.end() :])
    counts = rows.values[: rows.ends[0]].tolist() if len(rows) else []
    if len(counts) not in (2, 3) or min(counts) < 0 or not rows.whole[: len(counts)].all():
        raise InputError(path, expected="the numbers of vertices, faces and edges", found=str(counts))
    vertices, faces = int(counts[0]), int(counts[1])
    if 1 + vertices + faces > len(rows):
        raise InputError(path, expected=f"{vertices} vertices and {faces} faces", found=f"{len(rows) - 1} lines")

    table = rows.rows(1, 1 + vertices)
    width = int(table.ends[0]) if vertices else 3
    table.check_width(path, width)
    names = next((names for names in VERTEX_COLUMNS[kind] if len(names) == width), None)
    if names is None:
        raise InputError(path, expected=f"vertices of the kind {kind}", found=f"{width} numbers each")

    polygons = split_polygons(path, rows.rows(1 + vertices, 1 + vertices + faces))
    columns = dict(zip(names, table.columns(width), strict=True))
    return cloud_from_columns(path, columns, faces=fan(path, *polygons, vertices))
