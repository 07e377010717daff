"""``point2node adapt``: weights are fitted to a person's own scans, without any labels."""

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
"""Scans in the picture."""


def adapt(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="SCAN... [KEY=VALUE]...",
            help="Files, folders or patterns such as 'a/*.laz'; then settings of the training, such as steps=200.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The run folder.")],
    weights: Annotated[
        str, typer.Option(help="Pretrained weights by name, a run folder, or a .safetensors file.")
    ] = DEFAULT_WEIGHTS,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="How long to train, all rounds together; 20 if not given.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often the scans are labelled anew and learnt from.")] = 2,
    sure: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The share of each class' surest points that are learnt from.")
    ] = 0.3,
    norm_share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The share of the scans' own batch-norm statistics at the start.")
    ] = 0.5,
    data: Annotated[
        Path | None,
        typer.Option(help="Labelled scenes to mix in; those of the weights' training or generated rooms by default."),
    ] = None,
    scale: Annotated[float, typer.Option(min=1e-9, help="Metres in one unit: 0.001 for millimetres.")] = 1.0,
    up: Annotated[Up, typer.Option(help="The axis that points upwards.")] = Up.z,
    color: Annotated[bool, typer.Option(help="Use the scans' colours.")] = True,
    thin: Annotated[float, typer.Option(min=0.0, help="Metres: use one point in each such cube; 0 for all.")] = 0.03,
) -> None:
    """Fit pretrained weights to your own unlabelled scans. Stopped in any way, the same command resumes.

    Batch-norm statistics first, then self-training on the surest labels of each class next to generated rooms.

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
    """The first scans with their labels before and after, and the curve of the last round."""
    from point2node.report.curves import SCENES, draw_curve
    from point2node.show.qualitative_grid import GridRow, draw_grid

    before, after = (one.parts(one.labels) for one in (adapted.before, adapted.after))
    rows = []
    for name, old, new in list(zip(adapted.scans.scenes(), before, after, strict=True))[:DRAWN]:
        rows.append(GridRow(name, adapted.scans.load(name).xyz, {"before": old, "after": new}))
    draw_grid(rows, adapted.scans.classes, run.path / PICTURE)
    draw_curve(run.history, run.curve, run.name, SCENES)
