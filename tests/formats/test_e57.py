"""E57: several scans, each at its pose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.formats import read, write

pye57 = pytest.importorskip("pye57")


def scan(n: int, colours: bool) -> dict[str, np.ndarray]:
    random = np.random.default_rng(n)
    data = {f"cartesian{axis}": random.integers(0, 100, n).astype(np.float64) for axis in "XYZ"}
    data["intensity"] = random.random(n).astype(np.float32)
    if colours:
        data |= {f"color{name}": random.integers(0, 256, n).astype(np.uint8) for name in ("Red", "Green", "Blue")}
    return data


def test_scans_are_joined_at_their_poses(tmp_path: Path) -> None:
    path = tmp_path / "ä b.e57"
    scans = [scan(10, colours=True), scan(5, colours=False)]
    turned = np.array([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])  # a quarter turn to the left
    with pye57.E57(str(path), mode="w") as file:
        file.write_scan_raw(scans[0], rotation=np.array([1.0, 0, 0, 0]), translation=np.array([1.0, 2, 3]))
        file.write_scan_raw(scans[1], rotation=turned, translation=np.zeros(3))
    cloud = read(path)
    first, second = (np.stack([one[f"cartesian{axis}"] for axis in "XYZ"], axis=1) for one in scans)
    np.testing.assert_allclose(cloud.xyz[:10], first + np.array([1, 2, 3]), atol=1e-4)
    np.testing.assert_allclose(cloud.xyz[10:], second[:, [1, 0, 2]] * [-1, 1, 1], atol=1e-4)
    assert cloud.fields["scan"].tolist() == [0] * 10 + [1] * 5
    np.testing.assert_array_equal(cloud.intensity, np.concatenate([one["intensity"] for one in scans]))
    assert cloud.rgb is not None
    np.testing.assert_array_equal(cloud.rgb[:10, 0], scans[0]["colorRed"])
    assert (cloud.rgb[10:] == 0).all()


def write_columns(path: Path, columns: dict[str, np.ndarray]) -> None:
    """One scan with columns of any name, those of the extension ``mine`` included."""
    libe57 = pye57.libe57
    with pye57.E57(str(path), mode="w") as file:
        image = file.image_file
        image.extensionsAdd("mine", "http://www.example.com/mine")
        prototype, buffers = libe57.StructureNode(image), libe57.VectorSourceDestBuffer()
        for column, values in columns.items():
            is_whole = values.dtype.kind == "i"
            node = libe57.IntegerNode(image, 0, 0, 2**62) if is_whole else libe57.FloatNode(image, 0.0)
            prototype.set(column, node)
            buffers.append(libe57.SourceDestBuffer(image, column, values, len(values), True, True))
        scan_node = libe57.StructureNode(image)
        scan_node.set("guid", libe57.StringNode(image, "{1}"))
        points = libe57.CompressedVectorNode(image, prototype, libe57.VectorNode(image, True))
        scan_node.set("points", points)
        file.data3d.append(scan_node)
        writer = points.writer(buffers)
        writer.write(len(values))
        writer.close()


def coordinates(xyz: np.ndarray) -> dict[str, np.ndarray]:
    return {f"cartesian{axis}": xyz[:, i].copy() for i, axis in enumerate("XYZ")}


@pytest.mark.parametrize("name", ["label", "mine:Label"])
def test_a_field_named_label_is_read_as_labels_and_an_invalid_point_has_no_position(tmp_path: Path, name: str) -> None:
    xyz = np.array([[4e5, 5e6, 1.25], [4e5 + 0.001, 5e6, 2], [0, 0, 0]])
    states, labels = np.array([0, 0, 2], np.longlong), np.array([3, 70000, 1], np.longlong)
    write_columns(tmp_path / "a.e57", coordinates(xyz) | {"cartesianInvalidState": states, name: labels})
    cloud = read(tmp_path / "a.e57")
    assert cloud.labels is not None
    assert cloud.labels.tolist() == [3, 70000, 1]
    assert cloud.fields.keys() == {"scan"}
    np.testing.assert_array_equal(cloud.xyz[:2], xyz[:2])  # map coordinates keep every digit
    assert np.isnan(cloud.xyz[2]).all()


def test_every_further_column_is_kept(tmp_path: Path) -> None:
    further = {
        "rowIndex": np.array([0, 1], np.longlong),
        "timeStamp": np.array([0.5, 1e9 + 0.25]),
        "mine:curvature": np.array([0.25, -0.5]),
        "mine:number": np.array([1, 2**40], np.longlong),
        "mine:x": np.array([7.0, 8.0]),
        "mine:normalX": np.array([1.0, 0.0]),
        "mine:normalY": np.array([0.0, 1.0]),
        "mine:normalZ": np.array([0.0, 0.0]),
    }
    write_columns(tmp_path / "a.e57", coordinates(np.eye(3)[:2]) | further)
    cloud = read(tmp_path / "a.e57")
    assert cloud.normals is not None
    assert cloud.normals.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert cloud.fields.keys() == {"rowIndex", "timeStamp", "curvature", "number", "mine:x", "scan"}
    np.testing.assert_array_equal(cloud.xyz, np.eye(3)[:2])
    for name, values in further.items():
        if "normal" not in name:
            plain = name.rpartition(":")[2]
            np.testing.assert_array_equal(cloud.fields[plain if plain in cloud.fields else name], values)
    write(tmp_path / "a.ply", cloud)  # which has no whole numbers of 64 bits


def test_a_file_that_is_none_or_holds_no_scan_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.e57"
    path.write_bytes(b"not a scan" * 10)
    with pytest.raises(InputError, match=r"a\.e57: expected an E57 file"):
        read(path)
    with pye57.E57(str(path), mode="w"):
        pass
    with pytest.raises(InputError, match="at least one scan"):
        read(path)
