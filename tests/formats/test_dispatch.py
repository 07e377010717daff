"""Choosing the format, paths that cannot be used, whole-or-nothing writing, and missing libraries."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import READABLE, WRITABLE, arrays, libraries, ply, read, write
from tests.formats.clouds import random_cloud

CLOUD = random_cloud(5)


@pytest.mark.parametrize("suffix", WRITABLE)
def test_every_writable_format_is_readable_in_capitals_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"Größe 1{suffix.upper()}"
    write(str(path), CLOUD)
    found = read(str(path))
    np.testing.assert_allclose(found.xyz, CLOUD.xyz, atol=1e-4, rtol=0)
    assert found.labels is not None
    assert CLOUD.labels is not None
    assert found.labels.tolist() == CLOUD.labels.tolist()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", READABLE)
def test_a_path_that_is_no_readable_file_is_named(tmp_path: Path, suffix: str) -> None:
    for name, message in (
        ("empty", "an empty file"),
        ("missing", "no such file"),
        ("folder", "is a directory|a damaged"),
    ):
        path = tmp_path / (name + suffix)
        if name == "empty":
            path.touch()
        elif name == "folder":
            path.mkdir()
        with pytest.raises(InputError, match=message) as caught:
            read(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", READABLE)
def test_a_file_that_is_not_what_its_suffix_says_gives_one_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"picture{suffix}"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    with pytest.raises(InputError, match="picture") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_an_unknown_suffix_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"one of \.ply, \.pcd.*Did you mean '\.las'"):
        read(tmp_path / "a.lass")
    with pytest.raises(InputError, match=r"one of \.ply"):
        write(tmp_path / "a.e57", CLOUD)
    with pytest.raises(InputError, match="found ''"):
        read(tmp_path / "a")


def test_options_for_text_are_refused_elsewhere(tmp_path: Path) -> None:
    write(tmp_path / "a.ply", CLOUD)
    with pytest.raises(InputError, match=r"a text file for the option skip, found \.ply"):
        read(tmp_path / "a.ply", skip=1)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ply"
    write(path, CLOUD)
    before = path.read_bytes()
    monkeypatch.setattr(ply, "columns_from_cloud", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(path, CLOUD)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.ply"]


@pytest.mark.parametrize("suffix", WRITABLE)
def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match="a file that can be written, found no such file or directory"):
        write(tmp_path / "missing" / f"a{suffix}", CLOUD)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="not a directory"):
        write(tmp_path / "file" / f"a{suffix}", CLOUD)
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        write(tmp_path / f"folder{suffix}", CLOUD)
    assert not list(tmp_path.glob(".point2node*"))


@pytest.mark.parametrize(
    ("suffix", "library", "extra"),
    [(".e57", "pye57", "e57"), (".h5", "h5py", "h5"), (".glb", "trimesh", "mesh")],
)
def test_a_missing_library_comes_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)  # what makes an import fail as if it were not installed
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"LASF")
    with pytest.raises(InputError, match=rf"pip install 'point2node\[{extra}\]'"):
        read(path)


def test_a_library_that_fails_without_a_word_is_named_by_its_exception(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a: expected b, found a damaged one \(KeyError\)"), \
            libraries.damage_reported(Path("a"), "b"):  # fmt: skip
        raise KeyError


def test_importing_the_package_imports_no_format_library() -> None:
    libraries_ = "{'laspy', 'h5py', 'trimesh', 'pye57', 'numba', 'torch', 'pandas'}"
    code = f"import sys, point2node.formats; assert not {libraries_} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_errors_about_a_part_name_the_file_too(tmp_path: Path) -> None:
    h5_file = tmp_path / "a.h5"
    write(h5_file, PointCloud(np.zeros((2, 3)), fields={"label": np.array([0.5, 1])}))
    with pytest.raises(InputError, match=r"a\.h5, labels: expected whole numbers"):
        arrays.read_h5(h5_file)
