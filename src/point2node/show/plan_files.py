"""Files of floor plans: SVG to view and print to scale, DXF for CAD, JSON for further computation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from html import escape
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.writing import replacing
from point2node.show.floor_plan import FloorPlan, PlanWall

Floats = NDArray[np.float64]
SCALES = (50, 100, 200, 500, 1000)
LARGEST = 360.0
"""The largest side of a drawing in millimetres, to fit on A3."""
MARGIN, LEGEND = 22.0, 58.0
"""Millimetres around the drawing, and next to it for the legend."""
LABEL_GAP = 3.5
"""Millimetres between a line and its length."""
SHORTEST_DIMENSION = 0.6
"""Metres: shorter sides have no space for a length."""
LAYERS = MappingProxyType(
    {"OUTLINE": 7, "WALLS": 8, "WALLS_ASSUMED": 9, "DOORS": 30, "WINDOWS": 150, "FURNITURE": 3, "TEXT": 7}
)
"""The layers of the DXF and their colours."""


def write_plan(plan: FloorPlan, path: Path) -> None:
    """Write a plan in the format of the suffix."""
    text = WRITERS[path.suffix.lower()](plan)
    with replacing(path) as stream:
        stream.write(text.encode())


def plan_as_json(plan: FloorPlan) -> str:
    """Return the plan as JSON, in metres and in the coordinates of the scan."""
    note = {
        "format": 1,
        "scan": plan.name,
        "unit": "metre",
        "area": plan.area,
        "perimeter": plan.perimeter,
        "height": plan.height,
        "outline": plan.outline.tolist(),
        "walls": [
            {"start": one.plane.start, "end": one.plane.end, "length": one.plane.length, "thickness": one.thickness}
            | {"thickness_is_measured": one.is_measured}
            for one in plan.walls
        ],
        "openings": [asdict(one) | {"width": one.width} for one in plan.openings],
        "furniture": [
            {"name": one.name, "class": one.kind.name, "corners": one.box.corners[:4, :2].tolist()}
            for one in plan.furniture
        ],
    }
    return json.dumps(note, indent=1, ensure_ascii=False) + "\n"


def plan_as_dxf(plan: FloorPlan) -> str:
    """Return the plan as DXF in metres and in the coordinates of the scan, with a layer for each kind of object."""
    try:
        ezdxf: Any = import_module("ezdxf")
    except ModuleNotFoundError as error:
        raise InputError(
            "--out",
            expected="the library ezdxf for .dxf files",
            found="none",
            remedy="Run: pip install 'point2node[plan]'",
        ) from error
    drawing = ezdxf.new("R2010", setup=True)
    drawing.header["$INSUNITS"] = 6  # metres
    for name, colour in LAYERS.items():
        drawing.layers.add(name, color=colour)
    space = drawing.modelspace()

    def closed(points: Floats, layer: str) -> None:
        space.add_lwpolyline(points.tolist(), close=True, dxfattribs={"layer": layer})

    def write(text: str, place: Floats, layer: str, height: float = 0.12) -> None:
        space.add_text(text, height=height, dxfattribs={"layer": layer, "insert": tuple(place.tolist())})

    closed(plan.outline, "OUTLINE")
    for wall in plan.walls:
        closed(wall.corners, "WALLS" if wall.is_measured else "WALLS_ASSUMED")
    for one in plan.openings:
        layer = f"{one.kind.upper()}S"
        closed(_opening_corners(plan.walls[one.wall], one.start, one.end), layer)
        write(f"{one.width:.2f} x {one.height:.2f}", (np.array(one.start) + one.end) / 2, layer)
        for leaf in one.leaves:
            space.add_line(leaf.hinge, leaf.tip, dxfattribs={"layer": layer})
            space.add_lwpolyline(leaf.arc.tolist(), dxfattribs={"layer": layer})
    for piece in plan.furniture:
        closed(piece.box.corners[:4, :2], "FURNITURE")
        write(piece.name, np.array(piece.box.centre[:2]), "FURNITURE", 0.08)
    low = plan.outline.min(axis=0)
    for row, line in enumerate(_facts(plan)):
        write(line, low - np.array([0.0, 0.8 + 0.25 * row]), "TEXT", 0.18)
    stream = StringIO()
    drawing.write(stream)
    return stream.getvalue()


def plan_as_svg(plan: FloorPlan) -> str:
    """Return the plan as SVG to scale, turned so that its longest wall is horizontal, with lengths and a legend."""
    longest = max(plan.walls, key=lambda wall: wall.plane.length).plane
    angle = math.atan2(longest.end[1] - longest.start[1], longest.end[0] - longest.start[0])
    angle -= math.pi * round(angle / math.pi)
    cos, sin = math.cos(angle), math.sin(angle)
    turned = np.array([[cos, -sin], [sin, cos]])
    every = np.concatenate([plan.outline, *(wall.corners for wall in plan.walls)]) @ turned
    low, high = every.min(axis=0), every.max(axis=0)
    scale = next((scale for scale in SCALES if max(high - low) * 1000 / scale <= LARGEST), SCALES[-1])
    factor = 1000 / scale  # millimetres on paper for a metre

    def on_paper(xy: Any) -> Floats:
        place = (np.asarray(xy, np.float64).reshape(-1, 2) @ turned - low) * factor
        return np.stack([MARGIN + place[:, 0], MARGIN + (high - low)[1] * factor - place[:, 1]], axis=1)

    parts = [_polygon(on_paper(plan.outline), "room")]
    for wall in plan.walls:
        parts.append(_polygon(on_paper(wall.corners), "wall" if wall.is_measured else "wall assumed"))
    for piece in plan.furniture:
        corners = on_paper(piece.box.corners[:4, :2])
        style = f'style="fill:rgb{piece.kind.colour};stroke:rgb{piece.kind.colour}"'
        parts.append(f"<g {style}>{_polygon(corners, 'piece')}<title>{_text(piece.name)}</title></g>")
    for one in plan.openings:
        corners = on_paper(_opening_corners(plan.walls[one.wall], one.start, one.end))
        parts.append(_polygon(corners, one.kind))
        for leaf in one.leaves:
            parts.append(_line(on_paper([leaf.hinge, leaf.tip]), "leaf") + _line(on_paper(leaf.arc), "swing"))
        outside = corners[2:].mean(axis=0) - corners[:2].mean(axis=0)
        place = corners[2:].mean(axis=0) + LABEL_GAP * outside / np.linalg.norm(outside)
        parts.append(_label(place, corners[:2], f"{one.width:.2f} m"))
    for start, end in zip(plan.outline, np.roll(plan.outline, -1, axis=0), strict=True):
        length = float(np.linalg.norm(end - start))
        if length >= SHORTEST_DIMENSION:
            side = on_paper([start, end])
            inwards = np.array([side[1, 1] - side[0, 1], side[0, 0] - side[1, 0]]) / (length * factor)
            parts.append(_label(side.mean(axis=0) + LABEL_GAP * inwards, side, f"{length:.2f} m"))
    width, height = (high - low) * factor + 2 * MARGIN
    legend = _legend(plan, scale, factor, float(width), MARGIN)
    total = width + LEGEND, max(height, MARGIN + 12 + 6.5 * legend.count("</text>"))
    return SVG.format(width=total[0], height=total[1], body="\n".join(parts) + "\n" + legend)


def _opening_corners(wall: PlanWall, start: tuple[float, float], end: tuple[float, float]) -> Floats:
    back = -wall.thickness * np.array(wall.plane.normal[:2])
    return np.stack([np.array(start), np.array(end), np.array(end) + back, np.array(start) + back])


def _facts(plan: FloorPlan) -> list[str]:
    height = "not known" if plan.height is None else f"{plan.height:.2f} m"
    return [plan.name, f"Area {plan.area:.2f} m²", f"Perimeter {plan.perimeter:.2f} m", f"Height {height}"]


def _text(name: str) -> str:
    """Escape a name for XML, and replace control characters, which XML does not allow even when escaped."""
    return escape("".join(letter if letter.isprintable() else " " for letter in name))


def _polygon(points: Floats, kind: str) -> str:
    places = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return f'<polygon class="{kind}" points="{places}"/>'


def _line(points: Floats, kind: str) -> str:
    places = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return f'<polyline class="{kind}" points="{places}"/>'


def _label(place: Floats, side: Floats, text: str) -> str:
    """Return a text at a place along a side, never upside down."""
    (x0, y0), (x1, y1) = side
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    if angle > 90.5 or angle <= -89.5:
        angle += 180
    x, y = place
    return f'<text class="length" transform="translate({x:.2f} {y:.2f}) rotate({angle:.1f})">{_text(text)}</text>'


def _legend(plan: FloorPlan, scale: int, factor: float, left: float, top: float) -> str:
    """Return the facts, a scale bar, and the meaning of the colours."""
    title, *facts = _facts(plan)
    lines = [f'<text class="title" x="{left}" y="{top + 2}">{_text(title)}</text>']
    lines += [f'<text class="fact" x="{left}" y="{top + 9 + 5 * row}">{fact}</text>' for row, fact in enumerate(facts)]
    y = top + 30
    lines.append(f'<path class="bar" d="M{left} {y - 2}v2h{factor:.2f}v-2"/>')
    lines.append(f'<text class="fact" x="{left}" y="{y + 5}">1 m, scale 1:{scale}</text>')
    y += 13
    shown: list[tuple[str, str]] = []
    if any(wall.is_measured for wall in plan.walls):
        shown.append(('class="wall"', "wall, thickness seen"))
    if not all(wall.is_measured for wall in plan.walls):
        shown.append(('class="wall assumed"', "wall, one side seen"))
    shown += [(f'class="{kind}"', kind) for kind in ("door", "window") if kind in {one.kind for one in plan.openings}]
    kinds = {piece.kind.name: piece.kind for piece in plan.furniture}
    shown += [(f'class="piece" style="fill:rgb{k.colour};stroke:rgb{k.colour}"', name) for name, k in kinds.items()]
    for row, (style, name) in enumerate(shown):
        at = y + 6.5 * row
        lines.append(f'<rect {style} x="{left}" y="{at - 3.2}" width="6" height="4"/>')
        lines.append(f'<text class="fact" x="{left + 9}" y="{at}">{_text(name)}</text>')
    return "\n".join(lines)


SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width:.1f}mm" height="{height:.1f}mm" \
viewBox="0 0 {width:.1f} {height:.1f}">
<style>
svg {{ background: #fff; font-family: "Helvetica Neue", Arial, sans-serif }}
polygon, rect {{ stroke-width: .25; stroke-linejoin: round }}
.room {{ fill: #faf9f5; stroke: #222; stroke-width: .5 }}
.wall {{ fill: #3a3a3a; stroke: #222 }}
.assumed {{ fill: #cfcfcf; stroke: #8a8a8a; stroke-dasharray: 1 .6 }}
.piece {{ fill-opacity: .22; stroke-width: .35 }}
polygon.door, rect.door {{ fill: #fff; stroke: #b5562b; stroke-width: .5 }}
polygon.window, rect.window {{ fill: #d6ecfa; stroke: #2a7ab0; stroke-width: .5 }}
polyline {{ fill: none; stroke: #b5562b }}
.leaf {{ stroke-width: .7 }}
.swing {{ stroke-width: .25; stroke-dasharray: .8 .6 }}
text {{ font-size: 2.8px; fill: #333; text-anchor: middle; dominant-baseline: middle }}
text.fact, text.title {{ font-size: 3.4px; text-anchor: start; dominant-baseline: auto }}
text.title {{ font-size: 4.6px; font-weight: 600 }}
text.length {{ fill: #555 }}
.bar {{ fill: none; stroke: #222; stroke-width: .4 }}
</style>
<rect width="100%" height="100%" fill="#fff"/>
{body}
</svg>
"""

WRITERS: MappingProxyType[str, Callable[[FloorPlan], str]] = MappingProxyType(
    {".svg": plan_as_svg, ".dxf": plan_as_dxf, ".json": plan_as_json}
)
