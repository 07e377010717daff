"""Polygons as triangles, with every corner checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array
from point2node.formats.number_rows import NumberRows


def split_polygons(path: Path, rows: NumberRows) -> tuple[Array, Array]:
    """Sizes and corners from rows that begin with a size and as many corners; the rest of a row is left out."""
    starts, counts = rows.ends - rows.counts(), rows.counts()
    sizes = rows.values[starts]
    places = np.arange(len(rows.values)) - np.repeat(starts, counts)
    used = (places == 0) | (places <= np.repeat(sizes, counts))
    if not rows.whole[used].all() or (sizes >= counts).any():
        raise InputError(f"{path}, faces", expected="rows of a count and as many vertex numbers", found="others")
    return sizes.astype(np.int64), rows.values[used & (places > 0)]


def fan(path: Path, sizes: Array, corners: Array, points: int) -> Array:
    """Triangles (F, 3) that fan out from the first corner of each polygon.

    ``corners`` are the vertex numbers of all polygons one after the other, ``sizes`` how many each polygon has.
    """
    if not len(sizes):
        return np.empty((0, 3), np.int32)
    if sizes.min() < 3:
        raise InputError(f"{path}, faces", expected="at least three corners each", found=f"{sizes.min()}")
    if corners.min() < 0 or corners.max() >= points:
        raise InputError(
            f"{path}, faces",
            expected=f"vertex numbers from 0 to {points - 1}",
            found=f"{corners.min()} to {corners.max()}",
        )
    triangles = sizes - 2
    firsts = np.repeat(np.cumsum(sizes) - sizes, triangles)
    steps = np.arange(triangles.sum()) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    triangle_corners: Array = corners[np.stack([firsts, firsts + steps + 1, firsts + steps + 2], axis=1)].astype(
        np.int32
    )
    return triangle_corners
