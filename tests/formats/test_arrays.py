"""NPY, NPZ and HDF5: exact round trips, the names that others use, and no pickles."""

from __future__ import annotations

import copy
import io
import struct
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings

from point2node.core.errors import InputError
from point2node.core.memory import held_memory, memory_limited
from point2node.core.point_cloud import PointCloud
from point2node.formats import read, write
from tests.formats.clouds import assert_same, clouds, random_cloud


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".h5"])
@settings(max_examples=25)
@given(cloud=clouds(faces=True))
def test_what_is_written_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, cloud: PointCloud
) -> None:
    path = tmp_path_factory.mktemp("arrays") / f"ä b{suffix}"
    write(path, cloud)
    assert_same(read(path), cloud, faces=suffix != ".npy")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".h5"])
def test_wide_fields_half_floats_and_truth_values_are_kept(tmp_path: Path, suffix: str) -> None:
    fields = {"wide": np.arange(6).reshape(3, 2), "half": np.ones(3, np.float16), "seen": np.array([True, False, True])}
    cloud = random_cloud(3, fields=fields)
    write(tmp_path / f"a{suffix}", cloud)
    assert_same(read(tmp_path / f"a{suffix}"), cloud)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ">f4"])
def test_plain_arrays_of_three_six_and_seven_columns_are_read(tmp_path: Path, dtype: str) -> None:
    rows = np.array([[0.5, 1, 2, 10, 20, 30, 4], [1, 2, 3, 255, 0, 1, 5]], dtype)
    np.save(tmp_path / "a.npy", np.asfortranarray(rows))
    cloud = read(tmp_path / "a.npy")
    assert cloud.rgb is not None
    assert cloud.labels is not None
    assert cloud.xyz.tolist() == [[0.5, 1, 2], [1, 2, 3]]
    assert (cloud.rgb.tolist(), cloud.labels.tolist()) == ([[10, 20, 30], [255, 0, 1]], [4, 5])
    for width in (3, 6):
        np.save(tmp_path / "a.npy", rows[:, :width])
        assert (read(tmp_path / "a.npy").rgb is None) == (width == 3)


def test_a_structured_array_may_hold_whole_vectors(tmp_path: Path) -> None:
    table = np.zeros(2, [("coord", "f4", (3,)), ("color", "u1", (3,)), ("segment", "i8"), ("score", "f2")])
    table["segment"] = [1, 2]
    np.save(tmp_path / "a.npy", table)
    cloud = read(tmp_path / "a.npy")
    assert cloud.labels is not None
    assert cloud.labels.tolist() == [1, 2]
    assert list(cloud.fields) == ["score"]


@pytest.mark.parametrize("xyz", ["xyz", "points", "coord", "Coord"])
@pytest.mark.parametrize("labels", ["labels", "label", "segment", "scalar_Label"])
def test_the_names_of_other_projects_are_understood(tmp_path: Path, xyz: str, labels: str) -> None:
    arrays = {xyz: np.zeros((2, 3)), "color": np.ones((2, 3)), "normal": np.ones((2, 3)), labels: np.array([[1], [2]])}
    np.savez(tmp_path / "a.npz", **arrays)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, values in arrays.items():
            file[name] = values
        file.create_group("notes")
    for name in ("a.npz", "a.h5"):
        cloud = read(tmp_path / name)
        assert cloud.rgb is not None
        assert cloud.labels is not None
        assert (cloud.rgb.max(), cloud.labels.tolist(), dict(cloud.fields)) == (255, [1, 2], {})


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    objects = np.array([print, None], object)
    np.save(tmp_path / "a.npy", objects)
    np.savez(tmp_path / "a.npz", xyz=np.zeros((2, 3)), objects=objects)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(InputError, match=name):
            read(tmp_path / name)


