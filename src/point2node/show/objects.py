"""Find the objects of a labelled scan (chairs, tables, doors …) with their boxes, and write files that list them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass
from point2node.core.point_cloud import PointCloud
from point2node.core.writing import replacing
from point2node.formats import write
from point2node.geometry.boxes import TRIANGLES, UprightBox, upright_box
from point2node.geometry.components import connected_components
from point2node.geometry.neighbours import k_nearest_neighbours
from point2node.inference.labelled import LabelledCloud
from point2node.show.planes import Plane

Numbers = NDArray[np.int64]
SURFACES = ("wall", "floor", "ceiling")
"""Classes that are planes, not objects."""
LEFT_OUT = ("clutter", "unannotated", "otherprop", "unclassified")
"""Classes with points of many different things."""

FEWEST = 5
"""The fewest points of a part that is considered."""
NEIGHBOURS_WITHIN = 2.5
"""Points within this many times the median distance are neighbours, so that sparse scans work."""
ASKED = 1000


@dataclass(frozen=True)
class ObjectRule:
    """How points of one class are grouped into objects; lengths in metres."""

    gap: float
    """Points nearer than this belong to one object."""
    longest: float
    """An object must be at least this long in one direction."""
    points: int = 40
    """An object must have at least this many points."""


DEFAULT = ObjectRule(gap=0.06, longest=0.25)
RULES = MappingProxyType(
    {
        "beam": ObjectRule(gap=0.20, longest=0.5),
        "column": ObjectRule(gap=0.10, longest=0.5),
        "window": ObjectRule(gap=0.08, longest=0.4),
        "door": ObjectRule(gap=0.10, longest=1.0),
        "table": ObjectRule(gap=0.05, longest=0.4),
        "desk": ObjectRule(gap=0.05, longest=0.4),
        "chair": ObjectRule(gap=0.05, longest=0.35),
        "sofa": ObjectRule(gap=0.08, longest=0.5),
        "bed": ObjectRule(gap=0.08, longest=0.8),
        "bookcase": ObjectRule(gap=0.06, longest=0.4),
        "board": ObjectRule(gap=0.10, longest=0.4),
    }
)
"""Chosen on true labels of eight generated rooms, which are not in the benchmark."""


@dataclass(frozen=True, eq=False)
class FoundObject:
    """One object of a scan."""

    number: int
    kind: SemanticClass
    points: Numbers
    """The indices of its points in the scan."""
    box: UprightBox
    confidence: float | None
    """The mean confidence of its points; None if the scan has none."""

    @property
    def name(self) -> str:
        """The class and the number: ``chair_03``."""
        return f"{self.kind.name.replace(' ', '_')}_{self.number:02}"


def find_objects(scene: LabelledCloud) -> list[FoundObject]:
    """Find the objects of a scene in metres, class by class, the largest first."""
    found: list[FoundObject] = []
    nearest = NEIGHBOURS_WITHIN * _spacing(scene.xyz[scene.placed])
    for place, kind in enumerate(scene.classes):
        if kind.name in (*SURFACES, *LEFT_OUT):
            continue
        rule = RULES.get(kind.name, DEFAULT)
        numbers = np.flatnonzero((scene.places == place) & scene.placed)
        number = 0
        for points, box in _split(scene.xyz[numbers], max(rule.gap, nearest)):
            if len(points) >= rule.points and max(box.size) >= rule.longest:
                number += 1
                group = numbers[points]
                sure = float(scene.confidence[group].mean())
                found.append(FoundObject(number, kind, group, box, None if math.isnan(sure) else sure))
    return found


def _split(xyz: NDArray[np.floating], gap: float) -> list[tuple[Numbers, UprightBox]]:
    """Split a cloud of one class into parts with their boxes, the largest first.

    A part above or below a larger one belongs to it: a scanner often sees the seat of a chair and its feet, but
    nothing between them.
    """
    parts = connected_components(xyz, gap)
    order = np.argsort(parts, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(parts[order])) + 1)
    groups = sorted((group for group in groups if len(group) >= FEWEST), key=lambda group: (-len(group), group[0]))
    hosts: list[tuple[list[Numbers], UprightBox]] = []
    for group in groups:
        middle = np.median(xyz[group], axis=0)
        host = next((members for members, box in hosts if box.is_over(middle)), None)
        if host is None:
            hosts.append(([group], upright_box(xyz[group])))
        else:
            host.append(group)
    joined = ((np.sort(np.concatenate(members)), len(members), box) for members, box in hosts)
    return [(points, box if count == 1 else upright_box(xyz[points])) for points, count, box in joined]


def _spacing(xyz: NDArray[np.floating]) -> float:
    """Return the median distance of points to their nearest neighbours, estimated on a sample."""
    if len(xyz) < 2:
        return 0.0
    local = torch.from_numpy((xyz - xyz.min(axis=0)).astype(np.float32))[None]
    distances, _ = k_nearest_neighbours(local[:, :: max(1, len(xyz) // ASKED)], local, 2)
    return float(distances[0, :, 1].median())


@dataclass(frozen=True)
class Match:
    """How the objects of one class compare with the true ones, at an IoU of their points of 0.5."""

    true: int
    found: int
    both: int

    @property
    def precision(self) -> float:
        """The share of the found objects that are true; NaN without any."""
        return self.both / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        """The share of the true objects that were found; NaN without any."""
        return self.both / self.true if self.true else float("nan")


def match_objects(
    objects: Sequence[FoundObject], classes: Sequence[SemanticClass], true_labels: Numbers, instances: Numbers
) -> dict[str, Match]:
    """Compare found objects with true ones, by class; ``true_labels`` are indices into ``classes``, −1 for none.

    A true object counts if it has the number of points that the rule of its class requires. Above an IoU of 0.5, an
    object has at most one match.
    """
    result = {}
    for place, kind in enumerate(classes):
        if kind.name in (*SURFACES, *LEFT_OUT):
            continue
        fewest = RULES.get(kind.name, DEFAULT).points
        here = true_labels == place
        numbers, counts = np.unique(instances[here], return_counts=True)
        size_of = {int(n): int(c) for n, c in zip(numbers, counts, strict=True) if c >= fewest}
        of_class = [one for one in objects if one.kind.value == kind.value]
        both = 0
        for one in of_class:
            inside, shared = np.unique(instances[one.points][here[one.points]], return_counts=True)
            both += any(
                2 * common > len(one.points) + size_of[int(n)] - common
                for n, common in zip(inside, shared.tolist(), strict=True)
                if int(n) in size_of
            )
        result[kind.name] = Match(len(size_of), len(of_class), both)
    return result


COLUMNS = ("name", "class", "points", "confidence", "x", "y", "z", "length", "width", "height", "yaw_degrees")


def write_objects(
    folder: Path, scene: LabelledCloud, objects: Sequence[FoundObject], planes: Sequence[Plane], *, parts: bool = False
) -> list[Path]:
    """Write all files of a scene's objects into an existing folder; returns their paths."""
    rows = [_row(one) for one in objects]
    note = {
        "format": 1,
        "scan": scene.name,
        "unit": "metre",
        "counts": dict(Counter(one.kind.name for one in objects)),
        "objects": rows,
        "planes": [_rounded(asdict(plane)) for plane in planes],
    }
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    texts = {
        "objects.json": json.dumps(note, indent=1, ensure_ascii=False) + "\n",
        "objects.csv": table.getvalue(),
        "boxes.obj": boxes_as_obj(objects),
    }
    written = []
    for name, text in texts.items():
        with replacing(folder / name) as stream:
            stream.write(text.encode())
        written.append(folder / name)
    if objects:
        write(folder / "boxes.ply", boxes_as_mesh(objects))
        written.append(folder / "boxes.ply")
    if parts:
        for one in objects:
            rgb = None if scene.rgb is None else scene.rgb[one.points]
            labels = np.full(len(one.points), one.kind.value, np.int32)
            write(folder / f"{one.name}.ply", PointCloud(scene.xyz[one.points], rgb=rgb, labels=labels))
            written.append(folder / f"{one.name}.ply")
    return written


