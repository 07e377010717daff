"""HDF5 files of named datasets."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.memory import check_unpacked
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.libraries import damage_reported, import_library
from point2node.formats.named_arrays import HIGHEST_RATIO, arrays_from_cloud, cloud_from_arrays

NUMBERS, NUMBERS_OR_TEXTS = "biuf", "biufSOU"  # kinds of types, as numpy writes them


def read(path: Path) -> PointCloud:
    """Read every dataset at the top of the file; groups and links are left out."""
    h5py = import_library(path, "h5py", "h5")
    arrays, total = {}, 0
    with damage_reported(path, "an HDF5 file"), h5py.File(path, "r") as file:
        for name in file:
            values = read_dataset(h5py, path, file, name)
            if values is not None:
                total += values.nbytes  # one dataset may stand under many names
                _refuse_claim(path, path, f"{total} bytes of datasets", total)
                arrays[name] = values
    return cloud_from_arrays(path, arrays)


def read_dataset(h5py: ModuleType, path: Path, file: Any, name: str, kinds: str = NUMBERS) -> Array | None:
    """One dataset of an open file, of a type of one of ``kinds``; None where there is none of that name in it.

    Links and external storage lead to other files of this machine: data may not choose those.
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


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write one dataset per part and field, each in its own type."""
    h5py = import_library(path, "h5py", "h5")
    with h5py.File(stream, "w") as file:
        for name, values in arrays_from_cloud(path, cloud).items():
            if "/" in name:
                raise InputError(f"{path}, fields", expected="names without '/', which HDF5 reserves", found=repr(name))
            file.create_dataset(name, data=values)
