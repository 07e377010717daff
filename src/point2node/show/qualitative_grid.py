"""The paper's qualitative figure: rooms in rows; colour, ground truth and the results of networks in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.inference.labelled import LabelledCloud
from point2node.show.colours import class_colours
from point2node.show.sheets import Sheet, legend
from point2node.show.splatting import splat, stand_at_corner
from point2node.show.stills import open_room

PIXELS = (840, 600)
BASELINE, OWN = "baseline", "Point2Node"
NO_CLASS = -1


@dataclass(frozen=True, eq=False)
class GridRow:
    """A room: its points and, under each heading, their colours (N, 3) uint8 or labels (N,), −1 for none."""

    name: str
    xyz: Array
    columns: Mapping[str, Array]


def row_of(scene: LabelledCloud, baseline: LabelledCloud | None = None) -> GridRow:
    """Make the row of a labelled scene, with the labels of another network for the same points."""
    columns: dict[str, Array] = {}
    if scene.rgb is not None:
        columns["colour of the scan"] = scene.rgb
    if scene.true_places is not None:
        columns["ground truth"] = scene.true_places
    if baseline is not None:
        same = [one.name for one in baseline.classes] == [one.name for one in scene.classes]
        if not same or len(baseline) != len(scene):
            raise InputError(
                baseline.name,
                expected=f"the points and classes of {scene.name}",
                found=f"{len(baseline):,} points for {len(scene):,}" if same else "other classes",
            )
        columns[BASELINE] = baseline.places
    return GridRow(scene.name, scene.xyz, columns | {OWN: scene.places})


def draw_grid(rows: Sequence[GridRow], classes: tuple[SemanticClass, ...], path: Path) -> None:
    """Draw the rooms, with a column for every heading that occurs; a row without it has an empty place there.

    Rooms are cut open by the first labels of their row: the ground truth's, if it comes first.
    """
    headings = list(dict.fromkeys(heading for row in rows for heading in row.columns))
    drawn = [_draw_row(row, classes) for row in rows]
    present = set().union(*(seen for _, seen in drawn))
    width = len(headings) * PIXELS[0]
    Sheet(
        [[pictures.get(heading) for heading in headings] for pictures, _ in drawn],
        headings=headings,
        names=[row.name for row in rows],
        key=legend([(one.name, one.colour) for place, one in enumerate(classes) if place in present], width),
    ).save(path)


def _draw_row(row: GridRow, classes: tuple[SemanticClass, ...]) -> tuple[dict[str, Array], set[int]]:
    """Draw a room from the same side under each heading; also returns the classes that are visible."""
    labels = next((values for values in row.columns.values() if values.ndim == 1), np.full(len(row.xyz), -1))
    values = np.array([*(one.value for one in classes), NO_CLASS], np.int32)
    unknown = np.full(len(labels), np.nan, np.float32)
    scene = LabelledCloud(PointCloud(row.xyz), values[labels], unknown, unknown, classes, "", name=row.name)
    numbers, _ = open_room(scene)
    shown = row.xyz[numbers]
    splats = splat(shown, stand_at_corner(shown), PIXELS)
    pictures: dict[str, Array] = {}
    seen: set[int] = set()
    for heading, values in row.columns.items():
        chosen = values[numbers]
        if chosen.ndim == 1:
            seen |= set(np.unique(chosen).tolist())
            chosen = class_colours(chosen, scene.palette)
        pictures[heading] = splats.paint(chosen)
    return pictures, seen
