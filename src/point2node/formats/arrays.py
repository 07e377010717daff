"""Files of arrays: NPY, NPZ archives and HDF5, and mapping their named arrays to the parts of a point cloud."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format

from point2node.core.errors import InputError
from point2node.core.memory import check_unpacked
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns, make_cloud, plain_name, to_bytes
from point2node.formats.libraries import damage_reported, import_library
from point2node.formats.pieces import Pieces, check_alike, rows_in_pieces

PLAIN_COLUMNS = {3: "x y z", 6: "x y z red green blue", 7: "x y z red green blue label"}


def read_npy(path: Path) -> PointCloud:
    """Read an array (N, 3), (N, 6) or (N, 7), or a structured one; pickled objects are never loaded."""
    return cloud_from_array(path, load_array(path))


def cloud_from_array(path: Path, array: Array) -> PointCloud:
    """Convert such an array to a point cloud; ``path`` is for messages."""
    if array.dtype.names is not None and array.ndim == 1:
        named = {name: _native(path, name, array[name]) for name in array.dtype.names}
        return cloud_from_columns(path, named) if "x" in map(plain_name, named) else cloud_from_arrays(path, named)
    width = array.shape[1] if array.ndim == 2 else 0
    if width not in PLAIN_COLUMNS:
        expected = "an array of shape (N, 3), (N, 6), (N, 7), or a structured one of shape (N,)"
        raise InputError(path, expected=expected, found=f"shape {array.shape}")
    columns = zip(PLAIN_COLUMNS[width].split(), _native(path, "array", array).T, strict=True)
    return cloud_from_columns(path, dict(columns))


def load_array(path: Path) -> Array:
    """Load the array in a file; mapping it first checks the header against the file's size."""
    with damage_reported(path, "an NPY file"):
        np.lib.format.open_memmap(path, mode="r")
        return np.load(
            path, allow_pickle=False
        )  # faster than a copy of the map, which causes a page fault on every page


def _native(path: Path, name: str, values: Array) -> Array:
    if values.dtype.kind not in "biuf" or values.ndim > 2:
        raise InputError(f"{path}, {name}", expected="numbers", found=f"{values.dtype} of shape {values.shape}")
    # unaligned fields are copied: torch does not accept them
    return np.require(values, values.dtype.newbyteorder("="), "A")


def pieces_of_npy(path: Path) -> Pieces | None:
    """Open an array for reading in pieces; None if its numbers are not stored point by point."""
    with damage_reported(path, "an NPY file"):
        array = np.lib.format.open_memmap(path, mode="r")
    if array.ndim not in (1, 2) or not array.flags.c_contiguous or not len(array):
        return None
    cloud_from_array(path, array[:0])  # raises InputError for anything but a cloud before reading
    row = np.dtype((array.dtype, array.shape[1:])) if array.ndim == 2 else array.dtype
    count, offset = len(array), array.offset

    def read_pieces() -> Iterator[PointCloud]:
        for table in rows_in_pieces(path, row, count, offset):
            yield cloud_from_array(path, table)

    return Pieces(count, row.itemsize, read_pieces)


