"""Point clouds from files of every common format, and back.

``read`` and ``write`` choose the format by the file's suffix. Optional libraries are imported by the format that
needs them, so importing this package is fast, and libraries of rare formats can be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from point2node.core import writing
from point2node.core.errors import InputError, unknown_choice
from point2node.core.point_cloud import PointCloud
from point2node.formats import arrays, e57, las, meshes, pcd, ply, text
from point2node.formats.meshes import sample_surface
from point2node.formats.pieces import Pieces

_READERS: MappingProxyType[str, Callable[[Path], PointCloud]] = MappingProxyType({
    ".ply": ply.read,
    ".pcd": pcd.read,
    ".las": las.read,
    ".laz": las.read,
    ".e57": e57.read,
    ".xyz": text.read,
    ".txt": text.read,
    ".csv": text.read,
    ".pts": text.read,
    ".asc": text.read,
    ".npy": arrays.read_npy,
    ".npz": arrays.read_npz,
    ".h5": arrays.read_h5,
    ".hdf5": arrays.read_h5,
    ".off": meshes.read_off,
    ".obj": meshes.read_obj,
    ".stl": meshes.read_stl,
    ".glb": meshes.read_gltf,
    ".gltf": meshes.read_gltf,
})  # fmt: skip

_WRITERS: MappingProxyType[str, Callable[[Path, PointCloud, BinaryIO], None]] = MappingProxyType({
    ".ply": ply.write,
    ".pcd": pcd.write,
    ".las": las.write,
    ".laz": las.write,
    ".xyz": text.write,
    ".txt": text.write,
    ".csv": text.write,
    ".npy": arrays.write_npy,
    ".npz": arrays.write_npz,
    ".h5": arrays.write_h5,
    ".hdf5": arrays.write_h5,
})  # fmt: skip

_PIECEWISE_READERS: MappingProxyType[str, Callable[[Path], Pieces | None]] = MappingProxyType({
    ".ply": ply.pieces,
    ".pcd": pcd.pieces,
    ".las": las.pieces,
    ".laz": las.pieces,
    ".e57": e57.pieces,
    ".npy": arrays.pieces_of_npy,
})  # fmt: skip

_PIECEWISE_WRITERS: MappingProxyType[str, Callable[[Path, Iterable[PointCloud], int, BinaryIO], None]] = (
    MappingProxyType({
        ".ply": ply.write_pieces,
        ".pcd": pcd.write_pieces,
        ".las": las.write_pieces,
        ".laz": las.write_pieces,
        ".npy": arrays.write_npy_pieces,
    })
)  # fmt: skip

READABLE = tuple(_READERS)
WRITABLE = tuple(_WRITERS)
WRITABLE_IN_PIECES = tuple(_PIECEWISE_WRITERS)
_TEXT = tuple(suffix for suffix, reader in _READERS.items() if reader is text.read)


def read(
    path: str | Path, *, columns: str | None = None, delimiter: str | None = None, skip: int | None = None
) -> PointCloud:
    """Read the points of a file with all their data; for a mesh, its vertices and triangles.

    ``columns`` (such as ``"x y z r g b label"``), ``delimiter`` and ``skip`` (number of lines to skip at the start) are
    for text files and override what would be guessed.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise unknown_choice(f"{path}, suffix", suffix, READABLE)
    options = {"columns": columns, "delimiter": delimiter, "skip": skip}
    given = [name for name, value in options.items() if value is not None]
    if given and suffix not in _TEXT:
        raise InputError(path, expected=f"a text file for the option {', '.join(given)}", found=suffix)
    try:
        if path.stat().st_size == 0:
            raise InputError(path, expected="a point cloud", found="an empty file")
        if given:
            return text.read(path, columns=columns, delimiter=delimiter, skip=skip)
        return _READERS[suffix](path)
    except OSError as error:
        raise InputError(path, expected="a file that can be read", found=writing.reason(error)) from error


def write(path: str | Path, cloud: PointCloud) -> None:
    """Write ``cloud`` in the format of the suffix; an existing file is replaced only at the end."""
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise unknown_choice(f"{path}, suffix", path.suffix.lower(), WRITABLE)
    with writing.replacing(path) as stream:
        encode(path, cloud, stream)


def encode(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write ``cloud`` to a stream in the format of ``path``."""
    _WRITERS[path.suffix.lower()](path, cloud, stream)


def in_pieces(path: Path) -> Pieces | None:
    """Open a file for reading in pieces; None if its format, or this file, must be read as a whole."""
    reader = _PIECEWISE_READERS.get(path.suffix.lower())
    try:
        return reader(path) if reader is not None and path.stat().st_size else None
    except OSError as error:
        raise InputError(path, expected="a file that can be read", found=writing.reason(error)) from error


def encode_pieces(path: Path, pieces: Iterable[PointCloud], points: int, stream: BinaryIO) -> None:
    """Write ``points`` points that come in pieces to a stream in the format of ``path``."""
    _PIECEWISE_WRITERS[path.suffix.lower()](path, pieces, points, stream)


def sample_mesh(path: str | Path, n: int, *, seed: int = 0) -> PointCloud:
    """Sample ``n`` points evenly on the surface of a mesh file, with the normals of its faces."""
    return sample_surface(Path(path), read(path), n, seed)


__all__ = [
    "READABLE",
    "WRITABLE",
    "WRITABLE_IN_PIECES",
    "Pieces",
    "encode",
    "encode_pieces",
    "in_pieces",
    "read",
    "sample_mesh",
    "write",
]
