"""OFF, OBJ, STL and GLTF meshes, and points spread over their surface."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import read, sample_mesh, write

SQUARE = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
SQUARE_FACES = [[0, 1, 2], [0, 2, 3]]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_square(cloud: PointCloud) -> None:
    assert cloud.faces is not None
    assert cloud.xyz.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert cloud.faces.tolist() == SQUARE_FACES


@pytest.mark.parametrize("start", ["OFF\n4 1 0\n", "OFF4 1 0\n", "off 4 1 0\n", "# a comment\nOFF # square\n\n4 1\n"])
@pytest.mark.parametrize("face", ["4 0 1 2 3\n", "4 0 1 2 3 0.5 0.5 0.5\n"])
def test_off_headers_of_every_kind_are_read(tmp_path: Path, start: str, face: str) -> None:
    assert_square(read(written(tmp_path, "a.off", start + SQUARE + "# faces\n" + face)))
    assert_square(read(written(tmp_path, "a.off", (start + SQUARE + face).replace("\n", "\r\n"))))


def test_off_vertices_may_have_colours_and_normals(tmp_path: Path) -> None:
    cloud = read(written(tmp_path, "a.off", "COFF\n1 0 0\n1 2 3 10 20 30 255\n"))
    assert cloud.rgb is not None
    assert cloud.rgb.tolist() == [[10, 20, 30]]
    cloud = read(written(tmp_path, "a.off", "NOFF\n1 0 0\n1 2 3 0 0 1\n"))
    assert cloud.normals is not None
    assert cloud.normals.tolist() == [[0, 0, 1]]


def test_obj_faces_may_count_backwards_and_name_textures(tmp_path: Path) -> None:
    text = "# square\nmtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvn 0 0 1\nf 1/1/1 2//1 3\nv 0 1 0\nf -4 -2 -1\n"
    assert_square(read(written(tmp_path, "a.obj", text)))
    cloud = read(written(tmp_path, "a.obj", "v 0 0 0 1 0.2 0\r\nv 1 0 0 0 0 0\r\n"))
    assert cloud.faces is None
    assert cloud.rgb is not None
    assert cloud.rgb.tolist() == [[255, 51, 0], [0, 0, 0]]


def stl_text() -> str:
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])[SQUARE_FACES]
    facets = [
        "outer loop\n" + "".join(f"  vertex {x} {y} {z}\n" for x, y, z in facet) + "endloop\n" for facet in corners
    ]
    return "solid square\n" + "".join(f"facet normal 0 0 1\n{facet}endfacet\n" for facet in facets) + "endsolid\n"


def stl_binary(start: bytes = b"solid, although binary") -> bytes:
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], "<f4")[SQUARE_FACES]
    facets = b"".join(bytes(12) + facet.tobytes() + b"\0\0" for facet in corners)
    return start.ljust(80) + struct.pack("<I", len(corners)) + facets


def test_stl_corners_that_coincide_become_one_vertex(tmp_path: Path) -> None:
    assert_square(read(written(tmp_path, "a.stl", stl_text())))
    assert_square(read(written(tmp_path, "a.stl", stl_text().upper().replace("\n", "\r\n"))))
    assert_square(read(written(tmp_path, "a.stl", stl_binary())))


@pytest.mark.parametrize("name", ["a.glb", "a.gltf"])
def test_a_gltf_scene_is_one_mesh_with_every_part_in_its_place(tmp_path: Path, name: str) -> None:
    box = trimesh.creation.box((1, 1, 1))
    scene = trimesh.Scene()
    scene.add_geometry(box)
    scene.add_geometry(box, transform=trimesh.transformations.translation_matrix([5, 0, 0]))
    scene.export(tmp_path / name)
    cloud = read(tmp_path / name)
    assert cloud.faces is not None
    assert (len(cloud), len(cloud.faces)) == (16, 24)
    assert (cloud.xyz.min(axis=0).tolist(), cloud.xyz.max(axis=0).tolist()) == ([-0.5, -0.5, -0.5], [5.5, 0.5, 0.5])


def test_gltf_vertex_colours_are_read(tmp_path: Path) -> None:
    box = trimesh.creation.box((1, 1, 1))
    box.visual = trimesh.visual.ColorVisuals(box, vertex_colors=np.tile([10, 20, 30, 255], (8, 1)).astype(np.uint8))
    box.export(tmp_path / "a.glb")
    cloud = read(tmp_path / "a.glb")
    assert cloud.rgb is not None
    assert cloud.rgb[0].tolist() == [10, 20, 30]


def test_indented_lines_of_an_obj_count_like_the_others(tmp_path: Path) -> None:
    text = "".join(f"  v {line}\n" for line in SQUARE.splitlines()) + "\tf 1 2 3 4\n"
    assert_square(read(written(tmp_path, "a.obj", text)))


def gltf(**changes: Any) -> dict[str, Any]:
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": "a.bin"}],
    } | changes


def test_a_gltf_scene_may_keep_its_numbers_in_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(np.eye(3, dtype="<f4").tobytes())
    np.testing.assert_array_equal(read(written(tmp_path, "a.gltf", json.dumps(gltf()))).xyz, np.eye(3))


def test_a_gltf_scene_that_claims_what_it_does_not_hold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(np.eye(3, dtype="<f4").tobytes())
    empty = gltf()
    del empty["accessors"][0]["bufferView"]
    shared = gltf(accessors=[gltf()["accessors"][0] | {"count": 2_000_000} for _ in range(10)])
    for tree, message in ((empty, "stand in a buffer"), (shared, "room for 20000000 elements")):
        with pytest.raises(InputError, match=message):
            read(written(tmp_path, "a.gltf", json.dumps(tree)))


def test_a_mesh_that_is_placed_too_often_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("point2node.formats.meshes.ALWAYS_ALLOWED", 0)
    monkeypatch.setattr("point2node.formats.meshes.HIGHEST_RATIO", 1)
    (tmp_path / "a.bin").write_bytes(np.eye(3, dtype="<f4").tobytes())
    places = range(100)
    tree = gltf(nodes=[{"mesh": 0} for _ in places], scenes=[{"nodes": list(places)}])
    with pytest.raises(InputError, match="room for 300 vertices"):
        read(written(tmp_path, "a.gltf", json.dumps(tree)))


@pytest.mark.parametrize("uri", ["../secret.bin", "/etc/hostname", "%2e%2e/secret.bin", "x/../../secret.bin"])
def test_a_gltf_scene_does_not_choose_files_of_other_folders(tmp_path: Path, uri: str) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(36))
    (tmp_path / "inside").mkdir()
    tree = gltf(buffers=[{"byteLength": 36, "uri": uri}])
    with pytest.raises(InputError, match="the scene's own folder"):
        read(written(tmp_path / "inside", "a.gltf", json.dumps(tree)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.off", "solid", "begins with 'OFF'"),
        ("a.off", "OFF\n", "the numbers of vertices"),
        ("a.off", "OFF\n1000000000000 1 0\n0 0 0\n", "1000000000000 vertices"),
        ("a.off", "OFF\n1 1 0\n0 0 0 0\n3 0 0 0\n", "4 numbers each"),
        ("a.off", "OFF\n1 1 0\n0 0 0\n3 0 0\n", "as many vertex numbers"),
        ("a.off", "OFF\n1 1 0\n0 0 0\n3 0 0 1\n", "from 0 to 0"),
        ("a.off", "OFF\n1 1 0\n0 0 zero\n", "line 3: expected numbers"),
        ("a.obj", "OFF\n", "an OBJ mesh"),
        ("a.obj", "v 0 0 0\nv 1 0\n", "line 2: expected 3 numbers"),
        ("a.obj", "v 0 0 0\n\nv 1 0 b\n", "line 3: expected a vertex"),
        ("a.obj", "v 0 0 0\nf 1 2 3\n", "from 0 to 0"),
        ("a.obj", "v 0 0 0\nf 1 a 3\n", "line 2: expected a face 'f 1 2 3', found 'f 1 a 3'"),
        ("a.obj", "v 0 0 0\nf 1 1 99999999999999999999\n", "beyond 64 bits"),
        ("a.obj", "v 0 0\nf 1 1 1\n", "three numbers"),
        ("a.stl", "solid nothing\nendsolid\n", "three corners per triangle"),
        ("a.stl", "soli", "84 bytes for 0 triangles, found 4"),
        ("a.stl", bytes(34), "84 bytes for 0 triangles, found 34"),
        ("a.stl", stl_binary()[:-1], "an STL text with three corners"),
        ("a.stl", stl_binary(b"x")[:-1], "184 bytes for 2 triangles"),
        ("a.stl", stl_text().replace("vertex 0 0 0", "vertex 0 0", 1), "expected 3 numbers"),
        ("a.glb", "glTF", "a GLTF scene"),
        ("a.gltf", "{}", "a GLTF scene"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(written(tmp_path, name, content))
    assert name in str(caught.value)


def test_samples_are_even_by_area_and_lie_on_the_surface(tmp_path: Path) -> None:
    path = written(tmp_path, "a.off", "OFF\n6 2 0\n0 0 0\n3 0 0\n0 3 0\n0 0 5\n0 1 5\n1 0 5\n3 0 1 2\n3 3 4 5\n")
    cloud = sample_mesh(path, 20_000)
    assert cloud.normals is not None
    below = cloud.xyz[:, 2] == 0
    assert abs(below.mean() - 0.9) < 0.01  # areas 4.5 and 0.5
    assert (cloud.normals[below] == [0, 0, 1]).all()
    assert (cloud.normals[~below] == [0, 0, -1]).all()
    np.testing.assert_allclose(cloud.xyz[below].mean(axis=0), [1, 1, 0], atol=0.03)  # the centroid
    assert (cloud.xyz[below][:, :2].sum(axis=1) <= 3 + 1e-9).all()


def test_samples_depend_on_the_seed_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.ply"
    write(path, PointCloud(np.eye(3), faces=np.array([[0, 1, 2]])))
    np.testing.assert_array_equal(sample_mesh(path, 5).xyz, sample_mesh(path, 5, seed=0).xyz)
    assert (sample_mesh(path, 5).xyz != sample_mesh(path, 5, seed=1).xyz).any()
    assert len(sample_mesh(path, 0)) == 0


@pytest.mark.parametrize(
    ("vertices", "message"), [("0 0 0\n" * 3, "above 0, found 0"), ("0 0 0\n1 0 0\n0 nan 0\n", "finite area")]
)
def test_a_mesh_without_an_area_cannot_be_sampled(tmp_path: Path, vertices: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sample_mesh(written(tmp_path, "a.off", f"OFF\n3 1 0\n{vertices}3 0 1 2\n"), 10)


def test_points_without_faces_and_negative_numbers_cannot_be_sampled(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="points without faces"):
        sample_mesh(written(tmp_path, "a.xyz", "1 2 3\n"), 10)
    with pytest.raises(InputError, match="0 or more"):
        sample_mesh(written(tmp_path, "a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"), -1)
