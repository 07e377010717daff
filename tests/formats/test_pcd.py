"""PCD: lossless round trips, the three storages against each other, and damaged files."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import read, write
from point2node.formats.lzf import decompress
from tests.formats.clouds import assert_same, clouds, random_cloud


def header(
    fields: str, sizes: str, types: str, width: int, height: int = 1, data: str = "ascii", more: str = ""
) -> str:
    return (
        f"# .PCD v0.7\nVERSION 0.7\nFIELDS {fields}\nSIZE {sizes}\nTYPE {types}\n{more}"
        f"WIDTH {width}\nHEIGHT {height}\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {width * height}\nDATA {data}\n"
    )


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "cloud.pcd"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def literals(data: bytes) -> bytes:
    """The simplest LZF: no matches, runs of at most 32 literal bytes."""
    pieces = [data[i : i + 32] for i in range(0, len(data), 32)]
    return b"".join(bytes([len(piece) - 1]) + piece for piece in pieces)


@settings(max_examples=40)
@given(cloud=clouds())
def test_what_is_written_is_read_back_exactly(tmp_path_factory: pytest.TempPathFactory, cloud: PointCloud) -> None:
    path = tmp_path_factory.mktemp("pcd") / "ä b.pcd"
    write(path, cloud)
    assert_same(read(path), cloud)


def test_wide_fields_keep_their_width_and_type(tmp_path: Path) -> None:
    cloud = random_cloud(
        3, fields={"fpfh": np.arange(99, dtype=np.float32).reshape(3, 33), "id": np.array([1, 2, 2**60])}
    )
    write(tmp_path / "cloud.pcd", cloud)
    assert_same(read(tmp_path / "cloud.pcd"), cloud)


def test_an_organised_cloud_keeps_its_grid_and_its_missing_points(tmp_path: Path) -> None:
    rows = "0 0 0\nnan nan nan\n1 2 3\n4 5 6\n"
    path = written(tmp_path, header("x y z", "4 4 4", "F F F", width=2, height=2) + rows)
    cloud = read(path)
    assert np.isnan(cloud.xyz[1]).all()
    write(path, cloud)
    assert b"WIDTH 2\nHEIGHT 2\n" in path.read_bytes()
    np.testing.assert_array_equal(read(path).xyz, cloud.xyz)


@pytest.mark.parametrize("storage", ["ascii", "binary", "binary_compressed"])
def test_every_storage_gives_the_same_cloud(tmp_path: Path, storage: str) -> None:
    table = np.zeros(5, [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("pad", "u1", 3), ("rgb", "<u4"), ("label", "<u2")])
    table["x"], table["rgb"], table["label"] = np.arange(5), 0x00FF8001, [0, 1, 2, 3, 65535]
    text = header("x y z _ rgb label", "4 4 4 1 4 2", "F F F U U U", 5, data=storage, more="COUNT 1 1 1 3 1 1\n")
    if storage == "ascii":
        body = "".join(f"{row['x']} 0 0 0 0 0 {row['rgb']} {row['label']}\r\n" for row in table).encode()
    elif storage == "binary":
        body = table.tobytes()
    else:
        plain = b"".join(table[name].tobytes() for name in table.dtype.names or ())
        packed = literals(plain)
        body = struct.pack("<II", len(packed), len(plain)) + packed
    cloud = read(written(tmp_path, text.encode() + body))
    assert cloud.rgb is not None
    assert cloud.labels is not None
    assert cloud.xyz[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert cloud.rgb.tolist() == [[255, 128, 1]] * 5
    assert cloud.labels.tolist() == [0, 1, 2, 3, 65535]
    assert not cloud.fields


def test_colours_packed_as_floats_are_unpacked_and_transparency_is_kept(tmp_path: Path) -> None:
    as_float = np.array([0x00010203], np.uint32).view(np.float32)[0]
    cloud = read(written(tmp_path, header("x y z rgb", "4 4 4 4", "F F F F", 1) + f"0 0 0 {as_float!s}\n"))
    assert cloud.rgb is not None
    assert cloud.rgb.tolist() == [[1, 2, 3]]
    cloud = read(written(tmp_path, header("x y z rgba", "4 4 4 4", "F F F U", 1) + f"0 0 0 {0x80010203}\n"))
    assert cloud.rgb is not None
    assert cloud.rgb.tolist() == [[1, 2, 3]]
    assert cloud.fields["alpha"].tolist() == [0x80]


def test_a_match_may_overlap_what_it_writes() -> None:
    assert decompress(b"\x01ab" + bytes([(4 - 2) << 5 | 0, 1]), 6) == b"ababab"  # two literals, then 4 from 2 back
    assert decompress(b"\x00a" + bytes([7 << 5, 255, 0]), 265) == b"a" * 265  # the longest match


@given(data=st.binary(max_size=60), size=st.integers(0, 10_000))
def test_no_bytes_make_the_decoder_leave_its_bounds(data: bytes, size: int) -> None:
    plain = decompress(data, size)
    assert plain is None or len(plain) == size


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not a cloud\n", "a line DATA"),
        (header("x y z", "4 4 4", "F F F", 10**12) + "0 0 0\n", "expected 1000000000000 points, found 1"),
        (header("x y z", "4 4 4", "F F F", 10**12, data="binary"), "12000000000000 bytes"),
        (header("x y z", "4 4 4", "F F F", 10**12, data="binary_compressed") + "\1\0\0\0\1\0\0\0\0", "LZF data"),
        (header("x y z", "4 4", "F F F", 1), "damaged one"),
        (header("x y z", "3 4 4", "F F F", 1), "a PCD header|types, sizes"),
        (header("x y z", "4 4 4", "F F F", 1, data="zip"), "DATA zip"),
        (header("x y z", "4 4 4", "F F F", 1, more="COUNT 1 1 99999999999\n"), "counts up to"),
        (header("x y y", "4 4 4", "F F F", 1) + "0 0 0\n", "different names"),
        (header("x y", "4 4", "F F", 1) + "0 0\n", "columns x, y and z"),
        (header("x y z", "4 4 4", "F F F", 2) + "0 0 0\n0 0\n", "line 12: expected 3 numbers, found 2"),
        (header("x y z", "4 4 4", "F F F", 2).replace("POINTS 2", "POINTS 3"), "WIDTH × HEIGHT"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(written(tmp_path, content))
    assert "cloud.pcd" in str(caught.value)


@pytest.mark.parametrize("kind", ["A", "S", "f", "F,F", "O"])
def test_types_that_pcd_does_not_have_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.pcd"
    path.write_text(f"FIELDS x y z\nSIZE 4 4 4\nTYPE {kind} F F\nWIDTH 1\nHEIGHT 1\nDATA ascii\n1 2 3\n")
    with pytest.raises(InputError, match="types, sizes and a storage that PCD has"):
        read(path)
