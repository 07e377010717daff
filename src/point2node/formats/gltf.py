"""GLB and GLTF scenes, through trimesh: all their meshes as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats.columns import make_cloud
from point2node.formats.libraries import damage_reported, import_library

ALWAYS_ALLOWED = 1 << 28  # bytes
HIGHEST_RATIO = 100  # parts of a scene may be used again, but a larger claim is damage (or an attack)
ELEMENT_BYTES = 24  # three numbers in double precision
CHUNK_START = 20  # of a GLB's first chunk, which holds the JSON


def read(path: Path) -> PointCloud:
    """Read vertices, their colours where every mesh has them, and triangles, each mesh placed in the scene."""
    trimesh = import_library(path, "trimesh", "mesh")
    with damage_reported(path, "a GLTF scene"):
        size = _check(path, _read_tree(path.read_bytes()))
        scene = trimesh.load_scene(path, process=False)
        placed = (scene.graph[node][1] for node in scene.graph.nodes_geometry)
        _refuse_claim(path, size, "vertices", sum(len(scene.geometry[name].vertices) for name in placed))
        mesh = scene.to_mesh()
        vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
        colours = mesh.visual.vertex_colors if mesh.visual.kind == "vertex" else None
    if not len(vertices):
        raise InputError(path, expected="a GLTF scene with triangles", found="none")
    if faces.min(initial=0) < 0 or faces.max(initial=0) >= len(vertices):
        raise InputError(path, expected=f"vertex numbers below {len(vertices)}", found=f"{faces.max()}")
    rgb = None if colours is None else np.asarray(colours)[:, :3]
    return make_cloud(path, xyz=vertices, rgb=rgb, faces=faces)


def _read_tree(data: bytes) -> dict[str, Any]:
    """What the scene says of itself, from a GLB or a GLTF file."""
    if data[:4] != b"glTF":
        return json.loads(data)
    size = int.from_bytes(data[CHUNK_START - 8 : CHUNK_START - 4], "little")
    return json.loads(data[CHUNK_START : CHUNK_START + size])


def _check(path: Path, tree: dict[str, Any]) -> int:
    """Refuse what trimesh would make numbers of without any in the file, and files of other folders.

    Returns the bytes of the scene, those of files beside it included.
    """
    folder = path.parent.resolve()
    files = {path}
    for part in (*tree.get("buffers", ()), *tree.get("images", ())):
        uri = unquote(part.get("uri", "data:"))
        if uri.startswith("data:"):
            continue
        file = (folder / uri).resolve()
        files.add(file)
        if not file.is_relative_to(folder):
            raise InputError(path, expected="data inside the scene's own folder", found=repr(uri[:60]))
    size = sum(file.stat().st_size for file in files if file.is_file())
    accessors = tree.get("accessors", ())
    for number, accessor in enumerate(accessors):
        if "bufferView" not in accessor or "sparse" in accessor:
            expected = "numbers that stand in a buffer as they are"
            raise InputError(f"{path}, accessor {number}", expected=expected, found="none, or compressed ones")
    _refuse_claim(path, size, "elements", sum(accessor["count"] for accessor in accessors))
    return size


def _refuse_claim(path: Path, size: int, what: str, count: int) -> None:
    if ELEMENT_BYTES * count > max(ALWAYS_ALLOWED, HIGHEST_RATIO * size):
        raise InputError(path, expected=f"room for {count} {what}", found=f"{size} bytes")
