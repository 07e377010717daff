"""A labelled scene as one page that needs nothing else: the scan in 3-D, objects, plan, scores and settings."""

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
from point2node.core.writing import replacing
from point2node.show.colours import RAMPS, RIGHT, UNKNOWN, WRONG, css_colour
from point2node.show.contents import Contents, find_contents
from point2node.show.plan_files import plan_as_svg
from point2node.show.scene import UNLABELLED, Array, LabelledScene, SceneScores, score_scene
from point2node.show.shown_points import ceiling_cut, spacing, spatial_order, thin, walls_towards

SHOWN = 400_000
"""More points than this are thinned for display; tables count them all."""
SCRIPTS = ("camera.js", "cloud.js", "painter.js", "boxes.js", "controls.js", "panels.js", "viewer.js")
HELP = (
    "Drag to turn, shift-drag or two fingers to move, wheel or pinch to zoom; click or tap a point to see what it is. "
    "Press a class to hide it, twice quickly to see it alone."
)
OBJECT_HELP = "Under Objects, press one in the list or in the picture to see it alone."


def write_scene_page(scene: LabelledScene, path: Path) -> None:
    """Write the page of a scene; what is there already is replaced only at the end."""
    page = to_scene_page(scene)
    with replacing(path) as stream:
        stream.write(page.encode(errors="replace"))


def to_scene_page(scene: LabelledScene) -> str:
    """The page as HTML; every text is escaped, and the page may load nothing and run nothing but its own script."""
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


def _subtitle(scene: LabelledScene) -> str:
    size = " × ".join(f"{side:.1f}" for side in (scene.scale or 1.0) * np.ptp(scene.xyz[scene.placed], axis=0))
    size += " m" if scene.scale is not None else ""
    used = int((scene.count(scene.labels) > 0).sum())
    return f"{len(scene):,} points · {size} · {used} of {len(scene.classes)} classes found"


def _hints(
    scene: LabelledScene,
    placed: LabelledScene,
    drawn: LabelledScene,
    opened: list[str],
    contents: Contents | None,
) -> list[str]:
    """What is drawn and what is not, then how to look around."""
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


def _description(scene: LabelledScene, drawn: LabelledScene, payload: Payload, cut: float | None) -> dict[str, Any]:
    """What the script has to know beside the points."""
    counts = scene.count(scene.labels)
    true = counts * 0 if scene.truth is None else scene.count(scene.truth)
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
        "unlabelled": int((scene.labels < 0).sum()),
        "ramps": {name: RAMPS[name] for name in ("confidence", "entropy")},
        "right": RIGHT,
        "wrong": WRONG,
        "unknown": UNKNOWN,
    }


def describe_objects(scene: LabelledScene, contents: Contents | None) -> list[dict[str, Any]]:
    """The objects as the script takes them: sizes in metres, corners in the coordinates of the points."""
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
    """The plan as a picture in itself: nothing that it says can reach the page around it."""
    if contents is None or contents.plan is None:
        return ""
    plan = contents.plan
    picture = base64.b64encode(plan_as_svg(plan).encode()).decode("ascii")
    told = f"The plan of the room: {plan.area:.1f} m², perimeter {plan.perimeter:.1f} m"
    return f'<figure id="plan"><img src="data:image/svg+xml;base64,{picture}" alt="{escape(told)}"></figure>'


def _as_json(content: Any) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


STEPS = 65535


@dataclass(frozen=True, eq=False)
class Payload:
    """What the page unpacks: coordinate = lower + step · number, each column of bytes by itself."""

    data: str
    """Base64 of the deflated columns, each ``points`` bytes long, in the order of ``columns``."""
    columns: tuple[str, ...]
    points: int
    lower: tuple[float, ...]
    step: tuple[float, ...]


