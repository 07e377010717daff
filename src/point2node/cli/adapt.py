"""``point2node adapt``: fit weights to your own scans, without any labels."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.predict import DEFAULT_WEIGHTS, Up
from point2node.cli.progress import choose_watch, progress
from point2node.core.memory import keep_freed_memory

if TYPE_CHECKING:  # torch is imported by the command itself: --help stays quick
    from point2node.training.adaptation import Adapted
    from point2node.weights.run_folder import RunFolder

PICTURE = "adapt.png"
DRAWN = 4
"""Number of scans in the picture."""


def adapt(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="SCAN... [KEY=VALUE]...",
            help="Files, folders or patterns such as 'a/*.laz'; then training settings such as steps=200.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The run folder.")],
    weights: Annotated[
        str, typer.Option(help="Pretrained weights by name, a run folder, or a .safetensors file.")
    ] = DEFAULT_WEIGHTS,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="How long to train, all rounds together; by default 20.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many times to label the scans and train on the result.")] = 2,
    sure: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The most confident share of each class' points that is trained on.")
    ] = 0.3,
    norm_share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The share of the scans' own batch-norm statistics to start with.")
    ] = 0.5,
    data: Annotated[
        Path | None,
        typer.Option(help="Labelled scenes to mix in; by default the weights' training data or generated rooms."),
    ] = None,
    scale: Annotated[float, typer.Option(min=1e-9, help="Metres in one unit: 0.001 for millimetres.")] = 1.0,
    up: Annotated[Up, typer.Option(help="The axis that points upwards.")] = Up.z,
    color: Annotated[bool, typer.Option(help="Use the scans' colours.")] = True,
    thin: Annotated[
        float, typer.Option(min=0.0, help="Metres: use one point per cube of this side; 0 for all points.")
    ] = 0.03,
) -> None:
    """Fit pretrained weights to your own unlabelled scans. If it is stopped, the same command resumes.

    Batch-norm statistics first, then self-training on the most confident labels of each class mixed with labelled
    scenes.

    Example: point2node adapt scans --weights rooms --out runs/adapted
    """
    from point2node.inference.labeller import Options
    from point2node.inference.scans import find_local_scans
    from point2node.training.adaptation import adapt as fit
    from point2node.training.adaptation_report import tell_change
    from point2node.training.adaptation_request import Request
    from point2node.weights.run_folder import RunFolder

    keep_freed_memory()
    settings = [word for word in words if "=" in word and not Path(word).exists()]
    scans = find_local_scans(word for word in words if word not in settings)
    options = Options(scale, up.value, color, thin=thin)
    request = Request(scans, weights, options, rounds, sure, norm_share, minutes, tuple(settings), data)
    run = RunFolder(out)
    adapted = fit(request, run, choose_watch(first_process=True), partial(progress, seconds=2.0))
    if adapted is None:
        print("point2node: stopped; run the same command again to resume", file=sys.stderr)
        raise typer.Exit(code=130)
    for line in tell_change(adapted.report):
        print(line)
    _draw(run, adapted)
    print(f"written: {run.path}, adapt.json, {PICTURE}; label with: point2node predict SCAN --weights {run.path}")


def _draw(run: RunFolder, adapted: Adapted) -> None:
    """Draw the first scans with their labels before and after, and the curve of the last round."""
    from point2node.report.curves import SCENES, draw_curve
    from point2node.show.qualitative_grid import GridRow, draw_grid

    before, after = (one.parts(one.labels) for one in (adapted.before, adapted.after))
    rows = []
    for name, old, new in list(zip(adapted.scans.scenes(), before, after, strict=True))[:DRAWN]:
        rows.append(GridRow(name, adapted.scans.load(name).xyz, {"before": old, "after": new}))
    draw_grid(rows, adapted.scans.classes, run.path / PICTURE)
    draw_curve(run.history, run.curve, run.name, SCENES)
