"""STL meshes, text and binary; corners that coincide exactly become one vertex."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import make_cloud
from point2node.formats.number_rows import parse_rows

PREAMBLE = 84  # bytes before the triangles: a free text of 80, then their number
TRIANGLE = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read(path: Path) -> PointCloud:
    """Read vertices and triangles; the written normals are left out, for the corners imply them."""
    data = path.read_bytes()
    # binary files may begin with 'solid' too, so the size decides where it fits exactly
    triangles = struct.unpack_from("<I", data, 80)[0] if len(data) >= PREAMBLE else 0
    needed = PREAMBLE + triangles * TRIANGLE.itemsize
    if len(data) == needed:
        corners = np.frombuffer(data, TRIANGLE, triangles, PREAMBLE)["corners"].reshape(-1, 3)
    elif data.lstrip()[:5].lower() == b"solid":
        corners = _read_text(path, data)
    else:
        raise InputError(
            path, expected=f"an STL file of {needed} bytes for {triangles} triangles", found=f"{len(data)}"
        )
    return _merge(path, corners.astype(np.float64))


def _read_text(path: Path, data: bytes) -> Array:
    lines = [line.strip() for line in data.split(b"\n")]
    numbers = [number for number, line in enumerate(lines) if line[:6].lower() == b"vertex"]
    rows = parse_rows(
        path,
        b"\n".join(lines[number][6:] for number in numbers),
        line_numbers=[number + 1 for number in numbers],
        expected="a corner 'vertex x y z'",
    )
    rows.check_width(path, 3)
    if not len(rows) or len(rows) % 3 or len(rows) < len(numbers):
        raise InputError(path, expected="an STL text with three corners per triangle", found=f"{len(rows)} corners")
    return rows.values.reshape(-1, 3)


def _merge(path: Path, corners: Array) -> PointCloud:
    """Vertices in the order in which they first appear, and the triangles between them."""
    as_bytes = np.ascontiguousarray(corners).view("V24").ravel()
    _, firsts, owners = np.unique(as_bytes, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return make_cloud(path, xyz=corners[firsts[order]], faces=ranks[owners].reshape(-1, 3))
