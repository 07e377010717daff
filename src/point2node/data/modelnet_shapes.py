"""Reading one split of ModelNet, in each of the three forms in circulation."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array
from point2node.data.number_lines import XYZ_NORMAL, describe_damage, parse_lines, read_bytes
from point2node.data.sources import Damage, Scene, Shapes, lost_file, no_shapes

SAMPLED_POINTS = 2048
"""Points sampled on each mesh, as many as in the h5 release."""


@dataclass(frozen=True)
class ShapeFile:
    """A shape in its own file."""

    path: Path
    shown: str
    label: int


def read_h5(split: str, files: tuple[Path, ...], classes: int, skip_damaged: bool) -> Iterator[Scene]:
    """Read all shapes of the h5 files of one split; a damaged file is lost as a whole."""
    parts: list[Shapes] = []
    lost: list[Damage] = []
    for file in files:
        try:
            parts.append(_read_h5_file(file, classes))
        except InputError as error:
            if not skip_damaged:
                raise
            lost.append(lost_file(file, file.parent, error))
    if not parts:
        yield Scene(split, split, no_shapes(), tuple(lost))
        return
    sizes = {part.xyz.shape[1] for part in parts}
    if len(sizes) > 1:
        raise InputError(files[0].parent, expected="clouds of one size", found=f"clouds of {sorted(sizes)} points")
    labels = np.concatenate([part.labels for part in parts])
    unnamed = any(not part.names.size for part in parts)
    counted = np.array([f"{split}_{number:05d}" for number in range(len(labels))])
    yield Scene(
        split,
        split,
        Shapes(
            np.concatenate([part.xyz for part in parts]),
            labels,
            counted if unnamed else np.concatenate([part.names for part in parts]),
            _join_normals(parts),
        ),
        tuple(lost),
    )


def read_texts(split: str, shapes: tuple[ShapeFile, ...], skip_damaged: bool) -> Iterator[Scene]:
    """Read all shapes of one split of the resampled release: six numbers per line, separated by commas."""

    def read(shape: ShapeFile) -> NDArray[np.float32] | tuple[Damage, ...]:
        rows, damaged = parse_lines(read_bytes(shape.path), XYZ_NORMAL)
        nothing = () if len(rows) or damaged else (Damage(shape.shown, None, "no points"),)
        found = describe_damage(shape.shown, damaged) or nothing
        if found and not skip_damaged:
            where = shape.shown if found[0].line is None else f"{shape.shown}, line {found[0].line}"
            raise InputError(where, expected=XYZ_NORMAL.expected, found=found[0].bytes)
        return found or rows.astype(np.float32)

    yield _stack(split, shapes, read)


def read_off(split: str, shapes: tuple[ShapeFile, ...], skip_damaged: bool) -> Iterator[Scene]:
    """Read all meshes of one split, sampled by area, centred and scaled into the unit sphere."""
    from point2node.formats import sample_mesh

    def read(shape: ShapeFile) -> NDArray[np.float32] | tuple[Damage, ...]:
        try:  # seeded by name: the points of a shape do not depend on the other files
            cloud = sample_mesh(shape.path, SAMPLED_POINTS, seed=zlib.crc32(shape.shown.encode()))
        except InputError as error:
            if not skip_damaged:
                raise
            return (Damage(shape.shown, None, f"expected {error.expected}, found {error.found}"),)
        centred = cloud.xyz - cloud.xyz.mean(axis=0)
        centred /= max(float(np.linalg.norm(centred, axis=1).max()), np.finfo(np.float32).tiny)
        normals = cast("Array", cloud.normals)  # a sampled mesh always has them
        return np.concatenate([centred, normals], axis=1, dtype=np.float32)

    yield _stack(split, shapes, read)


Read = Callable[[ShapeFile], "NDArray[np.float32] | tuple[Damage, ...]"]


def _stack(split: str, shapes: tuple[ShapeFile, ...], read: Read) -> Scene:
    """Stack the shapes in one array; a damaged one is lost as a whole, because all must have the same size."""
    kept: list[ShapeFile] = []
    lost: list[Damage] = []
    stacked = np.empty((0, 0, 6), np.float32)
    for shape in shapes:
        rows = read(shape)
        if isinstance(rows, tuple):
            lost.extend(rows)
            continue
        if not kept:
            stacked = np.empty((len(shapes), *rows.shape), np.float32)
        if rows.shape != stacked.shape[1:]:
            raise InputError(shape.path, expected=f"{stacked.shape[1]} points, as in the others", found=str(len(rows)))
        stacked[len(kept)] = rows
        kept.append(shape)
    stacked = stacked[: len(kept)]
    labels = np.array([shape.label for shape in kept], np.int32)
    names = np.array([shape.path.stem for shape in kept], np.str_)
    content = Shapes(np.ascontiguousarray(stacked[:, :, :3]), labels, names, np.ascontiguousarray(stacked[:, :, 3:]))
    return Scene(split, split, content, tuple(lost))


def _read_h5_file(path: Path, classes: int) -> Shapes:
    arrays = _load_h5(path)
    if not {"data", "label"} <= set(arrays):
        raise InputError(path, expected="'data' and 'label'", found=", ".join(arrays) or "neither")
    xyz, labels = arrays["data"], arrays["label"].reshape(-1)
    if xyz.ndim != 3 or xyz.shape[2] != 3 or len(xyz) != len(labels):
        raise InputError(
            path, expected="'data' (n, points, 3) and n labels", found=f"{xyz.shape}, {len(labels)} labels"
        )
    if not np.isfinite(xyz).all():
        raise InputError(path, expected="finite coordinates", found="some that are not")
    strange = np.setdiff1d(labels, np.arange(classes))
    if len(strange):
        expected = f"labels from 0 to {classes - 1}, as in shape_names.txt"
        raise InputError(path, expected=expected, found=str(strange[0]))
    normals = arrays.get("normal")
    if normals is not None and normals.shape != xyz.shape:
        raise InputError(path, expected="a normal for each point", found=f"shape {normals.shape}")
    written = arrays["name"].reshape(-1) if "name" in arrays else ()
    names = np.array([_text(name) for name in written], np.str_)
    if len(names) not in (0, len(xyz)):
        raise InputError(path, expected=f"{len(xyz)} names", found=str(len(names)))
    return Shapes(
        xyz.astype(np.float32), labels.astype(np.int32), names, None if normals is None else normals.astype(np.float32)
    )


def _text(name: object) -> str:
    return name.decode(errors="backslashreplace") if isinstance(name, bytes) else str(name)


def _load_h5(path: Path) -> dict[str, NDArray[Any]]:
    """Load the HDF5 datasets of the release that are in the file."""
    from point2node.formats.arrays import NUMBERS, NUMBERS_OR_TEXTS, read_dataset
    from point2node.formats.libraries import damage_reported, import_library

    h5py = import_library(path, "h5py", "h5")
    kinds = {"data": NUMBERS, "label": NUMBERS, "normal": NUMBERS, "name": NUMBERS_OR_TEXTS}
    with damage_reported(path, "an HDF5 file"), h5py.File(path, "r") as file:
        read = {name: read_dataset(h5py, path, file, name, kind) for name, kind in kinds.items()}
    return {name: values for name, values in read.items() if values is not None}


def _join_normals(parts: list[Shapes]) -> NDArray[np.float32] | None:
    """Join the normals if every part has them."""
    normals = [part.normals for part in parts if part.normals is not None]
    return np.concatenate(normals) if len(normals) == len(parts) else None
