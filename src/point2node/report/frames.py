"""What stands around a picture: figure, legend, scale, and the file that it is saved in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from point2node.data.files.replacing import replacing
from point2node.report.ramps import RAMPS, Colour

if TYPE_CHECKING:  # matplotlib takes a second: only who draws imports it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BACKGROUND = "#f4f6f8"  # not white: lamps and boards are
DOTS = 100  # per inch


def make_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    FigureCanvasAgg(figure)
    return figure


def add_legend(figure: Figure, entries: Sequence[tuple[str, Colour]]) -> None:
    """Names with their colours, below everything."""
    from matplotlib.patches import Patch

    if not entries:
        return
    handles = [Patch(facecolor=_shares(colour), edgecolor="0.5", linewidth=0.5) for _, colour in entries]
    columns = min(len(entries), max(2, int(figure.get_figwidth() / 1.3)))
    legend = figure.legend(
        handles, ["-"] * len(entries), loc="outside lower center", ncols=columns, frameon=False, fontsize=11
    )
    for text, (name, _) in zip(legend.get_texts(), entries, strict=True):
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


def _shares(colour: Colour) -> tuple[float, float, float]:
    return colour[0] / 255, colour[1] / 255, colour[2] / 255
