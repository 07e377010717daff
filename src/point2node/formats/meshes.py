"""Meshes: OFF, OBJ and STL, the scenes of GLB and GLTF, and what triangles are made and used for."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns, make_cloud
from point2node.formats.libraries import damage_reported, import_library
from point2node.formats.numbers import NumberRows, parse_rows

KEYWORD = re.compile(rb"(?:\s*#[^\n]*\n)*\s*(C?N?OFF)", re.IGNORECASE)
OFF_COLUMNS = {
    "OFF": (("x", "y", "z"), ("x", "y", "z", "r", "g", "b"), ("x", "y", "z", "r", "g", "b", "alpha")),
    "COFF": (("x", "y", "z", "r", "g", "b"), ("x", "y", "z", "r", "g", "b", "alpha")),
    "NOFF": (("x", "y", "z", "nx", "ny", "nz"),),
    "CNOFF": (
        ("x", "y", "z", "nx", "ny", "nz", "r", "g", "b"),
        ("x", "y", "z", "nx", "ny", "nz", "r", "g", "b", "alpha"),
    ),
}


def read_off(path: Path) -> PointCloud:
    """Read vertices and faces; polygons become triangles, and face colours are ignored."""
    data = path.read_bytes()
    keyword = KEYWORD.match(data)
    if keyword is None:
        raise InputError(path, expected="an OFF file, which begins with 'OFF'", found=repr(data[:16])[1:])
    kind = keyword[1].decode().upper()
    # the keyword becomes blanks: the counts can follow on the same line, even without a space
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
    names = next((names for names in OFF_COLUMNS[kind] if len(names) == width), None)
    if names is None:
        raise InputError(path, expected=f"vertices of the kind {kind}", found=f"{width} numbers each")

    polygons = split_polygons(path, rows.rows(1 + vertices, 1 + vertices + faces))
    columns = dict(zip(names, table.columns(width), strict=True))
    return cloud_from_columns(path, columns, faces=fan(path, *polygons, vertices))


OBJ_COLUMNS = {3: "x y z", 4: "x y z w", 6: "x y z r g b", 7: "x y z r g b alpha"}


def read_obj(path: Path) -> PointCloud:
    """Read the lines ``v`` and ``f``; polygons become triangles, everything else is ignored.

    Texture and normal indices of a corner (``f 1/2/3``) are ignored too: they belong to corners, not to points.
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
    if width not in OBJ_COLUMNS:
        raise InputError(path, expected="three numbers, or six with a colour, per vertex", found=str(width))
    vertices.check_width(path, width)
    columns = dict(zip(OBJ_COLUMNS[width].split(), vertices.columns(width), strict=True))
    sizes, corners = _read_obj_faces(path, lines, numbers)
    return cloud_from_columns(path, columns, faces=fan(path, sizes, corners, len(vertices)) if len(sizes) else None)


def _read_obj_faces(path: Path, lines: list[bytes], vertex_lines: list[int]) -> tuple[Array, Array]:
    """Return sizes and corners of the faces. Indices start at 1; negative ones count back from the last one so far."""
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


PREAMBLE = 84  # bytes before the triangles: 80 of free text, then their count
TRIANGLE = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(path: Path) -> PointCloud:
    """Read vertices and triangles; the normals are ignored, since the corners imply them."""
    data = path.read_bytes()
    # binary files can start with 'solid' too; it is binary if the size matches exactly
    triangles = struct.unpack_from("<I", data, 80)[0] if len(data) >= PREAMBLE else 0
    needed = PREAMBLE + triangles * TRIANGLE.itemsize
    if len(data) == needed:
        corners = np.frombuffer(data, TRIANGLE, triangles, PREAMBLE)["corners"].reshape(-1, 3)
    elif data.lstrip()[:5].lower() == b"solid":
        corners = _read_stl_text(path, data)
    else:
        raise InputError(
            path, expected=f"an STL file of {needed} bytes for {triangles} triangles", found=f"{len(data)}"
        )
    return _merge_corners(path, corners.astype(np.float64))


def _read_stl_text(path: Path, data: bytes) -> Array:
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


def _merge_corners(path: Path, corners: Array) -> PointCloud:
    """Merge equal vertices in order of appearance; returns them and the triangles."""
    as_bytes = np.ascontiguousarray(corners).view("V24").ravel()
    _, firsts, owners = np.unique(as_bytes, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return make_cloud(path, xyz=corners[firsts[order]], faces=ranks[owners].reshape(-1, 3))


ALWAYS_ALLOWED = 1 << 28  # bytes
HIGHEST_RATIO = 100  # parts of a scene can be reused, but a larger claim is damage (or an attack)
ELEMENT_BYTES = 24  # three numbers in double precision
CHUNK_START = 20  # of a GLB's first chunk, which holds the JSON


def read_gltf(path: Path) -> PointCloud:
    """Read vertices, their colours if every mesh has them, and triangles, with each mesh placed in the scene."""
    trimesh = import_library(path, "trimesh", "mesh")
    with damage_reported(path, "a GLTF scene"):
        size = _check_gltf(path, _read_gltf_tree(path.read_bytes()))
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


def _read_gltf_tree(data: bytes) -> dict[str, Any]:
    """Read the JSON of a scene from a GLB or a GLTF file."""
    if data[:4] != b"glTF":
        return parse_json(data)
    size = int.from_bytes(data[CHUNK_START - 8 : CHUNK_START - 4], "little")
    return parse_json(data[CHUNK_START : CHUNK_START + size])


def _check_gltf(path: Path, tree: dict[str, Any]) -> int:
    """Raise InputError for data that trimesh would generate without any in the file, and for files of other folders.

    Returns the size of the scene in bytes, including files next to it.
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


def split_polygons(path: Path, rows: NumberRows) -> tuple[Array, Array]:
    """Return sizes and corners from rows that start with a size and that many corners; the rest of a row is ignored."""
    starts, counts = rows.ends - rows.counts(), rows.counts()
    sizes = rows.values[starts]
    places = np.arange(len(rows.values)) - np.repeat(starts, counts)
    used = (places == 0) | (places <= np.repeat(sizes, counts))
    if not rows.whole[used].all() or (sizes >= counts).any():
        raise InputError(f"{path}, faces", expected="rows of a count and as many vertex numbers", found="others")
    return sizes.astype(np.int64), rows.values[used & (places > 0)]


def fan(path: Path, sizes: Array, corners: Array, points: int) -> Array:
    """Split polygons into triangles (F, 3) that fan out from the first corner.

    ``corners`` are the vertex indices of all polygons, concatenated; ``sizes`` is the number of corners of each.
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
    """Sample ``n`` points uniformly by area, repeatable by ``seed``, with the normals of the faces."""
    if n < 0:
        raise InputError("n", expected="a number of points, 0 or more", found=str(n))
    if mesh.faces is None or not len(mesh.faces):
        raise InputError(path, expected="a mesh", found="points without faces")
    corner, second, third = (mesh.xyz[mesh.faces[:, i]] for i in range(3))
    first_edge, second_edge = second - corner, third - corner
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite values are rejected below
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
