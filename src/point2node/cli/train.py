"""``point2node train``: train a network from a preset and data into a run folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import choose_watch, progress, tell
from point2node.core.errors import InputError
from point2node.core.memory import keep_freed_memory

if TYPE_CHECKING:  # torch is imported by the command itself: --help stays quick
    from point2node.training.loop import Outcome
    from point2node.weights.run_folder import RunFolder

AREAS = range(1, 7)


def train(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PRESET] [KEY=VALUE]...", help="A preset, then settings that override it."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="A prepared store or a raw data set; not needed for 'rooms'.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder; by default runs/PRESET-VARIANT-seedS.")] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Resume this run; the result is bit-identical.")
    ] = None,
    all_areas: Annotated[
        bool, typer.Option("--all-areas", help="S3DIS: train the six folds in turn; resumes after a stop.")
    ] = False,
    corrections: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Learn from scans corrected in 'view', with: own start=rooms."),
    ] = None,
) -> None:
    """Train a network. If it is stopped, --resume RUN continues to the same final weights.

    A preset defines all settings; KEY=VALUE overrides one. 'point2node presets' lists the presets,
    'point2node presets NAME' the settings of one with their values and meanings.

    Example: point2node train tiny steps=200 seed=1
    """
    keep_freed_memory()
    preset, overrides = split_words(words or [])
    if resume is not None and (out is not None or all_areas):
        raise InputError("--resume", expected="a run folder alone", found="--out or --all-areas as well")
    if resume is None and preset is None:
        from point2node.weights.settings import preset_names

        raise InputError("PRESET", expected="one of " + ", ".join(preset_names()), found="none")
    if corrections is not None:
        if resume is not None or all_areas or data is not None:
            raise InputError("--corrections", expected="no other data", found="--data, --resume or --all-areas as well")
        assert preset is not None
        _teach(preset, overrides, corrections, out)
    elif all_areas:
        assert preset is not None
        _train_areas(preset, overrides, data, out)
    elif resume is not None:
        _resume(resume, preset, overrides, data)
    else:
        assert preset is not None
        _begin(preset, overrides, data, out)


def split_words(words: list[str]) -> tuple[str | None, list[str]]:
    """Split words into the preset, if the first word is one, and ``key=value`` settings."""
    return (words[0], words[1:]) if words and "=" not in words[0] else (None, words)


def is_first_process() -> bool:
    """Return whether this is the process that writes and prints, by the ranks of torchrun or Fabric's launcher."""
    return int(os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0"))) == 0


def _begin(preset: str, overrides: list[str], data: Path | None, out: Path | None) -> None:
    from point2node.training.launch import begin, default_run
    from point2node.weights.run_folder import RunFolder
    from point2node.weights.settings import load_preset

    settings = load_preset(preset, overrides)
    run = RunFolder(out or default_run(preset, settings))
    with progress("preparing") as report:
        outcome = begin(preset, settings, data, run, choose_watch(first_process=is_first_process()), report)
    conclude(run, outcome)


def _resume(path: Path, preset: str | None, overrides: list[str], data: Path | None) -> None:
    from point2node.training.launch import resume
    from point2node.weights.run_folder import RunFolder

    run = RunFolder(path)
    with progress("preparing") as report:
        outcome = resume(run, preset, overrides, data, choose_watch(first_process=is_first_process()), report)
    conclude(run, outcome)


def _train_areas(preset: str, overrides: list[str], data: Path | None, out: Path | None) -> None:
    from point2node.training.launch import begin_or_resume, default_run
    from point2node.weights.run_folder import RunFolder
    from point2node.weights.settings import load_preset

    if any(word.startswith("test_area=") for word in overrides):
        raise InputError("--all-areas", expected="no test_area: every area is held out in turn", found="one")
    for area in AREAS:
        settings = load_preset(preset, [*overrides, f"test_area={area}"])
        base = out or default_run(preset, settings)
        run = RunFolder(base.with_name(f"{base.name}-area{area}"))
        with progress("preparing") as report:
            watch = choose_watch(first_process=is_first_process())
            outcome = begin_or_resume(preset, settings, data, run, watch, report)
        conclude(run, outcome)


def _teach(preset: str, overrides: list[str], folder: Path, out: Path | None) -> None:
    from point2node.inference.labeller import SceneLabeller
    from point2node.teaching.rounds import PRESET, Teacher, find_corrected, read_taught, teaching_settings, write_run
    from point2node.weights.run_folder import RunFolder
    from point2node.weights.settings import parse_overrides
    from point2node.weights.trained import load_trained

    start = parse_overrides(overrides).get("start")
    if preset != PRESET or start is None:
        found = preset if start is None else f"{preset} start={start}"
        raise InputError(
            "--corrections", expected=f"the preset {PRESET} with weights, such as start=rooms", found=found
        )
    run = RunFolder(out or Path("runs") / f"taught-{folder.resolve().name}")
    if run.exists:
        raise InputError(run.path, expected="a new folder", found="a run", remedy="Choose another --out.")
    paths = find_corrected(folder)
    labeller = SceneLabeller(load_trained(str(start)))
    settings, recipe = teaching_settings(overrides, labeller)
    scans = [read_taught(path, labeller) for path in paths]
    with progress("learning", seconds=2.0) as report:
        taught = Teacher(labeller).learn(scans, recipe, lambda share, what: report(round(100 * share), 100, what))
    write_run(run, taught, settings, scans, folder)
    clicks = sum(len(scan.corrections.done) for scan in scans)
    if not taught.share:
        tell(["note: the weights are unchanged: learning made other labels wrong; correct some more points"])
    print(
        f"{run.path}: learnt from {clicks} corrections in {len(scans)} scans in {taught.seconds:.0f} s; "
        f"label with: point2node predict SCAN --weights {run.path}"
    )


def conclude(run: RunFolder, outcome: Outcome | None) -> None:
    """Draw the curve and print one line about how the training ended."""
    if not is_first_process():
        return
    from point2node.report.curves import SCENES, SHAPES, draw_curve

    if outcome is not None or not run.curve.is_file():
        figures = SHAPES if run.read_card().task == "classification" else SCENES
        draw_curve(run.history, run.curve, run.name, figures)
    if outcome is None:
        print(f"{run.path}: already finished")
        return
    if not outcome.finished:
        print(
            f"point2node: stopped at step {outcome.step} of {outcome.summary['steps']}; "
            f"resume with: point2node train --resume {run.path}",
            file=sys.stderr,
        )
        raise typer.Exit(code=130)
    summary = outcome.summary
    best = summary["best_score"]
    score = "" if best is None else f"; best {best:.3f} at step {summary['best_step']}"
    taken = summary["steps"] - summary["resumed_at"]
    of = f" of {summary['steps']}" if summary["resumed_at"] else ""
    print(
        f"{run.path}: {taken}{of} steps in {summary['seconds']:.0f} s{score}; "
        f"{summary['points_per_second']:,} points/s, waited for data {summary['waited_for_data']:.1%} of the time"
    )
