"""Files are untrusted: however one is cut or changed, it is read or refused with one line, and soon."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
import pye57
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.formats import READABLE, WRITABLE, read, write
from tests.formats.clouds import random_cloud

TEXT_MESHES = {
    ".off": "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
    ".obj": "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1/1 2 3\nf -1 -2 -3\n",
    ".stl": "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n",
    ".pts": "2\n1 2 3 -4 5 6 7\n1 2 3 -4 5 6 7\n",
    ".asc": "//X Y Z R G B\n1 2 3 4 5 6\n",
}
OTHER_STORAGES = {
    ".ply": "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    ".pcd": "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA binary_compressed\n"
    "\x0d\0\0\0\x0c\0\0\0\x0b\0\0\0\0\0\0\0\0\0\0\0\0",
}


@functools.cache
def originals(suffix: str) -> list[bytes]:
    """Small undamaged files of the format."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        if suffix in TEXT_MESHES:
            return [TEXT_MESHES[suffix].encode()]
        if suffix in WRITABLE:
            field = {"curvature": np.arange(6, dtype=np.float32), "gps_time": np.arange(6.0)}
            write(path, random_cloud(6, fields=field, faces=np.array([[0, 1, 2], [3, 4, 5]])))
        elif suffix == ".e57":
            axes = {f"cartesian{axis}": np.arange(6.0) for axis in "XYZ"}
            with pye57.E57(str(path), mode="w") as file:
                file.write_scan_raw(axes | {"intensity": np.ones(6, np.float32)})
        else:
            trimesh.creation.box((1, 1, 1)).export(path)
        other = OTHER_STORAGES.get(suffix)
        return [path.read_bytes()] + ([other.encode("latin-1")] if other else [])


@st.composite
def damaged(draw: st.DrawFn, suffix: str) -> bytes:
    """A file with some bytes changed, in its header more often than elsewhere, and perhaps its end cut off."""
    data = bytearray(draw(st.sampled_from(originals(suffix))))
    places = st.integers(0, len(data) - 1) | st.integers(0, min(400, len(data) - 1))
    for place in draw(st.lists(places, max_size=6)):
        change = draw(
            st.binary(min_size=1, max_size=8) | st.sampled_from([b"\xff" * 8, b"\0" * 8, b"-1 ", b"9" * 12, b"nan "])
        )
        data[place : place + len(change)] = change
    keep = draw(st.just(len(data)) | st.integers(1, len(data)))
    return bytes(data[:keep])


def read_or_refuse(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        cloud = read(path)
    except InputError as error:
        message = str(error)
    else:
        assert cloud.xyz.shape == (len(cloud), 3)
        return
    assert path.name in message
    assert "\n" not in message


@pytest.mark.parametrize("suffix", READABLE)
@settings(max_examples=40)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, data: st.DataObject
) -> None:
    read_or_refuse(tmp_path_factory.getbasetemp() / f"damaged{suffix}", data.draw(damaged(suffix)))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", READABLE)
@settings(max_examples=1000)
@given(data=st.data())
def test_many_damaged_files_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, data: st.DataObject
) -> None:
    read_or_refuse(tmp_path_factory.getbasetemp() / f"damaged{suffix}", data.draw(damaged(suffix)))


@pytest.mark.parametrize("suffix", READABLE)
def test_a_file_cut_off_anywhere_is_read_or_refused(tmp_path: Path, suffix: str) -> None:
    for content in originals(suffix):
        for keep in range(1, len(content), max(1, len(content) // 40)):
            read_or_refuse(tmp_path / f"cut{suffix}", content[:keep])
