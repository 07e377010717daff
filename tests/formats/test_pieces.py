"""Clouds in pieces: those that are read make the whole, and those that are written make the same file."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import WRITABLE_IN_PIECES, encode, encode_pieces, in_pieces, las, pieces, read, write
from tests.formats.clouds import assert_same, clouds, random_cloud

AT_ONCE = 7


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "POINTS_AT_ONCE", AT_ONCE)
    monkeypatch.setattr(las, "POINTS_AT_ONCE", AT_ONCE)


def joined(parts: list[PointCloud]) -> PointCloud:
    def join(part: str):
        values = [getattr(one, part) for one in parts]
        return None if values[0] is None else np.concatenate(values)

    named = {part: join(part) for part in ("xyz", "rgb", "normals", "intensity", "labels", "instance")}
    fields = {name: np.concatenate([one.fields[name] for one in parts]) for name in parts[0].fields}
    return PointCloud(**named, fields=fields)


def encoded(path: Path, cloud: PointCloud) -> bytes:
    stream = io.BytesIO()
    encode(path, cloud, stream)
    return stream.getvalue()


@pytest.mark.parametrize("suffix", [".ply", ".pcd", ".npy", ".las", ".laz"])
@given(data=st.data())
def test_pieces_are_the_cloud_that_is_read_at_once(suffix, data):
    cloud = data.draw(clouds(smallest=1))
    with TemporaryDirectory() as folder:
        path = Path(folder, f"cloud{suffix}")
        write(path, cloud)
        found = in_pieces(path)
        assert found is not None
        parts = list(found.read())
        assert [len(part) for part in parts[:-1]] == [AT_ONCE] * (len(parts) - 1)
        assert found.points == len(cloud) == sum(map(len, parts))
        assert_same(joined(parts), read(path))
        assert_same(joined(list(found.read())), read(path))  # once more


@pytest.mark.parametrize("suffix", WRITABLE_IN_PIECES)
def test_pieces_are_written_as_the_whole_is(tmp_path, suffix):
    path = tmp_path / f"cloud{suffix}"
    write(path, random_cloud(30, fields={"time": np.arange(30.0)}))
    found, stream = in_pieces(path), io.BytesIO()
    assert found is not None
    encode_pieces(path, found.read(), found.points, stream)
    if suffix in (".las", ".laz"):  # laspy leaves some bytes of the header as they are in memory
        whole = read(path)
        path.write_bytes(stream.getvalue())
        assert_same(read(path), whole)
    else:
        assert stream.getvalue() == encoded(path, read(path))


def test_scans_of_an_e57_are_its_pieces(tmp_path):
    pye57 = pytest.importorskip("pye57")
    path = tmp_path / "scans.e57"
    random = np.random.default_rng(0)
    with pye57.E57(str(path), mode="w") as file:
        for points in (9, 4):
            file.write_scan_raw({f"cartesian{axis}": random.random(points) for axis in "XYZ"})
    found = in_pieces(path)
    assert found is not None
    parts = list(found.read())
    assert [len(part) for part in parts] == [9, 4]
    assert_same(joined(parts), read(path))
    with pye57.E57(str(path), mode="w") as file:
        file.write_scan_raw({f"cartesian{axis}": random.random(3) for axis in "XYZ"})
        file.write_scan_raw({f"cartesian{axis}": random.random(3) for axis in "XYZ"} | {"intensity": random.random(3)})
    assert in_pieces(path) is None  # columns differ from scan to scan


def test_what_has_to_be_read_whole_is_not_read_in_pieces(tmp_path):
    mesh = random_cloud(4, faces=np.array([[0, 1, 2]], np.int32))
    write(tmp_path / "mesh.ply", mesh)
    write(tmp_path / "cloud.npz", mesh)
    (tmp_path / "text.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
        "end_header\n1 2 3\n"
    )
    (tmp_path / "empty.npy").write_bytes(b"")
    for name in ("mesh.ply", "cloud.npz", "text.ply", "empty.npy"):
        assert in_pieces(tmp_path / name) is None, name


@pytest.mark.parametrize("suffix", [".ply", ".pcd", ".npy", ".las"])
def test_a_file_that_ends_early_is_refused(tmp_path, suffix):
    path = tmp_path / f"cloud{suffix}"
    write(path, random_cloud(20))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError):
        in_pieces(path)


@pytest.mark.parametrize("suffix", WRITABLE_IN_PIECES)
def test_pieces_that_are_not_alike_are_refused(tmp_path, suffix):
    parts = [random_cloud(3), random_cloud(3, fields={"time": np.arange(3.0)})]
    with pytest.raises(InputError, match="columns of the same types throughout"):
        encode_pieces(tmp_path / f"cloud{suffix}", parts, 6, io.BytesIO())