def encode(scene: LabelledScene, walls: Array | None = None, objects: Array | None = None) -> Payload:
    """Pack a scene whose points all have positions, with the bits of the walls that hide it from a viewer and the
    number of each point's object.

    The low and the high bytes of a coordinate are columns of their own: the high ones hardly change and deflate well.
    """
    lower = scene.xyz.min(axis=0)
    step = np.ptp(scene.xyz, axis=0) / STEPS
    numbers = np.rint((scene.xyz - lower) / np.where(step > 0, step, 1)).astype(np.uint16)
    columns: dict[str, Array] = {}
    for axis, name in enumerate("xyz"):
        columns[f"{name} low"] = (numbers[:, axis] & 255).astype(np.uint8)
        columns[f"{name} high"] = (numbers[:, axis] >> 8).astype(np.uint8)
    columns["label"] = _bytes_of_labels(scene.labels)
    if scene.truth is not None:
        columns["truth"] = _bytes_of_labels(scene.truth)
    if scene.rgb is not None:
        columns |= {name: scene.rgb[:, place] for place, name in enumerate(("red", "green", "blue"))}
    for name, values in (("confidence", scene.confidence), ("entropy", scene.entropy)):
        if values is not None:
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
    """Numbers from 0 to 1 as bytes; what is not known is 0."""
    return np.rint(255 * np.clip(np.nan_to_num(values), 0, 1)).astype(np.uint8)


def _bytes_of_labels(labels: Array) -> Array:
    return np.where(labels < 0, UNLABELLED, labels).astype(np.uint8)


NOTHING = "–"
"""Instead of a score that there is none of."""


def tiles(scored: SceneScores | None, contents: Contents | None = None) -> str:
    """What a visitor sees first: the measures of the room, and the three overall scores if the truth is known."""
    shown = []
    if contents is not None and contents.plan is not None:
        shown.append(("area", f"{contents.plan.area:.1f} m²"))
        shown += [("height", f"{contents.plan.height:.2f} m")] if contents.plan.height is not None else []
    if contents is not None and contents.objects:
        shown.append(("objects", str(len(contents.objects))))
    inner = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in shown)
    groups = [f'<dl class="tiles" aria-label="The room">{inner}</dl>'] if shown else []
    if scored is not None:
        scores = (("OA", scored.scores.oa), ("mAcc", scored.scores.macc), ("mIoU", scored.scores.miou))
        inner = "".join(f"<div><dt>{name}</dt><dd>{_percent(value)}</dd></div>" for name, value in scores)
        groups.append(f'<dl class="tiles" aria-label="Scores in per cent">{inner}</dl>')
    return f'<div class="all-tiles">{"".join(groups)}</div>' if groups else ""


def tables(scene: LabelledScene, scored: SceneScores | None, contents: Contents | None = None) -> str:
    """All tables, below the viewer."""
    parts = [_class_table(scene, scored)]
    if contents is not None and (contents.objects or contents.surfaces):
        parts.append(_contents_table(contents))
    if scored is not None:
        parts.append(_confusion_table(scene, scored))
    if scene.notes:
        lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in scene.notes.items())
        parts.append(f'<section>\n<h2>Protocol and settings</h2>\n<dl class="facts">{lines}</dl>\n</section>')
    return '<div class="tables">\n' + "\n".join(parts) + "\n</div>"


def _contents_table(contents: Contents) -> str:
    """How many objects of each class there are, how large they usually are, and the areas of the surfaces."""
    rows = []
    for name in dict.fromkeys(one.kind.name for one in contents.objects):
        same = [one for one in contents.objects if one.kind.name == name]
        sides = np.median([one.box.size for one in same], axis=0)
        size = " × ".join(f"{side:.2f}" for side in sides) + " m"
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{len(same)}</td><td>{size}</td></tr>')
    for kind, (number, area) in contents.areas.items():
        rows.append(f'<tr><th scope="row">{kind}</th><td>{number}</td><td>{area:.1f} m²</td></tr>')
    head = "".join(f'<th scope="col">{heading}</th>' for heading in ("in this room", "number", "size"))
    return (
        '<section>\n<h2>Objects and surfaces</h2>\n<div class="scroll" tabindex="0"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(rows) + "\n</tbody>\n</table></div>\n"
        '<p class="note">Found from the labels above, with their mistakes. Sizes of objects are the usual length, '
        "width and height of a class; areas of surfaces are what the scanner saw of them.</p>\n</section>"
    )


