"""An explanation as shapes in space (plain arrays), and as text and charts for a side panel (HTML).

Names from weights files are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass
from point2node.inference.explainer import PointExplanation
from point2node.show.colours import RAMPS, css_colour, ramp
from point2node.show.viewer.colouring import Colours, row_shares
from point2node.show.viewer.scan import Floats, Scan

MOST_CLASSES = 5
STRONGEST = 3
COLLAPSED, EVEN = 0.2, 0.98
"""Shares of the maximum entropy below and above which a correlation carries little information."""
BAR, DIM = "#4263eb", "#adb5bd"
BRANCHES = {"nodes": DIM, "local": "#f76707", "non_local": "#7048e8"}
WIDTH, HEIGHT = 300, 54


def explanation_html(
    explanation: PointExplanation,
    shapes: ExplanationShapes,
    classes: tuple[SemanticClass, ...],
    label: str,
    confidence: float,
    side: float,
) -> str:
    """Return the contents of the panel for a point that is labelled ``label``."""
    row = explanation.non_local
    sections = (
        f"<p style='margin:0 0 6px'>Point {explanation.point:,} is labelled <b>{escape(label)}</b>, with a mean "
        f"probability of {confidence:.2f} over all the passes that saw it.</p>",
        _heading("One pass on the block around it"),
        _probabilities(explanation.probabilities, classes),
        _heading("Where it looks: non-local correlation"),
        _scale("row", f"{shapes.lowest:.2g}", f"{shapes.highest:.2g}"),
        _note(
            f"The painted points are its row of the non-local matrix: how much each of the {len(row):,} points that "
            f"the network saw in this pass counts in the update of this one. It is correlated only within its block of "
            f"{side:g} m × {side:g} m, which is outlined. The weights sum to 1; evenly shared, each would be "
            f"{1 / len(row):.2g}. The strongest {_strongest_share(row):.0%} of the points hold half of them; the "
            f"entropy of the row is {_entropy(explanation.non_local_entropy)}. "
            "Points above the cut are not painted."
        ),
        _heading("Its local graph"),
        _scale("graph", "0", f"{explanation.edges.max():.2g}"),
        _note(
            f"The lines lead to its {len(set(explanation.neighbours.tolist()) - {explanation.point})} neighbours, in "
            f"the colour of their weight; its weight for itself is {_own_weight(explanation):.2g}. The entropy of the "
            f"graph's rows is {_entropy(explanation.local_entropy)}."
        ),
        _heading("Its channels: self correlation"),
        _channels(explanation.channel_weights),
        _heading("What it keeps and what it takes over: gates"),
        *(_gate(branches, shares) for branches, shares in explanation.gates),
        _note(
            "These are the network's own numbers of this one pass. The label is the mean of several passes in other "
            "surroundings, so the two may differ."
        ),
    )
    return f"<div style='padding:4px 10px 10px;font-size:13px;line-height:1.4'>{''.join(sections)}</div>"


def _heading(text: str) -> str:
    return f"<div style='font-weight:600;margin:10px 0 4px'>{escape(text)}</div>"


def _note(text: str) -> str:
    return f"<p style='margin:4px 0;opacity:.8;font-size:12px'>{escape(text)}</p>"


def _probabilities(probabilities: Floats, classes: tuple[SemanticClass, ...]) -> str:
    rows = []
    for number in np.argsort(-probabilities, kind="stable")[:MOST_CLASSES]:
        one, share = classes[int(number)], float(probabilities[number])
        rows.append(
            "<tr>"
            f"<td style='padding:1px 8px 1px 0;white-space:nowrap'>{escape(one.name)}</td>"
            "<td style='width:100%'><div style='background:rgba(128,128,128,.15)'>"
            f"<div style='width:{100 * share:.1f}%;min-width:1px;height:11px;background:{css_colour(one.colour)}'>"
            "</div></div></td>"
            f"<td style='padding-left:8px;text-align:right'>{share:.3f}</td>"
            "</tr>"
        )
    return f"<table style='width:100%;border-collapse:collapse'>{''.join(rows)}</table>"


def _scale(name: str, low: str, high: str) -> str:
    stops = ",".join(css_colour(stop) for stop in RAMPS[name])
    return (
        "<div style='display:flex;align-items:center;gap:8px;font-size:12px'>"
        f"<span>{escape(low)}</span>"
        f"<div style='flex:1;height:10px;background:linear-gradient(90deg,{stops})'></div>"
        f"<span>{escape(high)}</span></div>"
    )


def _channels(weights: Floats) -> str:
    """Draw every channel's weight as a bar; the strongest are highlighted and named."""
    strongest = np.argsort(-weights, kind="stable")[:STRONGEST]
    bars = [
        (number, 1 - weight / weights.max(), 1.0, BAR if number in strongest else DIM)
        for number, weight in enumerate(weights)
    ]
    named = ", ".join(f"{number} ({weights[number]:.2g})" for number in strongest)
    return _bars(bars, len(weights)) + _note(
        f"The weight of each of its {len(weights)} channels for itself; evenly shared, each would be "
        f"{1 / len(weights):.2g}. The strongest: {named}."
    )


