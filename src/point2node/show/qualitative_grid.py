"""The paper's qualitative figure: rooms in rows; colour, ground truth and the results of networks in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.show.colours import class_colours
from point2node.show.scene import Array, LabelledScene
from point2node.show.splatting import splat, stand_at_corner
from point2node.show.stills import add_legend, make_figure, open_room, save

PIXELS = (840, 600)
BASELINE, OWN = "baseline", "Point2Node"


@dataclass(frozen=True, eq=False)
class GridRow:
    """One room: its points and, under each heading, their colours (N, 3) uint8 or labels (N,), −1 for none."""

    name: str
    xyz: Array
    columns: Mapping[str, Array]


def row_of(scene: LabelledScene, baseline: LabelledScene | None = None) -> GridRow:
    """The row of a labelled scene, beside what another network made of the same points."""
    columns: dict[str, Array] = {}
    if scene.rgb is not None:
        columns["colour of the scan"] = scene.rgb
    if scene.truth is not None:
        columns["ground truth"] = scene.truth
    if baseline is not None:
        same = [one.name for one in baseline.classes] == [one.name for one in scene.classes]
        if not same or len(baseline) != len(scene):
            raise InputError(
                baseline.name,
                expected=f"the points and classes of {scene.name}",
                found=f"{len(baseline):,} points for {len(scene):,}" if same else "other classes",
            )
        columns[BASELINE] = baseline.labels
    return GridRow(scene.name, scene.xyz, columns | {OWN: scene.labels})


def draw_grid(rows: Sequence[GridRow], classes: tuple[SemanticClass, ...], path: Path) -> None:
    """Draw the rooms, with a column for every heading that occurs; where a row lacks one, its place stays empty.

    Rooms are cut open by the first labels of their row, which are the ground truth's if it is given first.
    """
    headings = list(dict.fromkeys(heading for row in rows for heading in row.columns))
    figure = make_figure(4.2 * len(headings), 3.1 * len(rows) + 0.3)
    axes = figure.subplots(len(rows), len(headings), squeeze=False)
    present: set[int] = set()
    for line, row in zip(axes, rows, strict=True):
        for axis in line:
            axis.axis("off")
        present |= _draw_row(row, classes, dict(zip(headings, line, strict=True)))
    for axis, heading in zip(axes[0], headings, strict=True):
        axis.set_title(heading, fontsize=13, parse_math=False)
    add_legend(figure, [(one.name, one.colour) for place, one in enumerate(classes) if place in present])
    save(figure, path)


def _draw_row(row: GridRow, classes: tuple[SemanticClass, ...], axes: Mapping[str, Any]) -> set[int]:
    """Draw one room everywhere from the same side; the classes that are seen on it."""
    labels = next((values for values in row.columns.values() if values.ndim == 1), np.full(len(row.xyz), -1))
    scene = LabelledScene(row.name, row.xyz, classes, labels)
    numbers, _ = open_room(scene)
    shown = row.xyz[numbers]
    splats = splat(shown, stand_at_corner(shown), PIXELS)
    seen: set[int] = set()
    for heading, values in row.columns.items():
        chosen = values[numbers]
        if chosen.ndim == 1:
            seen |= set(np.unique(chosen).tolist())
            chosen = class_colours(chosen, scene.palette)
        axes[heading].imshow(splats.paint(chosen))
    first = next(iter(axes.values()))
    place = {"transform": first.transAxes, "rotation": 90, "va": "center", "ha": "right"}
    first.text(-0.02, 0.5, row.name, parse_math=False, **place)
    return seen
