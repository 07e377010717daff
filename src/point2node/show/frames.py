"""What stands around a picture: figure, legend, scale, and the file that it is saved in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from point2node.core.writing import replacing
from point2node.show.ramps import RAMPS, UNKNOWN, Colour

if TYPE_CHECKING:  # matplotlib takes a second: only who draws imports it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