def npy_header(shape: tuple[int, ...]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": "<f8"})
    return stream.getvalue()


def test_a_claim_of_more_points_than_there_is_room_for_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(npy_header((10**12, 3)) + b"\0" * 24)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("xyz.npy", npy_header((10**12, 3)) + b"\0" * 24)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("xyz", (10**12, 3), "f8", chunks=(1000, 3))
    for name in ("a.npy", "a.npz", "a.h5"):
        with pytest.raises(InputError, match=name):
            read(tmp_path / name)


def test_the_same_bytes_under_many_names_are_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("xyz", (50_000, 3), "f8", chunks=(1000, 3))
        for number in range(200):
            file[f"again_{number}"] = file["xyz"]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xyz.npy", npy_header((100, 3)) + b"\0" * 2400)
        for number in range(9):
            again = copy.copy(archive.infolist()[0])
            again.filename = f"again_{number}.npy"
            archive.filelist.append(again)
    (tmp_path / "a.npz").write_bytes(stream.getvalue())
    for name, message in (("a.h5", "as large as its datasets"), ("a.npz", "as large as what is in it")):
        with pytest.raises(InputError, match=message):
            read(tmp_path / name)


def test_hdf5_links_to_other_files_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\0" * 48)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["xyz"] = np.zeros((2, 3))
        file["other"] = h5py.ExternalLink("b.h5", "/other")
    assert dict(read(tmp_path / "a.h5").fields) == {}
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file.create_dataset("raw", (2, 3), "f8", external=[(str(tmp_path / "secret"), 0, 48)])
    with pytest.raises(InputError, match="data inside the file"):
        read(tmp_path / "a.h5")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"rgb": np.zeros((2, 3))}, "an array xyz, points or coord"),
        ({"xyz": np.zeros((2, 4))}, r"shape \(2, 3\)"),
        ({"xyz": np.zeros((2, 3)), "names": np.array(["a", "b"])}, "names: expected numbers"),
        ({"xyz": np.zeros((2, 3)), "mean": np.zeros(3)}, r"mean: expected an array of shape \(2"),
        ({"xyz": np.zeros((2, 3)), "faces": np.array([[0, 1, 2]])}, "vertex numbers from 0 to 1"),
        ({"xyz": np.zeros((2, 3)), "rgb": np.full((2, 3), -1.0)}, "colours: expected 0 to 1"),
    ],
)
def test_arrays_that_do_not_fit_together_are_named(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / "a.npz")
    assert "a.npz" in str(caught.value)


def test_an_array_of_another_shape_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 5)))
    with pytest.raises(InputError, match=r"shape \(2, 5\)"):
        read(tmp_path / "a.npy")


def test_a_field_name_that_hdf5_reserves_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without '/'"):
        write(tmp_path / "a.h5", random_cloud(1, fields={"a/b": np.zeros(1)}))


def test_an_archive_under_the_name_of_one_array_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", xyz=np.zeros((2, 3)))
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(InputError, match=r"a\.npy: expected an NPY file"):
        read(tmp_path / "a.npy")


def test_an_array_without_points_is_read(tmp_path):
    np.save(tmp_path / "a.npy", np.empty((0, 3)))
    assert len(read(tmp_path / "a.npy")) == 0


@pytest.mark.parametrize("suffix", [".npz", ".h5", ".pcd", ".laz"])
def test_what_does_not_fit_into_the_memory_is_refused_before_it_is_unpacked(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"zeros{suffix}"
    cloud = PointCloud(np.zeros((300_000, 3)))
    if suffix == ".h5":
        with h5py.File(path, "w") as file:
            file.create_dataset("xyz", data=cloud.xyz, compression="gzip")
    else:
        write(path, cloud)
    if suffix == ".pcd":
        compress_pcd(path)
    assert path.stat().st_size < 3_000_000
    with memory_limited(held_memory() + 100_000_000):
        assert len(read(path)) == 300_000
    with memory_limited(held_memory() + 5_000_000), pytest.raises(InputError, match="GB when unpacked"):
        read(path)


def compress_pcd(path: Path) -> None:
    """Zeros in LZF: one of them as it is, then references back to it."""
    head, body = path.read_bytes().split(b"DATA binary\n")
    packed, left = b"\x00\x00", len(body) - 1
    while left > 2:
        length = min(left, 264)
        packed += bytes([0xE0, length - 9, 0]) if length > 8 else bytes([(length - 2) << 5, 0])
        left -= length
    packed += bytes([left - 1]) + bytes(left) if left else b""
    path.write_bytes(head + b"DATA binary_compressed\n" + struct.pack("<II", len(packed), len(body)) + packed)
