"""The curve of a training: loss and accuracy as it learns, and the validation scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from point2node.core.writing import replacing
from point2node.training.history import read_history

SCENES = {"accuracy": "training accuracy", "val_oa": "validation OA", "val_miou": "validation mIoU"}
SHAPES = {"accuracy": "training accuracy", "val_oa": "validation OA", "val_macc": "validation mAcc"}


def draw_curve(history: Path, picture: Path, title: str, figures: Mapping[str, str] = SCENES) -> None:
    """Draw the history of a run as a PNG, with the scores that ``figures`` names: those of scenes, or of shapes."""
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
