"""Curves: the course of a training, and the accuracy of a network at each level of confidence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from point2node.core.writing import replacing
from point2node.training.history import read_history

SCENES = {"accuracy": "training accuracy", "val_oa": "validation OA", "val_miou": "validation mIoU"}
SHAPES = {"accuracy": "training accuracy", "val_oa": "validation OA", "val_macc": "validation mAcc"}


def draw_curve(history: Path, picture: Path, title: str, figures: Mapping[str, str] = SCENES) -> None:
    """Draw the history of a run as a PNG; ``figures`` names the scores: ``SCENES`` or ``SHAPES``."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = read_history(history)
    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    losses, scores = figure.subplots(1, 2)
    losses.plot(*_points(rows, "loss"), color="tab:blue", linewidth=1.2)
    losses.set(title="training loss", xlabel="step")
    losses.set_ylim(bottom=0)
    for column, label in figures.items():
        steps, values = _points(rows, column)
        if steps:
            scores.plot(steps, values, label=label, linewidth=1.2, marker="" if column == "accuracy" else "o")
    scores.set(title="scores", xlabel="step", ylim=(0, 1))
    if scores.lines:
        scores.legend()
    for axes in (losses, scores):
        axes.grid(alpha=0.3)
    figure.suptitle(title)
    with replacing(picture) as stream:
        figure.savefig(stream, format="png", dpi=110)


def _points(rows: list[dict[str, str]], column: str) -> tuple[list[int], list[float]]:
    pairs = [(int(row["step"]), float(row[column])) for row in rows if row[column]]
    return [step for step, _ in pairs], [value for _, value in pairs]


def draw_reliability(result: dict[str, Any], picture: Path, title: str) -> None:
    """Draw the result of ``calibrate`` as a PNG with panels before and after; larger dots are bins of more units."""
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
        axes.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--", label="perfectly calibrated")
        axes.plot(confidence, accuracy, color="tab:blue", linewidth=1)
        axes.scatter(confidence, accuracy, [10 + 190 * one["count"] / largest for one in bins], color="tab:blue")
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="mean confidence of a bin", aspect="equal")
        axes.set_title(f"{when}: ECE {100 * result[when]['ece']:.2f} %")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel(f"share of {unit}s labelled correctly")
    figure.axes[0].legend(loc="upper left")
    figure.suptitle(f"{title}: temperature {result['temperature']:.3f}")
    with replacing(picture) as stream:
        figure.savefig(stream, format="png", dpi=110)
