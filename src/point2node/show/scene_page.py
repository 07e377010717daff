"""A labelled scene as one self-contained page: the scan in 3-D, objects, plan, scores and settings."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from point2node._version import __version__
from point2node.core.errors import InputError
from point2node.core.point_cloud import Array
from point2node.core.writing import replacing
from point2node.inference.labelled import LabelledCloud
from point2node.show.colours import RAMPS, RIGHT, UNKNOWN, WRONG
from point2node.show.contents import Contents, find_contents
from point2node.show.plan_files import plan_as_svg
from point2node.show.scene_tables import score_scene, tables, tiles
from point2node.show.shown_points import ceiling_cut, spacing, spatial_order, thin, walls_towards

SHOWN = 400_000
"""More points than this are thinned for display; tables count them all."""
SCRIPTS = ("camera.js", "cloud.js", "painter.js", "boxes.js", "controls.js", "panels.js", "viewer.js")
HELP = (
    "Drag to turn, shift-drag or two fingers to move, wheel or pinch to zoom; click or tap a point to see what it is. "
    "Press a class to hide it, twice quickly to see it alone."
)
OBJECT_HELP = "Under Objects, press one in the list or in the picture to see it alone."


def write_scene_page(scene: LabelledCloud, path: Path) -> None:
    """Write the page of a scene; an existing file is replaced only at the end."""
    page = to_scene_page(scene)
    with replacing(path) as stream:
        stream.write(page.encode(errors="replace"))


def to_scene_page(scene: LabelledCloud) -> str:
    """Return the page as HTML; all text is escaped, and the page cannot load anything or run any other script."""
    placed = scene[scene.placed]
    if not len(placed):
        raise InputError(scene.name, expected="points with positions", found="none")
    drawn = placed[thin(placed.xyz, SHOWN)]
    contents = find_contents(drawn)
    order = spatial_order(drawn.xyz)
    objects = contents.number_points(len(drawn))[order] if contents is not None and contents.objects else None
    drawn = drawn[order]
    scored = score_scene(scene)
    cut = ceiling_cut(scene)
    walls = walls_towards(drawn)
    opened = [name for name, how in {"the ceiling": cut, "the walls towards you": walls}.items() if how is not None]
    payload = encode(drawn, walls, objects)
    script = "\n".join(_asset(name) for name in SCRIPTS)
    fingerprint = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_asset("scene.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{fingerprint}'",
        title=escape(f"{scene.name}, labelled by Point2Node"),
        style=_asset("scene.css"),
        name=escape(scene.name),
        subtitle=escape(_subtitle(scene)),
        tiles=tiles(scored, contents),
        remarks="\n".join(f'<p class="remark">{escape(line)}</p>' for line in scene.remarks),
        hint=escape(" ".join(_hints(scene, placed, drawn, opened, contents))),
        plan=plan_figure(contents),
        tables=tables(scene, scored, contents),
        footer=f"Made by point2node {escape(__version__)}. This page needs no network and sends nothing.",
        scene=_as_json(_description(scene, drawn, payload, cut) | {"objects": describe_objects(scene, contents)}),
        points=payload.data,
        script=script,
    )


def _asset(name: str) -> str:
    return (files("point2node.show") / "assets" / name).read_text(encoding="utf-8")


def _subtitle(scene: LabelledCloud) -> str:
    size = " × ".join(f"{side:.1f}" for side in (scene.scale or 1.0) * np.ptp(scene.xyz[scene.placed], axis=0))
    size += " m" if scene.scale is not None else ""
    used = int((scene.count(scene.places) > 0).sum())
    return f"{len(scene):,} points · {size} · {used} of {len(scene.classes)} classes found"


def _hints(
    scene: LabelledCloud,
    placed: LabelledCloud,
    drawn: LabelledCloud,
    opened: list[str],
    contents: Contents | None,
) -> list[str]:
    """Return which points are drawn, then how to move the view."""
    hints = []
    if len(drawn) < len(placed):
        hints.append(f"{len(drawn):,} of {len(scene):,} points are drawn, spread evenly; the tables count all of them.")
    if len(placed) < len(scene):
        hints.append(f"{len(scene) - len(placed):,} points have no position and cannot be drawn.")
    if opened:
        hints.append(
            f"To look into the room, it is drawn without {' and '.join(opened)} at first: see the controls above."
        )
    if contents is not None and contents.plan is None:
        hints.append("There is no plan: that needs walls, and a floor or a ceiling.")
    return [*hints, HELP, *([OBJECT_HELP] if contents is not None and contents.objects else [])]


def _description(scene: LabelledCloud, drawn: LabelledCloud, payload: Payload, cut: float | None) -> dict[str, Any]:
    """Return everything that the script needs in addition to the points."""
    counts = scene.count(scene.places)
    true = counts * 0 if scene.true_places is None else scene.count(scene.true_places)
    height = payload.step[2] * 65535
    return {
        "points": payload.points,
        "columns": payload.columns,
        "lower": payload.lower,
        "step": payload.step,
        "decimals": max(0, min(3, -math.floor(math.log10(max(payload.step) or 1e-3)))),
        "unit": " m" if scene.scale == 1 else "",
        "spacing": spacing(drawn.xyz),
        "cut": 1.0 if cut is None else min(1.0, max(0.0, (cut - payload.lower[2]) / height)),
        "classes": [
            {"name": one.name, "colour": one.colour, "count": int(counts[place]), "true": int(true[place])}
            for place, one in enumerate(scene.classes)
        ],
        "unlabelled": int((scene.places < 0).sum()),
        "ramps": {name: RAMPS[name] for name in ("confidence", "entropy")},
        "right": RIGHT,
        "wrong": WRONG,
        "unknown": UNKNOWN,
    }


def describe_objects(scene: LabelledCloud, contents: Contents | None) -> list[dict[str, Any]]:
    """Return the objects for the script: sizes in metres, corners in the coordinates of the points."""
    if contents is None:
        return []
    marks = {one.value: mark for mark, one in enumerate(scene.classes)}
    return [
        {
            "name": one.name,
            "mark": marks[one.kind.value],
            "points": len(one.points),
            "size": [round(side, 2) for side in one.box.size],
            "confidence": None if one.confidence is None else round(one.confidence, 3),
            "corners": (one.box.corners / (scene.scale or 1.0)).round(4).tolist(),
        }
        for one in contents.objects
    ]


def plan_figure(contents: Contents | None) -> str:
    """Return the plan as an embedded picture, so that its contents cannot affect the page around it."""
    if contents is None or contents.plan is None:
        return ""
    plan = contents.plan
    picture = base64.b64encode(plan_as_svg(plan).encode()).decode("ascii")
    text = f"The plan of the room: {plan.area:.1f} m², perimeter {plan.perimeter:.1f} m"
    return f'<figure id="plan"><img src="data:image/svg+xml;base64,{picture}" alt="{escape(text)}"></figure>'


def _as_json(content: Any) -> str:
    """Encode JSON for a script element: nothing in it can end the element."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