def _gate(branches: tuple[str, ...], shares: Floats) -> str:
    """Draw each channel as a stacked bar of the branches' shares, with the mean of each branch as text."""
    tops = np.concatenate([np.zeros((1, shares.shape[1])), np.cumsum(shares, axis=0)])
    bars = [
        (channel, tops[branch, channel], tops[branch + 1, channel], BRANCHES.get(name, BAR))
        for branch, name in enumerate(branches)
        for channel in range(shares.shape[1])
    ]
    means = " + ".join(
        f"<span style='color:{BRANCHES.get(name, BAR)}'>■</span> {escape(_words(name))} {share:.0%}"
        for name, share in zip(branches, shares.mean(axis=1), strict=True)
    )
    return f"<div style='font-size:12px;margin-top:4px'>{means}</div>" + _bars(bars, shares.shape[1])


def _words(branch: str) -> str:
    return "the point's own features" if branch == "nodes" else f"{branch.replace('_', '-')} update"


def _bars(bars: Iterable[tuple[int, float, float, str]], count: int) -> str:
    """Draw bars of (place, top, bottom, colour) as SVG, with heights from 0 at the top to 1 at the bottom."""
    step = WIDTH / count
    drawn = "".join(
        f"<rect x='{place * step:.2f}' y='{HEIGHT * top:.2f}' width='{max(step - 0.6, 0.6):.2f}' "
        f"height='{HEIGHT * max(bottom - top, 0.01):.2f}' fill='{colour}'/>"
        for place, top, bottom, colour in bars
    )
    return f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' style='width:100%;display:block' role='img'>{drawn}</svg>"


def _strongest_share(row: Floats) -> float:
    """Return the smallest share of the points that holds half of the weight."""
    held = np.cumsum(np.sort(row)[::-1])
    return float(np.searchsorted(held, 0.5 * held[-1]) + 1) / len(row)


def _entropy(share: float) -> str:
    """Return an entropy in per cent of the maximum, with a remark if it is extreme."""
    word = " (collapsed onto a few)" if share < COLLAPSED else " (almost even)" if share > EVEN else ""
    return f"{share:.0%} of the highest{word}"


def _own_weight(explanation: PointExplanation) -> float:
    return float(explanation.edges[explanation.neighbours == explanation.point].sum())


# the twelve edges of a box, as pairs of corners: 0 or 1 for the lower or upper end of x, y and z
EDGES = (
    ((0, 0, 0), (1, 0, 0)),
    ((0, 1, 0), (1, 1, 0)),
    ((0, 0, 1), (1, 0, 1)),
    ((0, 1, 1), (1, 1, 1)),
    ((0, 0, 0), (0, 1, 0)),
    ((1, 0, 0), (1, 1, 0)),
    ((0, 0, 1), (0, 1, 1)),
    ((1, 0, 1), (1, 1, 1)),
    ((0, 0, 0), (0, 0, 1)),
    ((1, 0, 0), (1, 0, 1)),
    ((0, 1, 0), (0, 1, 1)),
    ((1, 1, 0), (1, 1, 1)),
)


@dataclass(frozen=True, eq=False)
class ExplanationShapes:
    """Arrays to draw, in the coordinates in which the scan is drawn."""

    point: Floats
    """(3,) its position"""
    block: Floats
    """(M, 3) the points that the network saw."""
    row: Colours
    """(M, 3) the colours of the point's row of the non-local matrix."""
    lowest: float
    """The weight that is drawn darkest."""
    highest: float
    outline: Floats
    """(12, 2, 3) the edges of the block."""
    graph: Floats
    """(K - 1, 2, 3) lines from the point to its neighbours."""
    graph_colours: Colours
    """(K - 1, 2, 3) their colours."""


def shape_explanation(scan: Scan, explanation: PointExplanation, side: float) -> ExplanationShapes:
    """Place an explanation in the scan; ``side`` is the side of a block in metres."""
    block = scan.at(explanation.block)
    point = block[0]
    shares, lowest, highest = row_shares(explanation.non_local)
    others = np.flatnonzero(explanation.neighbours != explanation.point)
    neighbours = scan.at(explanation.neighbours[others])
    weights = explanation.edges[others]
    strongest = max(float(explanation.edges.max()), 1e-12)
    return ExplanationShapes(
        point=point,
        block=block,
        row=ramp("row", shares),
        lowest=lowest,
        highest=highest,
        outline=box_edges(
            np.array([*(point[:2] - side / 2), block[:, 2].min()]),
            np.array([*(point[:2] + side / 2), block[:, 2].max()]),
        ),
        graph=np.stack([np.broadcast_to(point, neighbours.shape), neighbours], axis=1),
        graph_colours=np.repeat(ramp("graph", np.sqrt(weights / strongest))[:, None], 2, axis=1),
    )


def box_edges(low: NDArray[np.floating], high: NDArray[np.floating]) -> Floats:
    """Return the twelve edges (12, 2, 3) of an upright box."""
    return np.where(np.array(EDGES) == 0, low, high).astype(np.float32)
