"""The labels of ScanNet scenes: NYU-40 numbers, raw categories and segments, all mapped to one class list."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SCANNET
from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.data.sources import read_text

UNANNOTATED = 0
VALUES = {one.name: one.value for one in SCANNET} | {"refridgerator": 17}  # so spelt in the label map
NYU40_NAMES = {
    1: "wall", 2: "floor", 3: "cabinet", 4: "bed", 5: "chair", 6: "sofa", 7: "table", 8: "door", 9: "window",
    10: "bookshelf", 11: "picture", 12: "counter", 14: "desk", 16: "curtain", 24: "refrigerator",
    28: "shower curtain", 33: "toilet", 34: "sink", 36: "bathtub", 39: "otherfurniture",
}  # fmt: skip
NYU40_CLASSES = 40


def from_nyu40(path: Path, numbers: NDArray[Any]) -> NDArray[np.int32]:
    """Class values for NYU-40 numbers; those outside the twenty classes count as unannotated."""
    if len(numbers) and (numbers.min() < 0 or numbers.max() > NYU40_CLASSES):
        found = f"{numbers.min()} to {numbers.max()}"
        raise InputError(path, expected=f"NYU-40 labels from 0 to {NYU40_CLASSES}", found=found)
    table = np.full(NYU40_CLASSES + 1, UNANNOTATED, np.int32)
    for number, name in NYU40_NAMES.items():
        table[number] = VALUES[name]
    return table[numbers]


def read_label_map(path: Path) -> dict[str, int]:
    """The class value of every raw category, from the TSV that comes with the data."""
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
    """Class values of all vertices, and the raw categories that the label map does not know."""
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
