"""ScanNet: detecting the release, its scenes and splits, and reading labels of every form into one class list."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import partial
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SCANNET
from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.data.pickles import load_pickles
from point2node.data.sources import (
    Dataset,
    Scene,
    Source,
    check_labels,
    existing_root,
    lost_scene,
    read_text,
    scene_or_loss,
    visible_files,
    visible_folders,
)

SCENE = re.compile(r"scene\d{4}_\d{2}")
MESH, LABELS, SEGMENTS = "_vh_clean_2.ply", "_vh_clean_2.labels.ply", "_vh_clean_2.0.010000.segs.json"
AGGREGATION = ".aggregation.json"
PICKLES = {"train": "scannet_train.pickle", "test": "scannet_test.pickle"}
# The 1201 and 312 scenes, by release. The second release calls the 312 "val", and its "test" has no public labels; the
# first release splits the 1201 again.
SPLIT_FILES = (
    {"scannetv2_train.txt": "train", "scannetv2_val.txt": "test"},
    {"scannetv1_train.txt": "train", "scannetv1_val.txt": "train", "scannetv1_test.txt": "test"},
    {"scannet_train.txt": "train", "scannet_test.txt": "test"},
)


def find_scannet(root: Path) -> Dataset:
    """Find the scenes under ``root``: the two pickles of PointNet++, or scene folders at any of three depths."""
    present = {split: root / name for split, name in PICKLES.items() if (existing_root(root) / name).is_file()}
    if present:
        sources = [
            Source(split, split, (file,), partial(read_pickle, split, file, root)) for split, file in present.items()
        ]
        return Dataset("scannet", "two pickles of PointNet++", SCANNET, tuple(sources), ignored=(UNANNOTATED,))
    folders = find_scene_folders(root)
    if not folders:
        raise InputError(
            root,
            expected="folders scene????_?? or " + " and ".join(PICKLES.values()),
            found="none",
            remedy="Point ROOT at the folder that holds scans.",
        )
    splits = read_splits(root)
    label_map = _find_label_map(root)
    sources, left_out = [], []
    for folder in folders:
        files = label_files(folder, label_map)
        split = splits.get(folder.name) if splits else "all"
        if split is None:
            left_out.append(f"{folder.name}: in none of the split files, left out")
        elif files is None:
            left_out.append(f"{folder.name}: no mesh or no labels, left out")
        else:
            sources.append(Source(folder.name, split, files, partial(read_scene, folder.name, split, files, root)))
    release = "raw scene folders"
    return Dataset("scannet", release, SCANNET, tuple(sources), ignored=(UNANNOTATED,), notes=tuple(left_out))


def find_scene_folders(root: Path) -> list[Path]:
    """List the scene folders in ``root``, its subfolders (``scans``) or theirs (``scannet/scans``), sorted by name."""
    levels = [root, *visible_folders(root)]
    levels += [folder for child in levels[1:] if not SCENE.fullmatch(child.name) for folder in visible_folders(child)]
    found = [child for level in levels for child in visible_folders(level) if SCENE.fullmatch(child.name)]
    return sorted(set(found), key=lambda folder: folder.name)


def label_files(folder: Path, label_map: Path | None) -> tuple[Path, ...] | None:
    """Return the mesh and the files of its labels, or None if any is missing."""
    mesh, labels = folder / (folder.name + MESH), folder / (folder.name + LABELS)
    segments, aggregation = folder / (folder.name + SEGMENTS), folder / (folder.name + AGGREGATION)
    if mesh.is_file() and labels.is_file():
        return mesh, labels
    if mesh.is_file() and segments.is_file() and aggregation.is_file() and label_map is not None:
        return mesh, segments, aggregation, label_map
    return None


def read_splits(root: Path) -> dict[str, str]:
    """Read the split of each scene from the split files in ``root`` or one of its folders; empty if there are none."""
    for folder, release in product(_list_folders(root), SPLIT_FILES):
        splits: dict[str, str] = {}
        for file, split in ((folder / name, split) for name, split in release.items()):
            if file.is_file():
                splits |= dict.fromkeys(read_text(file).split(), split)
        if splits:
            return splits
    return {}


def _list_folders(root: Path) -> list[Path]:
    """Return the folders that can hold lists for the whole data set: ``root`` and its subfolders (``scannet``)."""
    return [root, *(folder for folder in visible_folders(root) if not SCENE.fullmatch(folder.name))]


def read_scene(name: str, split: str, files: tuple[Path, ...], root: Path, skip_damaged: bool) -> Iterator[Scene]:
    """Read one raw scene; a damaged one is lost as a whole."""
    read = partial(_read_undamaged, name, split, files)
    yield scene_or_loss(name, split, files[0].parent, root, read, skip_damaged=skip_damaged)


def _read_undamaged(name: str, split: str, files: tuple[Path, ...]) -> Scene:
    """Read the points of the mesh with labels from the second mesh or from the segments."""
    from point2node.formats import read

    mesh = read(files[0])
    notes: tuple[str, ...] = ()
    if len(files) == 2:
        numbers = read(files[1]).labels
        if numbers is None:
            raise InputError(files[1], expected="a vertex property 'label'", found="none")
        labels = from_nyu40(files[1], numbers)
    else:
        labels, unknown = from_segments(files[1], files[2], read_label_map(files[3]))
        notes = tuple(f"{files[2].name}: unknown class {one!r}, counted as unannotated" for one in unknown)
    _check_finite(files[0], mesh.xyz)
    if len(labels) != len(mesh):
        raise InputError(files[1], expected=f"a label for each of the {len(mesh)} vertices", found=f"{len(labels)}")
    return Scene(name, split, PointCloud(mesh.xyz, rgb=mesh.rgb, labels=labels), notes=notes)


def read_pickle(split: str, file: Path, root: Path, skip_damaged: bool) -> Iterator[Scene]:
    """Read all scenes of one pickle, which does not name them; a damaged scene, or pickle, is lost as a whole."""
    try:
        clouds, labels = load_pickles(file, 2)
        if not isinstance(clouds, list) or not isinstance(labels, list) or len(clouds) != len(labels):
            expected = "a list of clouds and an equally long list of labels"
            raise InputError(file, expected=expected, found="something else")
    except InputError as error:
        if not skip_damaged:
            raise
        yield lost_scene(split, split, file, root, error)
        return
    for number, (xyz, of_points) in enumerate(zip(clouds, labels, strict=True)):
        name = f"{split}_{number:04d}"
        read = partial(_pickled_scene, name, split, f"{file}, scene {number}", xyz, of_points)
        yield scene_or_loss(name, split, file, root, read, skip_damaged=skip_damaged)


def _pickled_scene(name: str, split: str, where: str, xyz: Any, of_points: Any) -> Scene:
    if not isinstance(xyz, np.ndarray) or xyz.ndim != 2 or xyz.shape[1] < 3:
        raise InputError(where, expected="coordinates of shape (N, 3)", found=f"{getattr(xyz, 'shape', type(xyz))}")
    if not isinstance(of_points, np.ndarray) or of_points.size != len(xyz):
        raise InputError(where, expected=f"{len(xyz)} labels", found=f"{getattr(of_points, 'size', type(of_points))}")
    _check_finite(where, xyz)
    check_labels(where, of_points, SCANNET)
    return Scene(name, split, PointCloud(xyz[:, :3], labels=of_points.reshape(-1)))


def _check_finite(where: str | Path, xyz: Array) -> None:
    strange = int((~np.isfinite(xyz)).sum())
    if strange:
        raise InputError(where, expected="finite coordinates", found=f"{strange} that are not")


def _find_label_map(root: Path) -> Path | None:
    files = (file for folder in reversed(_list_folders(root)) for file in visible_files(folder))
    candidates = [file for file in files if file.name.endswith("labels.combined.tsv")]
    return candidates[-1] if candidates else None


UNANNOTATED = 0
VALUES = {one.name: one.value for one in SCANNET} | {"refridgerator": 17}  # spelt this way in the label map
NYU40_NAMES = {
    1: "wall", 2: "floor", 3: "cabinet", 4: "bed", 5: "chair", 6: "sofa", 7: "table", 8: "door", 9: "window",
    10: "bookshelf", 11: "picture", 12: "counter", 14: "desk", 16: "curtain", 24: "refrigerator",
    28: "shower curtain", 33: "toilet", 34: "sink", 36: "bathtub", 39: "otherfurniture",
}  # fmt: skip
NYU40_CLASSES = 40


def from_nyu40(path: Path, numbers: NDArray[Any]) -> NDArray[np.int32]:
    """Map NYU-40 numbers to class values; those outside the twenty classes count as unannotated."""
    if len(numbers) and (numbers.min() < 0 or numbers.max() > NYU40_CLASSES):
        found = f"{numbers.min()} to {numbers.max()}"
        raise InputError(path, expected=f"NYU-40 labels from 0 to {NYU40_CLASSES}", found=found)
    table = np.full(NYU40_CLASSES + 1, UNANNOTATED, np.int32)
    for number, name in NYU40_NAMES.items():
        table[number] = VALUES[name]
    return table[numbers]


def read_label_map(path: Path) -> dict[str, int]:
    """Read the class value of every raw category from the TSV file of the data set."""
    rows = list(csv.DictReader(StringIO(read_text(path), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = set(rows[0]) if rows else set()
    key = "raw_category" if "raw_category" in columns else "category"  # the first release has no raw_category
    if not {key, "nyu40class"} <= columns:
        found = ", ".join(sorted(str(column) for column in columns)) or "nothing"
        raise InputError(path, expected="the columns raw_category and nyu40class", found=found)
    return {row[key]: VALUES.get(row["nyu40class"] or "", UNANNOTATED) for row in rows}


def from_segments(
    segments: Path, aggregation: Path, label_map: dict[str, int]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the class values of all vertices, and the raw categories that are missing from the label map."""
    try:
        of_vertex = np.asarray(_read_list(segments, "segIndices"), np.int64).reshape(-1)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(segments, expected="whole numbers in 'segIndices'", found=str(error)) from error
    groups = _read_list(aggregation, "segGroups")
    unknown: set[str] = set()
    of_segment: dict[int, int] = {}
    for group in groups:
        try:
            category, members = str(group["label"]), [int(segment) for segment in group["segments"]]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                aggregation, expected="groups with a label and segments", found=f"{group!r:.60}"
            ) from error
        if category not in label_map:
            unknown.add(category)
        of_segment.update(dict.fromkeys(members, label_map.get(category, UNANNOTATED)))
    numbers, place = np.unique(of_vertex, return_inverse=True)
    values = np.array([of_segment.get(number, UNANNOTATED) for number in numbers.tolist()], np.int32)
    return values[place], tuple(sorted(unknown))


def _read_list(path: Path, key: str) -> list[Any]:
    try:
        found = parse_json(read_text(path))[key]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(path, expected=f"JSON with {key!r}", found=f"{type(error).__name__}: {error}") from error
    if not isinstance(found, list):
        raise InputError(path, expected=f"a list {key!r}", found=type(found).__name__)
    return found
