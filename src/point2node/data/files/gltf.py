"""GLB and GLTF scenes, through trimesh: all their meshes as one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.files.columns import make_cloud
from point2node.data.files.libraries import damage_reported, import_library


def read(path: Path) -> PointCloud:
    """Read vertices, their colours where every mesh has them, and triangles, each mesh placed in the scene."""
    trimesh = import_library(path, "trimesh", "mesh")
    with damage_reported(path, "a GLTF scene"):
        scene = trimesh.load_scene(path, process=False)
        mesh = scene.to_mesh()
        vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
        colours = mesh.visual.vertex_colors if mesh.visual.kind == "vertex" else None
    if not len(vertices):
        raise InputError(path, expected="a GLTF scene with triangles", found="none")
    if faces.min(initial=0) < 0 or faces.max(initial=0) >= len(vertices):
        raise InputError(path, expected=f"vertex numbers below {len(vertices)}", found=f"{faces.max()}")
    rgb = None if colours is None else np.asarray(colours)[:, :3]
    return make_cloud(path, xyz=vertices, rgb=rgb, faces=faces)
