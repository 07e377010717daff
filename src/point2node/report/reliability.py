"""The reliability diagram: how often the network is right when it is so sure, before and after calibration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from point2node.core.writing import replacing


def draw_reliability(result: dict[str, Any], picture: Path, title: str) -> None:
    """Draw the result of ``calibrate`` as a PNG: a panel before, one after; wider dots stand for more units."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    unit = result["protocol"]["unit"]
    for axes, when in zip(figure.subplots(1, 2, sharey=True), ("before", "after"), strict=True):
        bins = result[when]["bins"]
        confidence = [one["confidence"] for one in bins]
        accuracy = [one["accuracy"] for one in bins]
        largest = max(one["count"] for one in bins)
        axes.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--", label="as sure as right")
        axes.plot(confidence, accuracy, color="tab:blue", linewidth=1)
        axes.scatter(confidence, accuracy, [10 + 190 * one["count"] / largest for one in bins], color="tab:blue")
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="mean confidence of a bin", aspect="equal")
        axes.set_title(f"{when}: ECE {100 * result[when]['ece']:.2f} %")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel(f"share of {unit}s labelled right")
    figure.axes[0].legend(loc="upper left")
    figure.suptitle(f"{title}: temperature {result['temperature']:.3f}")
    with replacing(picture) as stream:
        figure.savefig(stream, format="png", dpi=110)
