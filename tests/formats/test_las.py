"""LAS and LAZ: nothing of a file is lost on the way through, and map coordinates keep their millimetres."""

from __future__ import annotations

import struct
from pathlib import Path

import laspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import read, write
from tests.formats.clouds import clouds, random_cloud

both = pytest.mark.parametrize("suffix", [".las", ".laz"])


def las_file(path: Path, point_format: int = 7, n: int = 20, **dimensions: np.ndarray) -> Path:
    """A file as another program would write it: CRS record, odd scales, GPS times, an extra dimension."""
    header = laspy.LasHeader(version="1.4", point_format=point_format)
    header.scales, header.offsets = np.array([0.001, 0.001, 0.01]), np.array([4e5, 5e6, 0])
    header.vlrs.append(laspy.VLR("LASF_Projection", 2112, "WKT", b'PROJCS["somewhere"]\0'))
    header.add_extra_dim(laspy.ExtraBytesParams("Amplitude", np.float32))
    header.add_extra_dim(laspy.ExtraBytesParams("shift", "3i2"))
    for name, values in dimensions.items():
        if name not in header.point_format.dimension_names:
            header.add_extra_dim(laspy.ExtraBytesParams(name, values.dtype))
    las = laspy.LasData(header)
    random = np.random.default_rng(0)
    las.x, las.y, las.z = (random.uniform(0, 100, (n, 3)) + np.array([4e5, 5e6, 0])).T
    las.gps_time = random.uniform(0, 1e9, n)
    las.return_number = random.integers(1, 3, n)
    las["Amplitude"] = random.normal(size=n).astype(np.float32)
    las["shift"] = random.integers(-9, 9, (n, 3))
    las.intensity = random.integers(0, 2**16, n)
    for name, values in dimensions.items():
        las[name] = values
    las.evlrs = laspy.vlrs.vlrlist.VLRList([laspy.VLR("somebody", 7, "notes", b"kept")])
    las.write(path)
    return path


@both
@settings(max_examples=15)
@given(cloud=clouds())
def test_every_part_and_field_comes_back(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, cloud: PointCloud
) -> None:
    path = tmp_path_factory.mktemp("las") / f"ä b{suffix}"
    write(path, cloud)
    found = read(path)
    assert np.abs(found.xyz - cloud.xyz).max(initial=0) < 1e-4
    for part in ("rgb", "normals", "intensity", "labels", "instance"):
        if getattr(cloud, part) is not None:
            np.testing.assert_array_equal(getattr(found, part), getattr(cloud, part))
    for name, values in cloud.fields.items():
        np.testing.assert_array_equal(found.fields[name], values)
        assert found.fields[name].dtype == values.dtype


@both
@given(east=st.floats(1e5, 9e5), north=st.floats(0, 1e7), extent=st.floats(0.1, 5e4))
@settings(max_examples=15)
def test_utm_coordinates_come_back_within_a_millimetre(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, east: float, north: float, extent: float
) -> None:
    xyz = np.random.default_rng(0).random((50, 3)) * [extent, extent, 100] + [east, north, -20]
    path = tmp_path_factory.mktemp("las") / f"map{suffix}"
    write(path, PointCloud(xyz))
    assert np.abs(read(path).xyz - xyz).max() < 1e-3


@both
@pytest.mark.parametrize("point_format", [3, 7, 8])
def test_a_file_read_and_written_is_the_same_file(tmp_path: Path, suffix: str, point_format: int) -> None:
    colours = np.random.default_rng(1).integers(0, 2**16, (20, 3)).astype(np.uint16)
    red, green, blue = colours.T
    path = las_file(tmp_path / f"in{suffix}", point_format, red=red, green=green, blue=blue)
    write(tmp_path / f"out{suffix}", read(path))
    before, after = laspy.read(path), laspy.read(tmp_path / f"out{suffix}")
    assert list(after.point_format.dimension_names) == list(before.point_format.dimension_names)
    for name in before.point_format.dimension_names:
        np.testing.assert_array_equal(np.array(after[name]), np.array(before[name]), err_msg=name)
    assert after.header.scales.tolist() == before.header.scales.tolist()
    assert after.header.offsets.tolist() == before.header.offsets.tolist()
    assert [record.record_data_bytes() for record in after.header.vlrs[:1]] == [b'PROJCS["somewhere"]\0']
    assert after.evlrs is not None
    assert [record.record_data for record in after.evlrs] == [b"kept"]


def test_labels_become_the_classification_and_the_old_one_is_kept(tmp_path: Path) -> None:
    classes = np.arange(20, dtype=np.uint8)
    cloud = read(las_file(tmp_path / "in.las", classification=classes))
    assert cloud.labels is not None
    assert cloud.labels.tolist() == classes.tolist()
    write(tmp_path / "out.las", cloud.with_(labels=np.full(20, 200)))
    found = laspy.read(tmp_path / "out.las")
    assert np.array(found.classification).tolist() == [200] * 20
    assert np.array(found["classification_input"]).tolist() == classes.tolist()
    again = read(tmp_path / "out.las")
    write(tmp_path / "third.las", again.with_(labels=np.full(20, 3)))
    assert read(tmp_path / "third.las").fields["classification_input"].tolist() == classes.tolist()


