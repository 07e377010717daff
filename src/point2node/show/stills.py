"""Pictures of a labelled scene that need no browser, one for each way to colour it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from point2node.core.errors import InputError, unknown_choice
from point2node.core.writing import replacing
from point2node.show.colours import RAMPS, RIGHT, UNKNOWN, WRONG, Colour, class_colours, ramp
from point2node.show.scene import Array, LabelledScene
from point2node.show.shown_points import DIRECTIONS, ceiling_cut, thin, walls_towards
from point2node.show.splatting import Splats, splat, stand_at_corner

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    opened, splats, note = _open(scene)
    written = []
    for kind, colours in colours_of(opened).items():
        path = page.with_name(f"{page.stem}_{kind}.png")
        save(_frame(opened, kind, splats.paint(colours), note), path)
        written.append(path)
    return written


def write_still(scene: LabelledScene, path: Path, kind: str = "class") -> None:
    """Write one of them."""
    opened, splats, note = _open(scene)
    colours = colours_of(opened)
    if kind not in colours:
        raise unknown_choice("the picture", kind, colours)
    save(_frame(opened, kind, splats.paint(colours[kind]), note), path)


def _open(scene: LabelledScene) -> tuple[LabelledScene, Splats, str]:
    numbers, note = open_room(scene)
    opened = scene[numbers]
    return opened, splat(opened.xyz, stand_at_corner(opened.xyz), PIXELS), note


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


BACKGROUND = "#f4f6f8"  # not white: lamps and boards are
DOTS = 100  # per inch
MOST_NAMES, LONGEST_NAME = 40, 24  # of a legend, so that it leaves room for the picture


def make_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    FigureCanvasAgg(figure)
    return figure


def add_legend(figure: Figure, entries: Sequence[tuple[str, Colour]]) -> None:
    """Names with their colours, below everything; the figure grows by them."""
    from matplotlib.patches import Patch

    if not entries:
        return
    shown = [(_shortened(name), colour) for name, colour in entries[:MOST_NAMES]]
    if len(entries) > MOST_NAMES:
        shown.append((f"and {len(entries) - MOST_NAMES} more", UNKNOWN))
    handles = [Patch(facecolor=_shares(colour), edgecolor="0.5", linewidth=0.5) for _, colour in shown]
    widest = 0.8 + 0.09 * max(len(name) for name, _ in shown)  # inches
    columns = min(len(shown), max(1, int(figure.get_figwidth() / widest)))
    figure.set_figheight(figure.get_figheight() + 0.25 * -(-len(shown) // columns))
    unnamed = ["-"] * len(shown)
    legend = figure.legend(handles, unnamed, loc="outside lower center", ncols=columns, frameon=False, fontsize=11)
    for text, (name, _) in zip(legend.get_texts(), shown, strict=True):
        text.set_parse_math(False)  # a name is a name, with dollars and underscores in it
        text.set_text(name)


def add_scale(figure: Figure, axes: Axes, name: str) -> None:
    """The colours of a ramp from 0 to 1, below the picture."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list(name, [_shares(stop) for stop in RAMPS[name]])
    figure.colorbar(ScalarMappable(cmap=colours), ax=axes, location="bottom", shrink=0.3, aspect=35, label=name)


def save(figure: Figure, path: Path) -> None:
    """Write the figure as PNG; what is there already is replaced only at the end."""
    with replacing(path) as stream:
        figure.savefig(stream, format="png", dpi=DOTS, facecolor=BACKGROUND)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _shares(colour: Colour) -> tuple[float, float, float]:
    return colour[0] / 255, colour[1] / 255, colour[2] / 255
