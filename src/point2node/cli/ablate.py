"""``point2node ablate``: train and score the paper's nine variants in one sweep that can be stopped and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import choose_watch, progress
from point2node.cli.train import conclude, is_first_process
from point2node.core.errors import InputError
from point2node.core.memory import keep_freed_memory

if TYPE_CHECKING:  # torch is imported by the command itself: --help stays quick
    from point2node.weights.run_folder import RunFolder


def ablate(
    preset: Annotated[str, typer.Argument(help="A Point2Node preset.")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings that override the preset's.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds to run each variant with, separated by commas.")] = "0,1,2",
    variants: Annotated[str | None, typer.Option(help="Only these variants, separated by commas.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="A prepared store or a raw data set; not needed for 'rooms'.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Parent of the run folders.")] = Path("runs"),
) -> None:
    """Train and score every variant with every seed, each in a normal run folder. Run the command again to resume.

    Example: point2node ablate tiny --seeds 0,1 steps=100
    """
    from point2node.cli.report import report as report_runs
    from point2node.models.point2node.stages import VARIANTS, check_variant
    from point2node.training.launch import begin_or_resume, default_run
    from point2node.weights.run_folder import RunFolder
    from point2node.weights.settings import load_preset

    keep_freed_memory()
    chosen = list(VARIANTS) if variants is None else variants.split(",")
    for variant in chosen:
        check_variant(variant)
    for word in words or []:
        if word.startswith(("seed=", "variant=")):
            raise InputError("KEY=VALUE", expected="--seeds and --variants for these", found=word)
    runs = []
    for seed in _read_seeds(seeds):
        for variant in chosen:
            settings = load_preset(preset, [*(words or []), f"variant={variant}", f"seed={seed}"])
            run = RunFolder(out / default_run(preset, settings).name)
            with progress("preparing") as report:
                watch = choose_watch(first_process=is_first_process())
                outcome = begin_or_resume(preset, settings, data, run, watch, report)
            conclude(run, outcome)
            if is_first_process():
                _score_once(run, data)
            runs.append(run)
    if is_first_process():
        report_runs([str(run.path) for run in runs])


def _read_seeds(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    seeds = [int(word) for word in words if word.isdecimal()]
    if len(set(seeds)) < len(words):
        raise InputError("--seeds", expected="different whole numbers separated by commas", found=text)
    return seeds


def _score_once(run: RunFolder, data: Path | None) -> None:
    """Score the held-out split unless the best weights were scored before (the weights file may be gone since)."""
    from point2node.core.documents import parse_json
    from point2node.evaluation.scoring import keep_result, open_scored_data, result_of, score_split
    from point2node.inference.asking import choose_device
    from point2node.weights.trained import load_trained

    settings = run.read_settings()
    wanted = {"votes": settings.votes, "rule": settings.rule}
    for file in run.evaluations.glob(f"{settings.test_split}-best-*.json"):
        result = parse_json(file.read_text(encoding="utf-8"))
        if result["trained_steps"] == run.best_step and wanted.items() <= result["protocol"].items():
            return
    trained = load_trained(str(run.path))
    with progress("preparing") as report:
        store = open_scored_data(trained, data, report)
    with progress(f"scoring {run.name}") as report:
        evaluation = score_split(trained, store, report, choose_device())
    keep_result(trained, result_of(trained, evaluation))
