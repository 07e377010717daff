"""OBJ meshes: vertices, their colours, and faces."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns
from point2node.formats.number_rows import parse_rows
from point2node.formats.triangles import fan

VERTEX_COLUMNS = {3: "x y z", 4: "x y z w", 6: "x y z r g b", 7: "x y z r g b alpha"}


def read(path: Path) -> PointCloud:
    """Read the lines ``v`` and ``f``; polygons become triangles, everything else is left out.

    Texture and normal numbers of a corner (``f 1/2/3``) are left out too: they belong to corners, not to points.
    """
    lines = [line.lstrip() for line in path.read_bytes().split(b"\n")]
    numbers = [number for number, line in enumerate(lines) if line.startswith((b"v ", b"v\t"))]
    if not numbers:
        raise InputError(path, expected="an OBJ mesh with vertex lines 'v x y z'", found="none")
    vertices = parse_rows(
        path,
        b"\n".join(lines[number][2:] for number in numbers),
        line_numbers=[number + 1 for number in numbers],
        expected="a vertex 'v x y z'",
    )
    width = int(vertices.ends[0]) if len(vertices) else 0
    if width not in VERTEX_COLUMNS:
        raise InputError(path, expected="three numbers, or six with a colour, per vertex", found=str(width))
    vertices.check_width(path, width)
    columns = dict(zip(VERTEX_COLUMNS[width].split(), vertices.columns(width), strict=True))
    sizes, corners = _read_faces(path, lines, numbers)
    return cloud_from_columns(path, columns, faces=fan(path, sizes, corners, len(vertices)) if len(sizes) else None)


def _read_faces(path: Path, lines: list[bytes], vertex_lines: list[int]) -> tuple[Array, Array]:
    """Sizes and corners of the faces. Vertices count from 1; negative ones back from the last before the face."""
    sizes, corners, owners = [], list[int](), list[int]()
    for number, line in enumerate(lines):
        if line.startswith((b"f ", b"f\t")):
            words = line.split(b"#")[0].split()[1:]
            try:
                corners += [int(word.split(b"/")[0]) for word in words]
            except ValueError as error:
                where, found = f"{path}, line {number + 1}", repr(line[:60].decode("latin-1"))
                raise InputError(where, expected="a face 'f 1 2 3'", found=found) from error
            sizes.append(len(words))
            owners.append(number)
    try:
        written = np.array(corners, np.int64)
    except OverflowError as error:
        raise InputError(f"{path}, faces", expected="vertex numbers", found="one beyond 64 bits") from error
    seen = np.searchsorted(vertex_lines, owners)  # vertices before each face
    zero_based = np.where(written < 0, written + np.repeat(seen, sizes), written - 1)
    return np.array(sizes, np.int64), zero_based
