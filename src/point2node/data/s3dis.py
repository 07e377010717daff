"""S3DIS: which release is under a root, and its rooms by area."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.data.repairs import repaired_copy
from point2node.data.s3dis_rooms import object_class, read_annotations, read_folder, read_table
from point2node.data.sources import Dataset, Source, existing_root, is_hidden, visible_files, visible_folders

AREA = re.compile(r"Area_\d")
TABLE = re.compile(r"(?P<area>Area_\d)_(?P<room>.+)\.npy")


def find_s3dis(root: Path, repairs: Path | None = None) -> Dataset:
    """The rooms under ``root``, which may hold the areas themselves or the one folder that does."""
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
    """The room folders of all areas, empty ones included."""
    areas = [folder for folder in visible_folders(base) if AREA.fullmatch(folder.name)]
    return [room for area in areas for room in visible_folders(area)]


def find_base(root: Path) -> Path:
    """The folder that holds the areas: ``root`` or the only one below it that does."""
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
    """Only the release that is not aligned comes with the angles that would align it."""
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
