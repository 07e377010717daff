"""The objects of a scan as files: JSON and CSV to count with, boxes as PLY and OBJ to look at, parts as clouds."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.point_cloud import PointCloud
from point2node.core.writing import replacing
from point2node.formats import write
from point2node.geometry.boxes import TRIANGLES
from point2node.show.objects import FoundObject
from point2node.show.planes import Plane
from point2node.show.scene import LabelledScene

COLUMNS = ("name", "class", "points", "confidence", "x", "y", "z", "length", "width", "height", "yaw_degrees")


def write_objects(
    folder: Path, scene: LabelledScene, objects: Sequence[FoundObject], planes: Sequence[Plane], *, parts: bool = False
) -> list[Path]:
    """Write all files of a scene's objects into a folder that is there; returns them."""
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
    """All boxes as one mesh in the colours of their classes."""
    corners = np.concatenate([one.box.corners for one in objects])
    faces = np.concatenate([TRIANGLES + 8 * number for number in range(len(objects))])
    colours = np.repeat(np.array([one.kind.colour for one in objects], np.uint8), 8, axis=0)
    return PointCloud(corners, rgb=colours, faces=faces.astype(np.int32))


def boxes_as_obj(objects: Sequence[FoundObject]) -> str:
    """All boxes as a Wavefront text, each an object with its name."""
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
    """Numbers to a tenth of a millimetre: scans know no more."""

    def short(value: Any) -> Any:
        if isinstance(value, tuple):
            return [short(part) for part in value]
        return round(value, 4) if isinstance(value, float) else value

    return {key: short(value) for key, value in values.items()}
