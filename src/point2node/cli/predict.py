"""``point2node predict``: label every point of scans."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import progress, say_compiling, tell
from point2node.core.errors import InputError, is_interruption
from point2node.core.words import as_text

if TYPE_CHECKING:  # torch is imported by the command itself: --help stays quick
    from point2node.cli.scan_work import Outcome, Work
    from point2node.data.remote import Place
    from point2node.inference.scans import Job, Shard
    from point2node.inference.summary import Row, Summary

    Outcomes = Generator[tuple[int, Outcome], None, None]
    """The index of each scan in the list, and its outcome."""
    Show = Callable[[str], None]
    """Called with lines about the results."""

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
    """The formats that labelled scans can be written in."""

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


class Quality(StrEnum):
    """How much time to spend for better labels."""

    fast = "fast"
    balanced = "balanced"
    best = "best"


class Adaptation(StrEnum):
    """The part of the network that is fitted to each scan."""

    bn = "bn"


def predict(
    scans: Annotated[
        list[str],
        typer.Argument(metavar="SCAN...", help="Files, folders, patterns such as 'a/*.laz', or URLs of them."),
    ],
    weights: Annotated[
        str, typer.Option(help="A pretrained model by name, a run folder, or a .safetensors file.")
    ] = DEFAULT_WEIGHTS,
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="Where the labelled scans go: a folder or its URL.")
    ] = "labelled",
    format: Annotated[Format | None, typer.Option(help="The format of the results; by default the scan's own.")] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            min=1e-9, help="Metres in one unit: 0.001 for millimetres. By default as the file says, or guessed."
        ),
    ] = None,
    up: Annotated[Up, typer.Option(help="The axis that points upwards.")] = Up.z,
    color: Annotated[bool, typer.Option(help="Use the scan's colours.")] = True,
    auto: Annotated[bool, typer.Option("--auto", help="Fix obvious problems with unit, axis and colour.")] = False,
    quality: Annotated[
        Quality | None,
        typer.Option(
            help="fast: label each point once; balanced: again where the result is unsure; best: many times "
            "everywhere.",
            show_default="balanced",
        ),
    ] = None,
    votes: Annotated[
        int | None,
        typer.Option(min=1, help="How many times to label each point, instead of --quality; more is slower."),
    ] = None,
    thin: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Metres: label one point per cube of this side and interpolate the others; 0 for every point. The "
            "default depends on the weights.",
        ),
    ] = None,
    smooth: Annotated[
        bool | None,
        typer.Option("--smooth/--no-smooth", help="Average over smooth surfaces; the default depends on the weights."),
    ] = None,
    adapt: Annotated[
        Adaptation | None,
        typer.Option(
            help="bn: take half of the batch-norm statistics from each scan; for scanners unlike those in training."
        ),
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(min=0.1, help="Memory limit in GB, for all --workers together; by default 60 % of free memory."),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="Map the labels to other classes: asprs, nyu40 or a YAML file.")
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            help="Label only this region: x0,y0,x1,y1 or x0,y0,z0,x1,y1,z1, a file of corners 'x y', or class:VALUE."
        ),
    ] = None,
    protect: Annotated[str | None, typer.Option(help="Labels of the scan to keep, by value or class: 2,6.")] = None,
    only: Annotated[str | None, typer.Option(help="Write these classes only: wall,floor.")] = None,
    drop: Annotated[str | None, typer.Option(help="Leave out these classes: clutter.")] = None,
    report: Annotated[bool, typer.Option(help="Also write an HTML page and pictures.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per scan and nothing else.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Label again scans that are already labelled.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Label this many scans at a time, in separate processes.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Label on a Dask cluster: the scheduler's address or file, or local:4."),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N", help="Label only every N-th scan, starting with the I-th; auto in a Slurm array job."
        ),
    ] = None,
) -> None:
    """Label every point of scans in any readable format; all other data in the files is kept.

    Exit codes: 0 all labelled, 1 some failed, 2 bad input (do not retry), 130 stopped by Ctrl+C.

    Example: point2node predict scan.laz
    """
    import torch

    from point2node.cli.scan_work import Work
    from point2node.data.remote import place_of
    from point2node.inference.labeller import Options, SceneLabeller
    from point2node.inference.norm_statistics import NORM_SHARE
    from point2node.inference.output_rules import output_rules
    from point2node.inference.scans import find_jobs, read_shard
    from point2node.inference.summary import Summary
    from point2node.weights.trained import load_trained

    if memory is not None and not math.isfinite(memory):
        raise InputError("--memory", expected="a number of GB", found=str(memory))
    if workers is not None and cluster is not None:
        raise InputError("--workers", expected="--workers or --cluster", found="both")
    limit = None if memory is None else int(memory * 1e9)
    norm_share = 0.0 if adapt is None else NORM_SHARE
    if quality is not None and votes is not None:
        raise InputError("--votes", expected="--votes or --quality", found="both")
    options = Options(
        scale=scale,
        up=up.value,
        color=color,
        votes=votes,
        thin=thin,
        quality=None if quality is None else quality.value,
        smooth=smooth,
        memory=limit,
        norm_share=norm_share,
    )
    folder = place_of(out)
    jobs = find_jobs(scans, folder, None if format is None else f".{format.value}")
    part = None if shard is None else read_shard(shard)
    address = f"local:{workers}" if workers is not None else cluster
    device = None if address is None else torch.device("cpu")  # workers choose their own devices
    labeller = SceneLabeller(load_trained(weights), device)
    rules = output_rules(labeller.classes, classes, protect, within, only, drop)
    work = Work(labeller.trained, options, rules, auto, report, overwrite)
    show = _say if as_json else print
    if len(jobs) == 1 and address is None and part is None:
        found = _label_one(work, jobs[0], folder, show)
        rows = iter([_full_row(_row(found, jobs[0], Summary(folder)), jobs[0], found)]) if as_json else iter([])
    else:
        jobs = jobs if part is None else part.take(jobs)
        outcomes = _in_turn(work, jobs, show) if address is None or not jobs else _on_cluster(work, jobs, address, show)
        rows = _label_many(outcomes, jobs, folder, part, show)
    failed = False
    for row in rows:
        failed |= row.error is not None
        if as_json:
            print(json.dumps(asdict(row)), flush=True)
    if failed:
        raise typer.Exit(code=1)


def _label_one(work: Work, job: Job, folder: Place, show: Show) -> Outcome:
    """Label a single scan; an error ends the command."""
    from point2node.cli.scan_work import label_and_draw
    from point2node.inference.jobs import results_folder
    from point2node.kernels.compiling import announce_compiling

    with _reporting_stop(Counter(), 1), results_folder(folder, [job]), announce_compiling(say_compiling):
        return label_and_draw(work, job, _say, show, _bar)


def _label_many(
    outcomes: Outcomes, jobs: Sequence[Job], folder: Place, shard: Shard | None, show: Show
) -> Iterator[Row]:
    """Collect the outcomes of the scans in one table; a failure is reported and recorded, and the others continue."""
    from point2node.inference.jobs import results_folder
    from point2node.inference.summary import Summary

    counts: Counter[str] = Counter()
    with _reporting_stop(counts, len(jobs)), results_folder(folder, jobs, shared=shard is not None):
        summary = Summary(folder, shard)
        try:
            for place, found in outcomes:
                counts["failed" if found.error else "labelled" if found.labelled_now else "labelled before"] += 1
                row = _row(found, jobs[place], summary)
                summary.add(row)
                yield _full_row(row, jobs[place], found)
        finally:
            outcomes.close()
            if counts:
                summary.write()
    before = f", {counts['labelled before']} labelled before" if counts["labelled before"] else ""
    show(f"{counts['labelled']} of {len(jobs)} scans labelled{before}, {counts['failed']} failed")


def _row(found: Outcome, job: Job, summary: Summary) -> Row:
    """Make the table row of a scan."""
    from point2node.inference.summary import Row

    scan = as_text(str(job.scan))
    if found.output is None:
        return Row(scan, error=found.error)
    output = job.target.with_name(found.output)
    if not found.labelled_now:
        return summary.recall(scan, output)
    return Row(scan, summary.relative(output), found.points, found.seconds, found.counts, found.doubts)


def _full_row(row: Row, job: Job, found: Outcome) -> Row:
    """Make the output path of a row relative to the working folder."""
    return row if found.output is None else replace(row, output=as_text(str(job.target.with_name(found.output))))


def _in_turn(work: Work, jobs: Sequence[Job], show: Show) -> Outcomes:
    """Label the scans one after another in this process."""
    from point2node.cli.scan_work import label_here
    from point2node.kernels.compiling import announce_compiling

    with announce_compiling(say_compiling):
        for place, job in enumerate(jobs):
            _say(f"[{place + 1}/{len(jobs)}] {job.scan}")
            yield place, label_here(work, job, _say, show, _bar)


def _on_cluster(work: Work, jobs: Sequence[Job], address: str, show: Show) -> Outcomes:
    """Label scans on workers; the messages of each scan are printed together when it is done."""
    from point2node.cli.scan_work import Outcome, label_on_worker

    try:
        from point2node.inference.cluster import ClusterLostError, Failure, connected, spread
    except ModuleNotFoundError as error:
        raise InputError(
            "--cluster, --workers",
            expected="Dask's package distributed to be installed",
            found=f"no {error.name}",
            remedy="Run: pip install 'point2node[cluster]'",
        ) from error
    from point2node.inference.jobs import remove_unfinished

    try:
        with connected(address, work.options.memory) as cluster, progress("labelling", seconds=2.0) as watch:
            watch(0, len(jobs), f"on {cluster.workers} workers")
            sent = [_absolute(job) for job in jobs]
            for done, (place, found) in enumerate(spread(cluster, label_on_worker, work, sent), start=1):
                scan = jobs[place].scan
                _say(f"[{done}/{len(jobs)}] {scan}")
                if isinstance(found, Failure):
                    found = Outcome(error=f"{scan}: {found.reason}", said=(f"point2node: {scan}: {found.reason}",))
                tell(found.said)
                for line in found.shown:
                    show(line)
                yield place, found
                watch(done, len(jobs), scan.name)
    except ClusterLostError as error:
        _say(f"point2node: {error}; run the command again for the others")
        raise typer.Exit(code=1) from None
    finally:
        remove_unfinished(jobs)  # left by workers that died during a scan; files of running workers are locked


def _absolute(job: Job) -> Job:
    """Make the paths absolute: workers may run in another folder."""
    scan, target = (place.absolute() if isinstance(place, Path) else place for place in (job.scan, job.target))
    return replace(job, scan=scan, target=target)


@contextmanager
def _reporting_stop(counts: Counter[str], scans: int) -> Iterator[None]:
    """Print how many scans are done when the work is stopped with Ctrl+C."""
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interruption(error):
            raise
        _say(f"point2node: stopped; {counts.total()} of {scans} scans are done; run the command again for the others")
        raise typer.Exit(code=130) from None


_bar = partial(progress, "labelling", seconds=2.0)


def _say(line: str) -> None:
    tell([line])