STEPS = 65535
NO_CLASS = 255
"""The class index of points without a label in the bytes of a page."""


@dataclass(frozen=True, eq=False)
class Payload:
    """The points as the page unpacks them, in columns of bytes: coordinate = lower + step · number."""

    data: str
    """Base64 of the deflated columns, each ``points`` bytes long, in the order of ``columns``."""
    columns: tuple[str, ...]
    points: int
    lower: tuple[float, ...]
    step: tuple[float, ...]


def encode(scene: LabelledCloud, walls: Array | None = None, objects: Array | None = None) -> Payload:
    """Pack a scene, with the bits of the walls that hide it from a viewer and the number of each point's object.

    All points must have positions. The low and the high bytes of a coordinate are separate columns: the high ones
    hardly change and compress well.
    """
    lower = scene.xyz.min(axis=0)
    step = np.ptp(scene.xyz, axis=0) / STEPS
    numbers = np.rint((scene.xyz - lower) / np.where(step > 0, step, 1)).astype(np.uint16)
    columns: dict[str, Array] = {}
    for axis, name in enumerate("xyz"):
        columns[f"{name} low"] = (numbers[:, axis] & 255).astype(np.uint8)
        columns[f"{name} high"] = (numbers[:, axis] >> 8).astype(np.uint8)
    columns["label"] = _bytes_of_labels(scene.places)
    if scene.true_places is not None:
        columns["truth"] = _bytes_of_labels(scene.true_places)
    if scene.rgb is not None:
        columns |= {name: scene.rgb[:, place] for place, name in enumerate(("red", "green", "blue"))}
    for name, values in scene.certainty.items():
        columns[name] = bytes_of_shares(values)
    if walls is not None:
        columns["walls"] = walls
    if objects is not None:
        columns["object low"] = (objects & 255).astype(np.uint8)
        columns["object high"] = (objects >> 8).astype(np.uint8)
    packed = zlib.compress(b"".join(np.ascontiguousarray(column).tobytes() for column in columns.values()), 9)
    data = base64.b64encode(packed).decode("ascii")
    return Payload(data, tuple(columns), len(scene), tuple(lower.tolist()), tuple(step.tolist()))


def bytes_of_shares(values: Array) -> Array:
    """Return numbers from 0 to 1 as bytes; unknown ones are 0."""
    return np.rint(255 * np.clip(np.nan_to_num(values), 0, 1)).astype(np.uint8)


def _bytes_of_labels(labels: Array) -> Array:
    return np.where(labels < 0, NO_CLASS, labels).astype(np.uint8)
