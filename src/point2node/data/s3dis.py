"""S3DIS: detecting the release, its rooms by area, and reading each of its three forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.number_lines import XYZ_RGB, describe_damage, parse_lines, read_bytes, repaired_copy
from point2node.data.sources import (
    Damage,
    Dataset,
    Scene,
    Source,
    check_labels,
    existing_root,
    is_hidden,
    relative_name,
    scene_or_loss,
    visible_files,
    visible_folders,
)

AREA = re.compile(r"Area_\d")
TABLE = re.compile(r"(?P<area>Area_\d)_(?P<room>.+)\.npy")


def find_s3dis(root: Path, repairs: Path | None = None) -> Dataset:
    """Find the rooms under ``root``, which holds the areas or a single folder that does."""
    if repairs is not None and not repairs.is_dir():
        raise InputError(repairs, expected="the folder that 'doctor --repair' wrote", found="none")
    base = find_base(existing_root(root))
    arrays = [file for file in visible_files(base) if file.suffix == ".npy"]
    tables = [file for file in arrays if TABLE.fullmatch(file.name)]
    if tables:
        sources = [_table_source(file, root) for file in tables]
        left_out = tuple(f"{file.name}: not named Area_k_<room>.npy, left out" for file in arrays if file not in tables)
        return Dataset("s3dis", "preprocessed, one N×7 array a room", S3DIS, tuple(sources), notes=left_out)
    rooms = find_rooms(base)
    folders = [room for room in rooms if (room / "coord.npy").is_file()]
    if folders:
        sources = [_folder_source(room, root) for room in folders]
        left_out = tuple(f"{_name(room)}: no coord.npy, left out" for room in rooms if room not in folders)
        return Dataset("s3dis", "preprocessed, a folder of arrays a room", S3DIS, tuple(sources), notes=left_out)
    sources = [_raw_source(room, root, repairs) for room in rooms]
    if not any(object_class(file) for source in sources for file in source.files):
        raise InputError(
            base,
            expected="files named Area_k/<room>/Annotations/<class>_<number>.txt",
            found="none",
            remedy="Point ROOT at the folder that holds Area_1 to Area_6.",
        )
    return Dataset("s3dis", f"raw annotations, {_alignment(base)}", S3DIS, tuple(sources))


def find_rooms(base: Path) -> list[Path]:
    """List the room folders of all areas, including empty ones."""
    areas = [folder for folder in visible_folders(base) if AREA.fullmatch(folder.name)]
    return [room for area in areas for room in visible_folders(area)]


def find_base(root: Path) -> Path:
    """Return the folder that holds the areas: ``root`` or the only subfolder that does."""
    holders = [folder for folder in (root, *visible_folders(root)) if _holds_areas(folder)]
    if root in holders or len(holders) == 1:
        return holders[0]
    if holders:
        names = ", ".join(folder.name for folder in holders)
        raise InputError(root, expected="one copy of S3DIS", found=names, remedy="Point ROOT at one of them.")
    raise InputError(
        root,
        expected="folders Area_1 to Area_6 or files Area_k_<room>.npy",
        found="none",
        remedy="Point ROOT at the folder that holds Area_1 to Area_6.",
    )


def _holds_areas(folder: Path) -> bool:
    entries = (path for path in folder.iterdir() if not is_hidden(path))
    return any(AREA.fullmatch(path.name) or TABLE.fullmatch(path.name) for path in entries)


def _alignment(base: Path) -> str:
    """Return whether the release is aligned: only the unaligned one includes the alignment angles."""
    return "not aligned" if any(base.glob("Area_*/*_alignmentAngle.txt")) else "aligned"


def _name(room: Path) -> str:
    return f"{room.parent.name}_{room.name}"


def _raw_source(room: Path, root: Path, repairs: Path | None) -> Source:
    annotations = room / "Annotations"
    files = tuple(visible_files(annotations) if annotations.is_dir() else ())
    read_from = tuple(repaired_copy(file, root, repairs) for file in files)
    name, area = _name(room), room.parent.name
    return Source(name, area, read_from, partial(read_annotations, name, area, files, root, repairs))


def _table_source(file: Path, root: Path) -> Source:
    area = file.name[: len("Area_1")]
    return Source(file.stem, area, (file,), partial(read_table, file.stem, area, file, root))


def _folder_source(room: Path, root: Path) -> Source:
    arrays = tuple(file for file in visible_files(room) if file.suffix == ".npy")
    name, area = _name(room), room.parent.name
    return Source(name, area, arrays, partial(read_folder, name, area, room, root))


VALUES = {one.name: one.value for one in S3DIS}
CLUTTER = VALUES["clutter"]
OTHER_NAMES = {"stairs": CLUTTER}  # PointCNN drops stairs; most others count them as clutter, and so do we
OBJECT_FILE = re.compile(r"(?P<class>\w+?)_\d+\.txt", re.IGNORECASE)
DOCTOR = "Run 'point2node doctor s3dis ROOT --repair DIR'."


def object_class(file: Path) -> tuple[int, bool] | None:
    """Return the label value of an object file and whether its class is known; None for any other file."""
    match = OBJECT_FILE.fullmatch(file.name)
    if not match:
        return None
    name = match["class"].lower()
    value = VALUES.get(name, OTHER_NAMES.get(name))
    return (CLUTTER, False) if value is None else (value, True)


def read_annotations(
    name: str, area: str, files: tuple[Path, ...], root: Path, repairs: Path | None, skip_damaged: bool
) -> Iterator[Scene]:
    """Read a room of the raw release: one text file per object."""
    xyz, rgb, labels = [np.empty((0, 3))], [np.empty((0, 3), np.uint8)], [np.empty(0, np.int32)]
    lost: list[Damage] = []
    notes: list[str] = []
    for file in files:
        shown = relative_name(file, root)
        known = object_class(file)
        if known is None:
            notes.append(f"{shown}: not named <class>_<number>.txt, left out")
            continue
        value, is_known = known
        if not is_known:
            notes.append(f"{shown}: unknown class, counted as clutter")
        numbers, damaged = parse_lines(read_bytes(repaired_copy(file, root, repairs)), XYZ_RGB)
        found = describe_damage(shown, damaged)
        if found and not skip_damaged:
            raise damage_error(found)
        lost.extend(found)
        xyz.append(numbers[:, :3])
        rgb.append(numbers[:, 3:].astype(np.uint8))
        labels.append(np.full(len(numbers), value, np.int32))
    cloud = PointCloud(np.concatenate(xyz), rgb=np.concatenate(rgb), labels=np.concatenate(labels))
    yield Scene(name, area, cloud, tuple(lost), tuple(notes))


def damage_error(damages: tuple[Damage, ...]) -> InputError:
    """Make the error for the first of several damaged lines."""
    first = damages[0]
    further = f" ({len(damages) - 1} more such lines in this file)" if len(damages) > 1 else ""
    where = f"{first.path}, line {first.line}"
    return InputError(where, expected=XYZ_RGB.expected, found=first.bytes + further, remedy=DOCTOR)


def read_table(name: str, area: str, file: Path, root: Path, skip_damaged: bool) -> Iterator[Scene]:
    """Read a room stored as one N×7 array: x y z r g b label. A damaged one is lost as a whole."""
    yield scene_or_loss(
        name, area, file, root, partial(_read_undamaged_table, name, area, file), skip_damaged=skip_damaged
    )


def _read_undamaged_table(name: str, area: str, file: Path) -> Scene:
    table = load_numbers(file)
    if table.ndim != 2 or table.shape[1] != 7:
        raise InputError(file, expected="an array of shape (N, 7): x y z r g b label", found=f"shape {table.shape}")
    return Scene(name, area, _labelled_cloud(file, table[:, :3], table[:, 3:6], table[:, 6]))


def read_folder(name: str, area: str, folder: Path, root: Path, skip_damaged: bool) -> Iterator[Scene]:
    """Read a room as stored by Pointcept: coord.npy, color.npy, segment.npy, maybe normal.npy. Also lost as a whole."""
    read = partial(_read_undamaged_folder, name, area, folder)
    yield scene_or_loss(name, area, folder, root, read, skip_damaged=skip_damaged)


def _read_undamaged_folder(name: str, area: str, folder: Path) -> Scene:
    xyz, rgb, labels = (load_numbers(folder / f"{part}.npy") for part in ("coord", "color", "segment"))
    normals = load_numbers(folder / "normal.npy") if (folder / "normal.npy").is_file() else None
    return Scene(name, area, _labelled_cloud(folder, xyz, rgb, labels.reshape(-1), normals))


def load_numbers(path: Path) -> NDArray[Any]:
    """Load a .npy file of numbers; pickled objects are rejected, never executed."""
    from point2node.formats.arrays import load_array  # imports numba, which is not needed to list a data set

    if not path.is_file():
        raise InputError(path, expected="a .npy file", found="none")
    array = load_array(path)
    if array.dtype.kind not in "biuf":
        raise InputError(path, expected="numbers", found=str(array.dtype))
    return array


def _labelled_cloud(
    path: Path, xyz: NDArray[Any], rgb: NDArray[Any], labels: NDArray[Any], normals: NDArray[Any] | None = None
) -> PointCloud:
    from point2node.formats.columns import make_cloud

    if not np.isfinite(xyz).all():
        raise InputError(path, expected="finite coordinates", found=f"{int((~np.isfinite(xyz)).sum())} that are not")
    check_labels(path, labels, S3DIS)
    return make_cloud(path, xyz=xyz, rgb=rgb, labels=labels, normals=normals)