def test_an_extra_dimension_label_goes_before_the_classification(tmp_path: Path) -> None:
    labels = np.arange(20, dtype=np.int32)
    cloud = read(las_file(tmp_path / "in.las", scalar_Label=labels, classification=np.full(20, 2, np.uint8)))
    assert cloud.labels is not None
    assert cloud.labels.tolist() == labels.tolist()
    write(tmp_path / "out.las", cloud)
    found = read(tmp_path / "out.las")
    assert found.labels is not None
    assert found.labels.tolist() == labels.tolist()
    assert found.fields["classification_input"].tolist() == [2] * 20


def test_labels_above_31_need_a_newer_point_format(tmp_path: Path) -> None:
    cloud = read(las_file(tmp_path / "in.las", point_format=3))
    write(tmp_path / "out.las", cloud.with_(labels=np.full(20, 31)))
    with pytest.raises(InputError, match="Labels above 31 need point format 6 or higher"):
        write(tmp_path / "out.las", cloud.with_(labels=np.full(20, 32)))
    with pytest.raises(InputError, match="from 0 to 255, as point format 7"):
        write(tmp_path / "out.las", random_cloud(3, labels=np.full(3, -1)))


def test_8_bit_colours_in_16_bit_fields_are_noticed_and_changed_colours_are_spread(tmp_path: Path) -> None:
    eight = np.full(20, 200, np.uint16)
    path = las_file(tmp_path / "in.las", red=eight, green=eight, blue=eight)
    cloud = read(path)
    assert cloud.rgb is not None
    assert cloud.rgb.max() == 200
    write(path, cloud.with_(rgb=np.full((20, 3), 255)))
    assert np.array(laspy.read(path).red).tolist() == [65535] * 20


def test_colours_and_intensities_without_a_dimension_of_their_own_become_extra_ones(tmp_path: Path) -> None:
    cloud = read(las_file(tmp_path / "in.las", point_format=6))
    rgb, intensity = np.full((20, 3), 7, np.uint8), np.linspace(0, 1, 20)
    write(tmp_path / "out.las", cloud.with_(rgb=rgb, intensity=intensity))
    found = read(tmp_path / "out.las")
    np.testing.assert_array_equal(found.rgb, rgb)
    np.testing.assert_array_equal(found.intensity, intensity)
    write(tmp_path / "out.las", found.with_(rgb=rgb + 1))
    np.testing.assert_array_equal(read(tmp_path / "out.las").rgb, rgb + 1)


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (PointCloud(np.full((1, 3), np.nan)), "a position for every point"),
        (PointCloud(np.array([[-1e308] * 3, [1e308] * 3])), "a position for every point"),
        (random_cloud(2, fields={"X": np.zeros(2)}), "names other than X, Y and Z"),
        (random_cloud(2, fields={"n" * 33: np.zeros(2)}), "at most 32 bytes"),
        (random_cloud(2, fields={"user_data": np.array([0, 300])}), "whole numbers from 0 to 255"),
    ],
)
def test_a_cloud_that_las_cannot_hold_says_why(tmp_path: Path, cloud: PointCloud, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write(tmp_path / "out.las", cloud)
    assert not list(tmp_path.iterdir())


def test_moved_beyond_the_reach_of_the_old_scale_is_refused(tmp_path: Path) -> None:
    cloud = read(las_file(tmp_path / "in.las"))
    with pytest.raises(InputError, match="too far from the file's offset"):
        write(tmp_path / "out.las", cloud.with_(xyz=cloud.xyz + 1e9))


@both
def test_a_claim_of_more_points_than_there_is_room_for_is_refused(tmp_path: Path, suffix: str) -> None:
    path = las_file(tmp_path / f"in{suffix}")
    data = bytearray(path.read_bytes())
    data[247:255] = (10**12).to_bytes(8, "little")
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"in\.la"):
        read(path)


def test_an_empty_cloud_is_written_and_read(tmp_path: Path) -> None:
    for suffix in (".las", ".laz"):
        write(tmp_path / f"none{suffix}", PointCloud(np.empty((0, 3))))
        assert len(read(tmp_path / f"none{suffix}")) == 0


def test_sizes_inside_a_laz_file_are_checked_before_the_decoder_takes_memory_for_them(tmp_path: Path) -> None:
    path = las_file(tmp_path / "in.laz")
    data = path.read_bytes()
    header = laspy.open(path).header
    first_layer = header.offset_to_point_data + 8 + header.point_format.size + 4
    for place in (header.offset_to_point_data + 4, first_layer, first_layer + 8):
        path.write_bytes(data[:place] + b"\xfe\xff\xff\x7f" + data[place + 4 :])
        with pytest.raises(InputError, match="sizes that go beyond it"):
            read(path)


def test_an_index_of_a_cloud_optimised_file_is_not_written_back(tmp_path: Path) -> None:
    path = las_file(tmp_path / "in.las")
    cloud = read(path)
    cloud.origin.header.vlrs.append(laspy.VLR("copc", 1, "info", bytes(160)))  # type: ignore[attr-defined]
    write(path, cloud)
    assert [record.user_id for record in laspy.read(path).header.vlrs] == ["LASF_Projection", "LASF_Spec"]


@pytest.mark.parametrize(
    ("place", "number", "found"), [(147, 0.0, "scale of z"), (131, np.nan, "scale of x"), (163, np.inf, "offset of y")]
)
def test_scales_and_offsets_that_lose_all_coordinates_are_refused(
    tmp_path: Path, place: int, number: float, found: str
) -> None:
    path = las_file(tmp_path / "a.las")
    content = bytearray(path.read_bytes())
    struct.pack_into("<d", content, place, number)
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"expected a {found}"):
        read(path)
