"""NPZ archives of named arrays."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy_format

from point2node.core.errors import InputError
from point2node.core.memory import check_unpacked
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.libraries import damage_reported
from point2node.formats.named_arrays import HIGHEST_RATIO, arrays_from_cloud, cloud_from_arrays

HEADER_READERS = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}


def read(path: Path) -> PointCloud:
    """Read every array of the archive; pickled objects are never opened."""
    with damage_reported(path, "an NPZ archive"), zipfile.ZipFile(path) as archive:
        claimed = sum(info.compress_size for info in archive.infolist())
        if claimed > path.stat().st_size:  # the same bytes as several arrays: a small archive of any size
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


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write one array per part and field, each in its own type."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in arrays_from_cloud(path, cloud).items():
            # by hand, because numpy.savez takes the names as arguments and has some of its own
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy_format.write_array(member, values, allow_pickle=False)