def _class_table(scene: LabelledScene, scored: SceneScores | None) -> str:
    counts = scene.count(scene.labels)
    true = None if scene.truth is None else scene.count(scene.truth)
    labelled = max(1, int(counts.sum()))
    headings = ["class", *(["IoU", "accuracy"] if scored else []), "points", "share"]
    headings += ["true points"] if true is not None else []
    rows = []
    for place, one in enumerate(scene.classes):
        cells = []
        if scored:
            cells += [_bar(scored.scores.iou[str(place)]), _percent(scored.scores.accuracy[str(place)])]
        cells += [f"{counts[place]:,}", f"{100 * counts[place] / labelled:.1f} %"]
        if true is not None:
            cells.append(f"{true[place]:,}")
        absent = "" if counts[place] or (true is not None and true[place]) else ' class="absent"'
        swatch = f'<span class="swatch" style="--colour: {css_colour(one.colour)}"></span>'
        inner = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f'<tr{absent}><th scope="row">{swatch} {escape(one.name)}</th>{inner}</tr>')
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    return (
        "<section>\n<h2>Classes</h2>\n"
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n'
        "<tbody>\n" + "\n".join(rows) + "\n</tbody>\n</table></div>\n" + _class_note(scene, scored) + "\n</section>"
    )


def _class_note(scene: LabelledScene, scored: SceneScores | None) -> str:
    lines = []
    missing = int((scene.labels < 0).sum())
    if missing:
        lines.append(f"{missing:,} of {len(scene):,} points have no label.")
    if scored is not None:
        lines.append(
            f"Scores in per cent, over the {scored.scored:,} points that have both a label and a truth. "
            f"{NOTHING}: the truth has no such class; it counts in no mean."
        )
    return f'<p class="note">{escape(" ".join(lines))}</p>' if lines else ""


def _confusion_table(scene: LabelledScene, scored: SceneScores) -> str:
    """Of each true class, what its points were taken for; classes that occur nowhere are left out."""
    confusion = scored.confusion
    true = [n for n in range(len(scene.classes)) if confusion[n].any()]
    there = [n for n in range(len(scene.classes)) if n in true or confusion[:, n].any()]
    names = [escape(one.name) for one in scene.classes]
    head = "".join(f'<th scope="col"><span>{names[column]}</span></th>' for column in there)
    rows = []
    for row in true:
        total = int(confusion[row].sum())
        cells = []
        for column in there:
            count = int(confusion[row, column])
            share = count / total
            told = f"{names[row]} taken for {names[column]}" if row != column else f"{names[row]} found"
            title = f"{told}: {count:,} of {total:,} points ({100 * share:.1f} %)"
            shown = f"{100 * share:.0f}" if share >= 0.005 else ""
            kind = ' class="right"' if row == column else ""
            cells.append(f'<td{kind} style="--share: {share:.3f}" tabindex="-1" title="{title}">{shown}</td>')
        rows.append(f'<tr><th scope="row">{names[row]}</th>{"".join(cells)}</tr>')
    return (
        '<section>\n<h2>Confusion matrix</h2>\n<div class="scroll" tabindex="0"><table class="matrix">\n'
        f'<thead><tr><th scope="col">true ↓ predicted →</th>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + '\n</tbody>\n</table></div>\n<output id="told-cell" class="quiet">Per cent of each true class (row). '
        "Point at a cell for its numbers.</output>\n</section>"
    )


def _bar(share: float) -> str:
    if math.isnan(share):
        return NOTHING
    return f'<span class="bar" style="--share: {share:.3f}"></span>{_percent(share)}'


def _percent(share: float) -> str:
    return NOTHING if math.isnan(share) else f"{100 * share:.1f}"
