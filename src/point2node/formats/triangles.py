"""Triangles: polygons cut into them with every corner checked, and points spread evenly over their surface."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.numbers import NumberRows


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


def sample_surface(path: Path, mesh: PointCloud, n: int, seed: int) -> PointCloud:
    """``n`` points, uniform by area and the same for the same ``seed``; normals are those of the faces."""
    if n < 0:
        raise InputError("n", expected="a number of points, 0 or more", found=str(n))
    if mesh.faces is None or not len(mesh.faces):
        raise InputError(path, expected="a mesh", found="points without faces")
    corner, second, third = (mesh.xyz[mesh.faces[:, i]] for i in range(3))
    first_edge, second_edge = second - corner, third - corner
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
        normals = np.cross(first_edge, second_edge)
        doubled_areas = np.linalg.norm(normals, axis=1)
        total = doubled_areas.sum()
    if not (np.isfinite(total) and total > 0):
        raise InputError(path, expected="a mesh with a finite area above 0", found=f"{total / 2:g}")
    random = np.random.default_rng(seed)
    chosen = random.choice(len(doubled_areas), size=n, p=doubled_areas / total)
    u, v = random.random((2, n, 1))
    outside = u + v > 1  # of the triangle, inside its mirrored half of the parallelogram
    u, v = np.where(outside, 1 - u, u), np.where(outside, 1 - v, v)
    return PointCloud(
        xyz=corner[chosen] + u * first_edge[chosen] + v * second_edge[chosen],
        normals=normals[chosen] / doubled_areas[chosen, None],
    )