def write_npy(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write a structured array with a field for each part, keeping types. Faces are not stored.

    Fields are aligned, so that reading needs no copy.
    """
    write_npy_pieces(path, [cloud], len(cloud), stream)


def write_npy_pieces(path: Path, pieces: Iterable[PointCloud], points: int, stream: BinaryIO) -> None:
    """Write points that come in pieces."""
    row: np.dtype[Any] | None = None
    for piece in pieces:
        arrays = arrays_from_cloud(path, piece)
        arrays.pop("faces", None)
        found = np.dtype([(name, values.dtype, values.shape[1:]) for name, values in arrays.items()], align=True)
        if row is None:
            row = found
            described = {"descr": npy_format.dtype_to_descr(row), "fortran_order": False, "shape": (points,)}
            npy_format.write_array_header_1_0(stream, described)
        check_alike(path, row, found)
        table = np.zeros(len(piece), row)
        for name, values in arrays.items():
            table[name] = values
        stream.write(table.tobytes())


HEADER_READERS = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}


def read_npz(path: Path) -> PointCloud:
    """Read every array of the archive; pickled objects are never loaded."""
    with damage_reported(path, "an NPZ archive"), zipfile.ZipFile(path) as archive:
        claimed = sum(info.compress_size for info in archive.infolist())
        if claimed > path.stat().st_size:  # overlapping entries: a zip bomb
            found = f"{path.stat().st_size} bytes for {claimed}"
            raise InputError(path, expected="an archive as large as what is in it", found=found)
        check_unpacked(path, sum(info.file_size for info in archive.infolist()))
        arrays = {info.filename.removesuffix(".npy"): _read_array(path, archive, info) for info in archive.infolist()}
    return cloud_from_arrays(path, arrays)


def _read_array(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    where = f"{path}, {info.filename}"
    plain = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if not plain or info.file_size > HIGHEST_RATIO * info.compress_size:
        found = f"{info.file_size} bytes from {info.compress_size}, method {info.compress_type}"
        raise InputError(where, expected="a stored or deflated array", found=found)
    data = archive.read(info)
    stream = io.BytesIO(data)
    version = npy_format.read_magic(stream)
    if version not in HEADER_READERS:
        raise InputError(where, expected="an array of format 1.0 or 2.0", found=".".join(map(str, version)))
    shape, by_column, dtype = HEADER_READERS[version](stream)
    offset = stream.tell()
    if dtype.hasobject or dtype.itemsize * int(np.prod(shape, dtype=object)) != len(data) - offset:
        found = f"{len(data) - offset} bytes for {dtype} of shape {shape}"
        raise InputError(where, expected="as many bytes as the array's shape and type need", found=found)
    return np.frombuffer(data, dtype, offset=offset).reshape(shape, order="F" if by_column else "C")


def write_npz(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write one array per part and field, keeping types."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in arrays_from_cloud(path, cloud).items():
            # not numpy.savez, which takes names as keyword arguments and reserves some
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy_format.write_array(member, values, allow_pickle=False)


NUMBERS, NUMBERS_OR_TEXTS = "biuf", "biufSOU"  # kinds of types, as numpy writes them


def read_h5(path: Path) -> PointCloud:
    """Read every dataset at the top of the file; groups and links are left out."""
    h5py = import_library(path, "h5py", "h5")
    arrays, total = {}, 0
    with damage_reported(path, "an HDF5 file"), h5py.File(path, "r") as file:
        for name in file:
            values = read_dataset(h5py, path, file, name)
            if values is not None:
                total += values.nbytes  # one dataset can have many names
                _refuse_claim(path, path, f"{total} bytes of datasets", total)
                arrays[name] = values
    return cloud_from_arrays(path, arrays)


def read_dataset(h5py: ModuleType, path: Path, file: Any, name: str, kinds: str = NUMBERS) -> Array | None:
    """Read one dataset of an open file, whose type must be in ``kinds``; None if there is none with that name.

    Links and external storage are rejected: data must not choose other files of this machine.
    """
    dataset = file[name] if isinstance(file.get(name, getlink=True), h5py.HardLink) else None
    if not isinstance(dataset, h5py.Dataset):
        return None
    if dataset.external or dataset.is_virtual:
        raise InputError(f"{path}, {name}", expected="data inside the file", found="a reference to another")
    _refuse_claim(path, f"{path}, {name}", f"shape {dataset.shape}", dataset.nbytes)
    check_unpacked(f"{path}, {name}", dataset.nbytes)
    if dataset.dtype.kind not in kinds:
        expected = "numbers" if kinds == NUMBERS else "numbers or texts"
        raise InputError(f"{path}, {name}", expected=expected, found=str(dataset.dtype))
    return np.asarray(dataset[()])


def _refuse_claim(path: Path, where: str | Path, what: str, claimed: int) -> None:
    if claimed > HIGHEST_RATIO * path.stat().st_size:
        found = f"{path.stat().st_size} bytes for {what}"
        raise InputError(where, expected="a file as large as its datasets", found=found)


def write_h5(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write one dataset per part and field, keeping types."""
    h5py = import_library(path, "h5py", "h5")
    with h5py.File(stream, "w") as file:
        for name, values in arrays_from_cloud(path, cloud).items():
            if "/" in name:
                raise InputError(f"{path}, fields", expected="names without '/', which HDF5 reserves", found=repr(name))
            file.create_dataset(name, data=values)


HIGHEST_RATIO = 1032  # deflate cannot shrink further, so a larger claim is damage (or an attack)
SPELLINGS = {
    "xyz": ("xyz", "points", "coord"),
    "rgb": ("rgb", "color"),
    "normals": ("normals", "normal"),
    "intensity": ("intensity",),
    "labels": ("labels", "label", "segment"),
    "instance": ("instance",),
    "faces": ("faces",),
}


def cloud_from_arrays(path: Path, arrays: Mapping[str, Array]) -> PointCloud:
    """Make a point cloud from named arrays; other arrays become ``fields``."""
    for name, values in arrays.items():
        if values.dtype.kind not in "biuf":
            raise InputError(f"{path}, {name}", expected="numbers", found=str(values.dtype))
    left = {name: values.astype(values.dtype.newbyteorder("="), copy=False) for name, values in arrays.items()}
    parts: dict[str, Array] = {}
    for part, spellings in SPELLINGS.items():
        found = [name for spelling in spellings for name in left if plain_name(name) == spelling]
        if found:
            parts[part] = left.pop(found[0])
    if "xyz" not in parts or parts["xyz"].ndim != 2:
        found_names = ", ".join(f"{name} {values.shape}" for name, values in arrays.items()) or "none"
        raise InputError(path, expected="an array xyz, points or coord of shape (N, 3)", found=found_names)
    if "labels" in parts:
        parts["labels"] = parts["labels"].reshape(-1)  # some data sets store them as (N, 1)
    if "rgb" in parts:
        parts["rgb"] = to_bytes(path, parts["rgb"])
    if "faces" in parts:
        _check_faces(path, parts["faces"], len(parts["xyz"]))
    return make_cloud(path, **parts, fields=left)


def _check_faces(path: Path, faces: Array, points: int) -> None:
    if faces.size and not (faces.min() >= 0 and faces.max() < points):
        found = f"{faces.min()} to {faces.max()}"
        raise InputError(f"{path}, faces", expected=f"vertex numbers from 0 to {points - 1}", found=found)


def arrays_from_cloud(path: Path, cloud: PointCloud) -> dict[str, Array]:
    """Return every part of ``cloud`` under the first of its spellings."""
    parts = {name: getattr(cloud, name) for name in SPELLINGS}
    arrays = {name: values for name, values in parts.items() if values is not None}
    for name, values in cloud.fields.items():
        if name in arrays or values.dtype.kind not in "biuf":
            found = f"{name!r} of type {values.dtype}"
            raise InputError(f"{path}, fields", expected="numbers under names of their own", found=found)
        arrays[name] = values
    return arrays
