"""Pictures of a labelled scene that need no browser, one for each way to colour it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from point2node.core.errors import InputError
from point2node.show.cutaway import DIRECTIONS, ceiling_cut, walls_towards
from point2node.show.frames import DOTS, add_legend, add_scale, make_figure, save
from point2node.show.ramps import RAMPS, RIGHT, UNKNOWN, WRONG, ramp
from point2node.show.scene import Array, LabelledScene
from point2node.show.splatting import splat, stand_at_corner
from point2node.show.thinning import thin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PIXELS = (1400, 900)
MOST_POINTS = 2_000_000
TITLES = {
    "class": "predicted classes",
    "truth": "true classes",
    "rgb": "colour of the scan",
    "confidence": "confidence",
    "entropy": "entropy",
    "error": "errors",
}


def write_stills(scene: LabelledScene, page: Path) -> list[Path]:
    """Write a PNG for each way in which the scene can be coloured, named after the page: ``room_class.png`` …"""
    numbers, note = open_room(scene)
    opened = scene[numbers]
    splats = splat(opened.xyz, stand_at_corner(opened.xyz), PIXELS)
    written = []
    for kind, colours in colours_of(opened).items():
        path = page.with_name(f"{page.stem}_{kind}.png")
        save(_frame(opened, kind, splats.paint(colours), note), path)
        written.append(path)
    return written


def open_room(scene: LabelledScene) -> tuple[Array, str]:
    """The numbers of the points that a still shows, without those that would hide the rest, and a note on these."""
    numbers = np.flatnonzero(scene.placed)
    if not len(numbers):
        raise InputError(scene.name, expected="points with positions", found="none")
    numbers = numbers[thin(scene.xyz[numbers], MOST_POINTS)]
    placed = scene[numbers]
    kept = np.ones(len(placed), bool)
    away = []
    cut = ceiling_cut(placed)
    if cut is not None:
        kept &= placed.xyz[:, 2] <= cut
        away.append(f"everything above {cut:.2f}")
    walls = walls_towards(placed)
    if walls is not None:
        octant = round(stand_at_corner(placed.xyz).angle / (2 * np.pi / DIRECTIONS)) % DIRECTIONS
        kept &= (walls >> octant & 1) == 0
        away.append("the walls towards the viewer")
    if not away or not kept.any():
        return numbers, ""
    return numbers[kept], f"{' and '.join(away)} cut away"


def colours_of(scene: LabelledScene) -> dict[str, Array]:
    """(N, 3) uint8 for each way in which the scene can be coloured."""
    found = {"class": class_colours(scene.labels, scene.palette)}
    if scene.rgb is not None:
        found["rgb"] = scene.rgb
    for name, values in (("confidence", scene.confidence), ("entropy", scene.entropy)):
        if values is not None:
            found[name] = ramp(name, values)
    if scene.truth is not None:
        found["truth"] = class_colours(scene.truth, scene.palette)
        known = (scene.truth >= 0) & (scene.labels >= 0)
        kinds = np.where(known, np.where(scene.truth == scene.labels, 0, 1), 2)
        found["error"] = np.array([RIGHT, WRONG, UNKNOWN], np.uint8)[kinds]
    return found


def class_colours(labels: Array, palette: Array) -> Array:
    """(N, 3) uint8: the colours of labels; those without one, −1, are grey."""
    return np.concatenate([palette, [UNKNOWN]]).astype(np.uint8)[labels]


def _frame(scene: LabelledScene, kind: str, image: Array, note: str) -> Figure:
    figure = make_figure(PIXELS[0] / DOTS, PIXELS[1] / DOTS + 0.7)
    axes = figure.subplots()
    axes.axis("off")
    axes.imshow(image)
    axes.set_title(f"{scene.name}: {TITLES[kind]}", fontsize=15, loc="left", parse_math=False)
    axes.text(0, -0.01, note, transform=axes.transAxes, fontsize=9, color="0.45", va="top")
    if kind in RAMPS:
        add_scale(figure, axes, kind)
    elif kind == "error":
        add_legend(figure, [("right", RIGHT), ("wrong", WRONG)])
    elif kind != "rgb":
        labels = scene.truth if kind == "truth" and scene.truth is not None else scene.labels
        counts = zip(scene.classes, scene.count(labels), strict=True)
        add_legend(figure, [(one.name, one.colour) for one, count in counts if count])
    return figure
