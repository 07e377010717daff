"""Pictures of a labelled scene as PNG files, one for each way to colour it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL.Image import Image

from point2node.core.errors import InputError, unknown_choice
from point2node.core.point_cloud import Array
from point2node.inference.labelled import LabelledCloud
from point2node.show.colours import RAMPS, RIGHT, UNKNOWN, WRONG, class_colours, ramp
from point2node.show.sheets import Sheet, legend, scale
from point2node.show.shown_points import DIRECTIONS, ceiling_cut, thin, walls_towards
from point2node.show.splatting import Splats, splat, stand_at_corner

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


def write_stills(scene: LabelledCloud, page: Path) -> list[Path]:
    """Write a PNG for each way to colour the scene, named after the page: ``room_class.png`` …"""
    opened, splats, note = _open(scene)
    written = []
    for kind, colours in colours_of(opened).items():
        path = page.with_name(f"{page.stem}_{kind}.png")
        _sheet(opened, kind, splats.paint(colours), note).save(path)
        written.append(path)
    return written


def write_still(scene: LabelledCloud, path: Path, kind: str = "class") -> None:
    """Write the PNG for one way to colour the scene."""
    opened, splats, note = _open(scene)
    colours = colours_of(opened)
    if kind not in colours:
        raise unknown_choice("the picture", kind, colours)
    _sheet(opened, kind, splats.paint(colours[kind]), note).save(path)


def _open(scene: LabelledCloud) -> tuple[LabelledCloud, Splats, str]:
    numbers, note = open_room(scene)
    opened = scene[numbers]
    return opened, splat(opened.xyz, stand_at_corner(opened.xyz), PIXELS), note


def open_room(scene: LabelledCloud) -> tuple[Array, str]:
    """Return the indices of the points in a still, without those that would hide the rest, and a note about these."""
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


def colours_of(scene: LabelledCloud) -> dict[str, Array]:
    """Return the colours (N, 3) uint8 for each way to colour the scene."""
    found = {"class": class_colours(scene.places, scene.palette)}
    if scene.rgb is not None:
        found["rgb"] = scene.rgb
    for name, values in scene.certainty.items():
        found[name] = ramp(name, values)
    if scene.true_places is not None:
        found["truth"] = class_colours(scene.true_places, scene.palette)
        known = (scene.true_places >= 0) & (scene.places >= 0)
        kinds = np.where(known, np.where(scene.true_places == scene.places, 0, 1), 2)
        found["error"] = np.array([RIGHT, WRONG, UNKNOWN], np.uint8)[kinds]
    return found


def _sheet(scene: LabelledCloud, kind: str, image: Array, note: str) -> Sheet:
    return Sheet([[image]], title=f"{scene.name}: {TITLES[kind]}", note=note, key=_key(scene, kind))


def _key(scene: LabelledCloud, kind: str) -> Image | None:
    """Draw the legend or the scale of a still."""
    if kind in RAMPS:
        return scale(kind, PIXELS[0])
    if kind == "error":
        return legend([("right", RIGHT), ("wrong", WRONG)], PIXELS[0])
    if kind == "rgb":
        return None
    labels = scene.true_places if kind == "truth" and scene.true_places is not None else scene.places
    counts = zip(scene.classes, scene.count(labels), strict=True)
    return legend([(one.name, one.colour) for one, count in counts if count], PIXELS[0])
