"""``point2node evaluate``: score trained weights and print the scores with their protocol."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from point2node.cli.progress import progress, tell
from point2node.core.errors import InputError


class VoteRule(StrEnum):
    """How votes are combined."""

    max_confidence = "max_confidence"
    mean_probability = "mean_probability"


class Which(StrEnum):
    """The kinds of weights in a run folder."""

    best = "best"
    last = "last"
    calibrated = "calibrated"


def evaluate(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="A run folder, or the name of a pretrained model.")
    ],
    data: Annotated[
        Path | None, typer.Option(help="A prepared store or a raw data set; by default the run's own.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split to score; by default the held-out one.")] = None,
    votes: Annotated[int | None, typer.Option(min=1, help="How many times to label each block or shape.")] = None,
    rule: Annotated[VoteRule | None, typer.Option(help="How votes are combined; by default as in the preset.")] = None,
    weights: Annotated[Which, typer.Option(help="Which weights of the run to score.")] = Which.best,
    six_fold: Annotated[bool, typer.Option("--six-fold", help="S3DIS: pool six runs, one per area.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write the JSON to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Score trained weights: OA, mean class accuracy, mIoU and the IoU of each class.

    Example: point2node evaluate runs/tiny-point2node-seed0 --json
    """
    from point2node.core.writing import check_writable, replacing
    from point2node.data.features import missing_colour_notes
    from point2node.evaluation.scoring import (
        ScoringOptions,
        check_six_folds,
        keep_result,
        open_scored_data,
        pool_folds,
        result_of,
        score_split,
    )
    from point2node.inference.asking import choose_device
    from point2node.weights.trained import load_trained

    if len(runs) > 1 and not six_fold:
        raise InputError("RUN", expected="one run, or six with --six-fold", found=str(len(runs)))
    if six_fold and split is not None:
        raise InputError("--six-fold", expected="no --split: each run is scored on its own area", found=split)
    all_trained = [load_trained(name, weights.value) for name in runs]
    for file in (out, *(trained.run.evaluations for trained in all_trained if trained.run is not None)):
        if file is not None:
            check_writable(file)
    if six_fold:
        check_six_folds(all_trained)
    device = choose_device()
    evaluations = []
    options = ScoringOptions(split, votes, None if rule is None else rule.value)
    for trained in all_trained:
        with progress("preparing") as report:
            store = open_scored_data(trained, data, report, some_classes=True)
        tell([*store.manifest.notes_to_print(), *missing_colour_notes(store, trained.card.features)])
        if len(store.classes) < len(trained.card.classes):
            tell([f"note: the data has {len(store.classes)} of the {len(trained.card.classes)} classes of the weights"])
        with progress(f"scoring {trained.name}") as report:
            evaluation = score_split(trained, store, report, device, options)
        keep_result(trained, result_of(trained, evaluation))
        evaluations.append(evaluation)
    result = pool_folds(all_trained, evaluations) if six_fold else result_of(all_trained[0], evaluations[0])
    if out is not None:
        with replacing(out) as stream:
            stream.write((json.dumps(result, indent=1) + "\n").encode())
    if as_json:
        print(json.dumps(result, indent=1))
    else:
        _print(result)


def _print(result: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    protocol = result["protocol"]
    shapes = protocol["task"] == "classification"
    console = Console()
    cut = "" if shapes else f", blocks of {protocol['block_side']} m at offsets {protocol['offsets']}"
    console.print(
        f"{result['run']} ({result['weights']} weights) on {protocol['dataset']}, split {protocol['split']}: "
        f"{result['units']:,} {protocol['unit']}s; {protocol['points']} points per sample, "
        f"{protocol['votes']} vote{'' if protocol['votes'] == 1 else 's'}, "
        f"{protocol['rule']}{cut}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    figures = [("OA", result["oa"]), ("mAcc", result["macc"])] + ([] if shapes else [("mIoU", result["miou"])])
    print("  ".join(f"{name} {_percent(value)}" for name, value in figures))
    if "single_vote" in result:
        first = result["single_vote"]
        print(f"with a single vote: OA {_percent(first['oa'])}  mAcc {_percent(first['macc'])}")
    if "mean_of_folds" in result:
        mean = result["mean_of_folds"]
        print("mean over the folds, for comparison: " + "  ".join(f"{key} {_percent(mean[key])}" for key in mean))
    table = Table("class", box=box.SIMPLE_HEAD)
    for heading in ("accuracy",) if shapes else ("accuracy", "IoU"):
        table.add_column(heading, justify="right")
    for name in result["classes"]:
        values = [result["accuracy"][name]] if shapes else [result["accuracy"][name], result["iou"][name]]
        table.add_row(name, *map(_percent, values))
    console.print(table)


def _percent(value: float | None) -> str:
    return "absent" if value is None else f"{100 * value:.2f} %"
