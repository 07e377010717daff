"""``point2node predict``: scans go in, the same scans come out with a label for every point."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import progress, say_compiling
from point2node.core.errors import InputError, is_interruption

if TYPE_CHECKING:  # torch is imported by the command itself: --help stays quick
    from point2node.core.point_cloud import PointCloud
    from point2node.engine.labelled import Labelled
    from point2node.engine.labelling import Labeller, Options
    from point2node.engine.output_rules import OutputRules
    from point2node.engine.scans import Job

DEFAULT_WEIGHTS = "rooms"


class Up(StrEnum):
    """Which axis of the file points upwards."""

    x = "x"
    y = "y"
    z = "z"
    minus_x = "-x"
    minus_y = "-y"
    minus_z = "-z"


class Format(StrEnum):
    """What labelled scans can be written as."""

    ply = "ply"
    pcd = "pcd"
    las = "las"
    laz = "laz"
    xyz = "xyz"
    txt = "txt"
    csv = "csv"
    npy = "npy"
    npz = "npz"
    h5 = "h5"


class Adaptation(StrEnum):
    """What of the weights is fitted to each scan."""

    bn = "bn"


def predict(
    scans: Annotated[
        list[str], typer.Argument(metavar="SCAN...", help="Files, folders or patterns such as 'a/*.laz'.")
    ],
    weights: Annotated[
        str, typer.Option(help="Shipped weights by name, a run folder, or a .safetensors file.")
    ] = DEFAULT_WEIGHTS,
    out: Annotated[Path, typer.Option(help="The folder for the labelled scans.")] = Path("labelled"),
    format: Annotated[Format | None, typer.Option(help="The format of the results, if not the scan's own.")] = None,
    scale: Annotated[
        float | None,
        typer.Option(min=1e-9, help="Metres in one unit: 0.001 for millimetres. By default what the file says or is."),
    ] = None,
    up: Annotated[Up, typer.Option(help="The axis that points upwards.")] = Up.z,
    color: Annotated[bool, typer.Option(help="Use the scan's colours.")] = True,
    auto: Annotated[bool, typer.Option("--auto", help="Fix obvious problems with unit, axis and colour.")] = False,
    votes: Annotated[int, typer.Option(min=1, help="How often each point is labelled; more is slower.")] = 1,
    thin: Annotated[
        float, typer.Option(min=0.0, help="Metres: label one point in each such cube, and the others like it. Faster.")
    ] = 0.0,
    smooth: Annotated[
        bool | None,
        typer.Option("--smooth/--no-smooth", help="Average over smooth surfaces; by default as the weights say."),
    ] = None,
    adapt: Annotated[
        Adaptation | None,
        typer.Option(help="bn: take half of the batch-norm statistics from each scan; for scanners unlike training's."),
    ] = None,
    memory: Annotated[
        float | None, typer.Option(min=0.1, help="GB to stay below; by default 60 % of what is free.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="Write other classes: a YAML file that maps them, or asprs, nyu40.")
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            help="Label only there: x0,y0,x1,y1 or x0,y0,z0,x1,y1,z1, a file of corners 'x y', or class:VALUE."
        ),
    ] = None,
    protect: Annotated[str | None, typer.Option(help="Labels of the scan that stay, by value or class: 2,6.")] = None,
    only: Annotated[str | None, typer.Option(help="Write these classes only: wall,floor.")] = None,
    drop: Annotated[str | None, typer.Option(help="Leave out these classes: clutter.")] = None,
    report: Annotated[bool, typer.Option(help="Also write a page to look at, and a picture.")] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Label again what is labelled already.")] = False,
) -> None:
    """Label every point of scans: files of any readable format, at full resolution, with all that was in them.

    Example: point2node predict scan.laz
    """
    from point2node.engine.labelling import Labeller, Options
    from point2node.engine.norm_statistics import NORM_SHARE
    from point2node.engine.output_rules import output_rules
    from point2node.engine.scan_labelling import results_folder
    from point2node.engine.scans import find_jobs
    from point2node.engine.trained import load_trained
    from point2node.geometry.compiling import compiling_announced

    if memory is not None and not math.isfinite(memory):
        raise InputError("--memory", expected="a number of GB", found=str(memory))
    limit = None if memory is None else int(memory * 1e9)
    norm_share = 0.0 if adapt is None else NORM_SHARE
    options = Options(scale, up.value, color, votes, thin, smooth, limit, norm_share)
    jobs = find_jobs(scans, out, None if format is None else f".{format.value}")
    labeller = Labeller(load_trained(weights))
    rules = output_rules(labeller.classes, classes, protect, within, only, drop)
    outcomes: Counter[str] = Counter()
    try:
        with results_folder(out, jobs), compiling_announced(say_compiling):
            for number, job in enumerate(jobs, start=1):
                if len(jobs) > 1:
                    _say(f"[{number}/{len(jobs)}] {job.scan}")
                try:
                    anew = _label(job, labeller, options, rules, auto=auto, report=report, overwrite=overwrite)
                    outcomes["labelled" if anew else "labelled before"] += 1
                except InputError as error:
                    if len(jobs) == 1:
                        raise
                    outcomes["failed"] += 1
                    _say(f"point2node: {error}")
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interruption(error):
            raise
        _say(f"point2node: stopped; {outcomes.total()} of {len(jobs)} scans are done, the same command does the others")
        raise typer.Exit(code=130) from None
    if len(jobs) > 1:
        before = f", {outcomes['labelled before']} labelled before" if outcomes["labelled before"] else ""
        print(f"{outcomes['labelled']} of {len(jobs)} scans labelled{before}, {outcomes['failed']} failed")
    if outcomes["failed"]:
        raise typer.Exit(code=1)


def _label(
    job: Job,
    labeller: Labeller,
    options: Options,
    rules: OutputRules | None,
    *,
    auto: bool,
    report: bool,
    overwrite: bool,
) -> bool:
    """Label one scan; False if that was done before."""
    from point2node.engine.scan_labelling import (
        finished_target,
        label_scan,
        look_at,
        refuse_foreign,
        request_of,
        rounding_of,
    )

    request = request_of(job, labeller, options, auto, rules)
    if not overwrite:
        done = finished_target(job, request)
        if done is not None:
            print(f"{done}: labelled before (--overwrite labels it again)")
            if report and not done.with_suffix(".html").is_file():
                _draw(done)
            return False
        refuse_foreign(job)
    cloud, card, chosen, fixes = look_at(job, labeller, options, auto)
    _say(f"{job.scan}: {card}")
    for fix in fixes:
        _say(f"fixed: {fix}")
    for doubt in card.doubts:
        _say(f"note: {doubt}")
    start = time.monotonic()
    with progress("labelling", seconds=2.0) as watch:
        target, labelled = label_scan(job, cloud, labeller, chosen, request, watch, rules)
    seconds = time.monotonic() - start
    if target.suffix != job.target.suffix:
        _say(f"note: {job.target.suffix} cannot hold these points and labels; written as {target.suffix}")
    elif rounding := rounding_of(target, cloud):
        _say(f"note: {target.suffix} holds coordinates in steps: they are up to {rounding:g} off")
    print(f"{target}: {len(labelled):,} points in {seconds:.0f} s, {_shares(labelled)}")
    if report:
        _draw(target, labelled.as_cloud())
    return True


def _draw(target: Path, cloud: PointCloud | None = None) -> None:
    """The page and the stills of a labelled scan, which is read again if it is not at hand."""
    from point2node.report.scene_files import read_scene
    from point2node.report.scene_page import write_scene_page
    from point2node.report.stills import write_stills

    page = target.with_suffix(".html")
    scene = read_scene(target, cloud=cloud)
    write_scene_page(scene, page)
    write_stills(scene, page)
    print(f"open {page}")


def _shares(labelled: Labelled) -> str:
    """The most frequent classes, in per cent."""
    counts = sorted(labelled.counts.items(), key=lambda item: -item[1])
    total = max(len(labelled), 1)
    return ", ".join(f"{name} {100 * count / total:.0f} %" for name, count in counts[:5] if count)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
