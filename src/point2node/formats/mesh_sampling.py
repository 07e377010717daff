"""Points spread evenly over the surface of a mesh."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud


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
