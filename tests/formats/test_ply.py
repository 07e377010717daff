"""PLY: lossless round trips, and hand-made files of every layout that is found in the wild."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import read, write
from tests.formats.clouds import assert_same, clouds, random_cloud

TRIANGLE = "0 0 0\n1 0 0\n0 1 0\n"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "cloud.ply"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def header(*lines: str, storage: str = "ascii", vertices: int = 3) -> str:
    first = ["ply", f"format {storage} 1.0", f"element vertex {vertices}"]
    return "\n".join([*first, *lines, "end_header"]) + "\n"


XYZ = ("property float x", "property float y", "property float z")


@settings(max_examples=40)
@given(cloud=clouds(faces=True))
def test_what_is_written_is_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, cloud: PointCloud) -> None:
    path = tmp_path_factory.mktemp("ply") / "ä b.ply"
    write(path, cloud)
    assert_same(read(path), cloud)


@settings(max_examples=40)
@given(cloud=clouds(faces=True), order=st.sampled_from("<>"))
def test_both_byte_orders_say_the_same(tmp_path_factory: pytest.TempPathFactory, cloud: PointCloud, order: str) -> None:
    storage = {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    text = header("property double x", "property double y", "property double z", "element face 1",
                  "property list uint short vertex_index", storage=storage, vertices=len(cloud))  # fmt: skip
    corners = np.array([0, 0, 0] if len(cloud) else [], order + "i2")
    body = cloud.xyz.astype(order + "f8").tobytes() + np.array([len(corners)], order + "u4").tobytes()
    path = written(tmp_path_factory.mktemp("ply"), text.encode() + body + corners.tobytes())
    if not len(cloud):
        with pytest.raises(InputError, match="three corners"):
            read(path)
        return
    np.testing.assert_array_equal(read(path).xyz, cloud.xyz)


def test_text_with_comments_and_windows_line_ends_is_read(tmp_path: Path) -> None:
    text = header("comment made by hand", "obj_info nothing", *XYZ, "property uchar red", "property uchar green",
                  "property uchar blue")  # fmt: skip
    rows = "0 0 0 1 2 3\n1 0 0 4 5 6\n0 1e-3 0 7 8 9\n"
    cloud = read(written(tmp_path, (text + rows).replace("\n", "\r\n")))
    assert cloud.xyz.tolist() == [[0, 0, 0], [1, 0, 0], [0, float(np.float32(1e-3)), 0]]
    assert cloud.rgb is not None
    assert cloud.rgb.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_remarks_are_kept_and_ours_is_added_once(tmp_path: Path) -> None:
    text = "ply\nformat ascii 1.0\ncomment crs: EPSG:25832\nobj_info scanned 2026\nelement vertex 1\n"
    text += "property double x\nproperty double y\nproperty double z\nend_header\n1 2 3\n"
    (tmp_path / "a.ply").write_text(text)
    write(tmp_path / "b.ply", read(tmp_path / "a.ply"))
    write(tmp_path / "c.ply", read(tmp_path / "b.ply"))
    lines = (tmp_path / "c.ply").read_bytes().split(b"end_header")[0].decode().splitlines()
    assert lines[2:5] == ["comment crs: EPSG:25832", "obj_info scanned 2026", "comment written by point2node"]
    assert lines[5].startswith("element")


def test_a_carriage_return_before_binary_data_takes_nothing_of_it(tmp_path: Path) -> None:
    text = header(
        "property uchar x", "property uchar y", "property uchar z", storage="binary_little_endian", vertices=1
    )
    assert read(written(tmp_path, text.replace("\n", "\r").encode() + b"\n\x01\x02")).xyz.tolist() == [[10, 1, 2]]


@pytest.mark.parametrize(
    ("names", "kind", "values"),
    [
        ("r g b", "float", "0 0.2 1"),
        ("diffuse_red diffuse_green diffuse_blue", "ushort", "0 13107 65535"),
        ("Red Green Blue", "ushort", "0 51 255"),
        ("red green blue", "int", "0 51 255"),
    ],
)
def test_colours_of_every_name_and_scale_become_bytes(tmp_path: Path, names: str, kind: str, values: str) -> None:
    text = header(*XYZ, *(f"property {kind} {name}" for name in names.split()), vertices=1)
    rgb = read(written(tmp_path, text + f"0 0 0 {values}\n")).rgb
    assert rgb is not None
    assert rgb.tolist() == [[0, 51, 255]]


def test_the_names_of_cloudcompare_are_understood(tmp_path: Path) -> None:
    extra = ("property float scalar_Intensity", "property float scalar_Label", "property float scalar_Roughness")
    cloud = read(written(tmp_path, header(*XYZ, *extra, vertices=1) + "0 0 0 0.5 7 0.25\n"))
    assert cloud.intensity is not None
    assert cloud.labels is not None
    assert cloud.intensity.tolist() == [0.5]
    assert cloud.labels.tolist() == [7]
    assert cloud.fields["scalar_Roughness"].dtype == np.float32


def test_polygons_fan_out_and_other_elements_are_stepped_over(tmp_path: Path) -> None:
    text = header(
        "property float x", "property float y", "property float z",
        "element camera 2", "property list uchar float knots", "property int zoom",
        "element face 2", "property uchar flag", "property list uchar int vertex_indices",
        "property list uchar float uv",
        "element edge 1", "property int a",
        storage="binary_big_endian", vertices=5,
    )  # fmt: skip
    vertices = np.arange(15, dtype=">f4").tobytes()
    cameras = b"\1" + np.array([5], ">f4").tobytes() + b"\0\0\0\1" + b"\0" + b"\0\0\0\2"
    faces = (
        b"\7\5" + np.arange(5, dtype=">i4").tobytes() + b"\0" + b"\7\3" + np.array([4, 2, 0], ">i4").tobytes() + b"\0"
    )
    cloud = read(written(tmp_path, text.encode() + vertices + cameras + faces + b"\0\0\0\0"))
    assert cloud.faces is not None
    assert cloud.faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4], [4, 2, 0]]


def test_text_faces_with_colours_behind_the_corners_are_read(tmp_path: Path) -> None:
    face = ("element face 2", "property list uchar int vertex_indices", "property float red")
    cloud = read(written(tmp_path, header(*XYZ, *face) + TRIANGLE + "3 0 1 2 0.5\n3 2 1 0 0.5\n"))
    assert cloud.faces is not None
    assert cloud.faces.tolist() == [[0, 1, 2], [2, 1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not a cloud", "begins with 'ply'"),
        ("ply\nformat ascii 1.0\n", "ends with 'end_header'"),
        (header(*XYZ, vertices=10**12) + TRIANGLE, "1000000000000 rows"),
        (header(*XYZ, vertices=10**12, storage="binary_little_endian") + TRIANGLE, "1000000000000 rows"),
        (header("property list uchar int x", "property float y", "property float z"), r"found a list \(x\)"),
        (header(*XYZ, "property float x") + TRIANGLE, "different names"),
        (header(*XYZ[:2]), "properties x, y and z, found x, y"),
        (header(*XYZ, vertices=-1), "line 3: expected a line of a PLY header"),
        (header(*XYZ) + "0 0 0\n1 0\n0 1 0\n", "line 9: expected 3 numbers, found 2"),
        (header(*XYZ) + "0 0 0\n1 zero 0\n0 1 0\n", "line 9: expected numbers, found '1 zero 0'"),
        (
            header("property uchar x", *XYZ[1:]) + "0 0 0\n300 0 0\n0 0 0\n",
            "whole numbers from 0 to 255, found 0 to 300",
        ),
        (
            header(*XYZ, "element face 1", "property list uchar int vertex_index") + TRIANGLE + "3 0 1 3\n",
            "from 0 to 2",
        ),
        (
            header(*XYZ, "element face 1", "property list uchar int vertex_index") + TRIANGLE + "2 0 1\n",
            "three corners",
        ),
        (header(*XYZ, "property float label") + "0 0 0 0.5\n" * 3, "labels: expected whole numbers"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(written(tmp_path, text))
    assert "cloud.ply" in str(caught.value)


def test_a_field_that_ply_cannot_hold_is_refused_and_a_small_one_narrowed(tmp_path: Path) -> None:
    path = tmp_path / "cloud.ply"
    write(path, random_cloud(2, fields={"id": np.array([1, 2])}))
    assert read(path).fields["id"].dtype == np.int32
    with pytest.raises(InputError, match="fit 32 bits"):
        write(path, random_cloud(2, fields={"id": np.array([1, 2**40])}))
    with pytest.raises(InputError, match="names of their own"):
        write(path, random_cloud(2, fields={"label": np.zeros(2)}))


def test_wide_fields_become_one_property_per_number(tmp_path: Path) -> None:
    path = tmp_path / "cloud.ply"
    write(path, random_cloud(2, fields={"two words": np.array([[1, 2], [3, 4]], np.int16)}))
    assert read(path).fields["two_words_1"].tolist() == [2, 4]