def boxes_as_mesh(objects: Sequence[FoundObject]) -> PointCloud:
    """Return all boxes as one mesh in the colours of their classes."""
    corners = np.concatenate([one.box.corners for one in objects])
    faces = np.concatenate([TRIANGLES + 8 * number for number in range(len(objects))])
    colours = np.repeat(np.array([one.kind.colour for one in objects], np.uint8), 8, axis=0)
    return PointCloud(corners, rgb=colours, faces=faces.astype(np.int32))


def boxes_as_obj(objects: Sequence[FoundObject]) -> str:
    """Return all boxes as Wavefront OBJ text, each as a named object."""
    lines = ["# boxes of objects, in metres"]
    for number, one in enumerate(objects):
        lines.append(f"o {one.name}")
        lines += [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in one.box.corners]
        lines += ["f " + " ".join(str(corner + 1 + 8 * number) for corner in face) for face in TRIANGLES]
    return "\n".join(lines) + "\n"


def _row(one: FoundObject) -> dict[str, Any]:
    values = (
        one.name,
        one.kind.name,
        len(one.points),
        one.confidence,
        *one.box.centre,
        *one.box.size,
        math.degrees(one.box.yaw),
    )
    return _rounded(dict(zip(COLUMNS, values, strict=True)))


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Round numbers to a tenth of a millimetre: scans are not more precise."""

    def short(value: Any) -> Any:
        if isinstance(value, tuple):
            return [short(part) for part in value]
        return round(value, 4) if isinstance(value, float) else value

    return {key: short(value) for key, value in values.items()}
