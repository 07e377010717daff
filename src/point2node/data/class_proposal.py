"""A draft of a class file: every label value found in a folder of clouds, with a name to edit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.words import Report
from point2node.core.writing import replacing
from point2node.data.label_sidecar import read_sidecar
from point2node.data.own_files import find_clouds
from point2node.formats import read

MOST = 255
"""The largest number of values; more are probably object numbers, not classes."""
LAS_NAMES = {
    2: "ground",
    3: "low vegetation",
    4: "medium vegetation",
    5: "high vegetation",
    6: "building",
    9: "water",
    10: "rail",
    11: "road surface",
    13: "wire guard",
    14: "wire conductor",
    15: "transmission tower",
    16: "wire connector",
    17: "bridge deck",
}
"""Class names of the LAS standard."""
LAS_IGNORED = {0, 1, 7, 18}
"""LAS values: never classified, unclassified, low and high noise."""


@dataclass
class Found:
    """The label values found in a folder."""

    points: Counter[int] = field(default_factory=Counter)
    files: Counter[int] = field(default_factory=Counter)
    names: dict[int, str] = field(default_factory=dict)
    ignored: set[int] = field(default_factory=set)


def propose_classes(root: Path, target: Path, report: Report) -> Found:
    """Write a class file with every label value of the clouds under ``root``; raises InputError if the file exists."""
    if target.exists():
        raise InputError(
            target, expected="a new file", found="one that exists", remedy="Move it or choose another name."
        )
    files, _ = find_clouds(root, target)
    found = Found()
    for number, file in enumerate(files, start=1):
        _add_values(file, found)
        report(number, len(files), file.name)
    with replacing(target) as stream:
        stream.write(_template(root, found, len(files)).encode())
    return found


def _add_values(file: Path, found: Found) -> None:
    cloud = read(file)
    if cloud.labels is None:
        raise InputError(file, expected="a cloud with labels", found="none", remedy="Name the field 'label'.")
    values, counts = np.unique(cloud.labels, return_counts=True)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        found.points[value] += count
        found.files[value] += 1
    if len(found.points) > MOST:
        remedy = "Use the field with the classes, not the one with the objects, and name it 'label'."
        raise InputError(file, expected=f"at most {MOST} different labels", found=str(len(found.points)), remedy=remedy)
    sidecar = read_sidecar(file)
    if sidecar is not None:
        found.names |= {one.value: one.name for one in sidecar.classes}
        found.ignored.add(sidecar.unlabelled)
    elif file.suffix.lower() in (".las", ".laz"):
        found.names = {value: name for value, name in LAS_NAMES.items() if value in found.points} | found.names
        found.ignored |= LAS_IGNORED
    found.ignored |= {value for value in values.tolist() if value < 0}  # means 'no label' in many data sets


def _template(root: Path, found: Found, files: int) -> str:
    ignored = sorted(found.ignored & found.points.keys())
    kept = sorted(found.points.keys() - set(ignored)) or ignored
    names = {value: found.names.get(value, f"class {value}") for value in kept}
    repeated = {name for name, count in Counter(names.values()).items() if count > 1}
    lines = [
        f"# The label values of {files} files in {root.name or root}. Give every class its name; values that",
        "# should be neither learnt nor scored belong under 'ignore'.",
        "classes:",
    ]
    for value, name in names.items():
        shown = f"{name} {value}" if name in repeated else name
        counts = f"{found.points[value]:,} points in {found.files[value]} files"
        lines.append(f"  - {{name: {_quoted(shown)}, value: {value}}}  # {counts}")
    return "\n".join([*lines, f"ignore: [{', '.join(map(str, (one for one in ignored if one not in kept)))}]", ""])


def _quoted(name: str) -> str:
    """Quote any name for YAML."""
    plain = "".join(letter for letter in name if letter.isprintable())
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
