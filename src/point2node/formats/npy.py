"""NPY files: one plain array of coordinates and colours, or a structured array with named fields."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns, plain_name
from point2node.formats.libraries import damage_reported
from point2node.formats.named_arrays import arrays_from_cloud, cloud_from_arrays

PLAIN_COLUMNS = {3: "x y z", 6: "x y z red green blue", 7: "x y z red green blue label"}


def read(path: Path) -> PointCloud:
    """Read an array (N, 3), (N, 6) or (N, 7), or a structured one; pickled objects are never opened."""
    return cloud_from_array(path, load_array(path))


def cloud_from_array(path: Path, array: Array) -> PointCloud:
    """The point cloud that such an array describes; ``path`` is for messages."""
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
    """The array in a file; mapped first, which compares what the header claims with the file's size."""
    with damage_reported(path, "an NPY file"):
        np.lib.format.open_memmap(path, mode="r")
        return np.load(path, allow_pickle=False)  # quicker than a copy of the map, which faults on every page of it


def _native(path: Path, name: str, values: Array) -> Array:
    if values.dtype.kind not in "biuf" or values.ndim > 2:
        raise InputError(f"{path}, {name}", expected="numbers", found=f"{values.dtype} of shape {values.shape}")
    # fields that lie across their natural bounds are copied: torch would refuse them
    return np.require(values, values.dtype.newbyteorder("="), "A")


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write a structured array with a field for each part, in its own type. Faces have no place in it.

    Fields are aligned, so that reading needs no copy.
    """
    arrays = arrays_from_cloud(path, cloud)
    arrays.pop("faces", None)
    layout = [(name, values.dtype, values.shape[1:]) for name, values in arrays.items()]
    table = np.zeros(len(cloud), np.dtype(layout, align=True))
    for name, values in arrays.items():
        table[name] = values
    np.save(stream, table, allow_pickle=False)
