"""One scan of ``predict``, in this process or on a worker: label it, draw it, return the outcome."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from point2node.core.errors import InputError, is_interruption
from point2node.core.memory import memory_limit, memory_limited, ran_out_of_memory
from point2node.core.words import Report, as_text, unreported
from point2node.inference.jobs import (
    MOST_TRIES,
    OUT_OF_MEMORY,
    check_target,
    checksum_of,
    finished_target,
    label_scan,
    local_files,
    open_scan,
    request_of,
    rounding_of,
)
from point2node.inference.kept_work import remove_kept_work
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labelled_files import Written, as_if_read, read_labelled
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.output_rules import OutputRules
from point2node.inference.scans import Job
from point2node.weights.trained import Trained

Watch = Callable[[], AbstractContextManager[Report]]
"""Opens the progress display of a scan."""


@dataclass(frozen=True)
class Work:
    """What to do with every scan; can be pickled and sent to other machines."""

    trained: Trained
    options: Options
    rules: OutputRules | None
    auto: bool
    report: bool
    overwrite: bool

    @cached_property
    def labeller(self) -> SceneLabeller:
        """The weights, ready on this machine's device."""
        return SceneLabeller(self.trained)

    @cached_property
    def checksum(self) -> str:
        """The checksum of the weights."""
        return checksum_of(self.labeller)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a scan."""

    output: str | None = None
    """The name of the labelled file; None if the scan failed."""
    labelled_now: bool = False
    """Whether this command labelled it, rather than an earlier one."""
    points: int | None = None
    seconds: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    error: str | None = None
    said: tuple[str, ...] = ()
    """Lines for stderr, if the scan was labelled on a worker."""
    shown: tuple[str, ...] = ()
    """Lines for stdout, if the scan was labelled on a worker."""


def label_and_draw(
    work: Work, job: Job, say: Callable[[str], None], show: Callable[[str], None], watch: Watch
) -> Outcome:
    """Label one scan unless it is labelled already; notes go to ``say``, results to ``show``."""
    start = time.monotonic()
    request = request_of(job, work.checksum, work.options, work.auto, work.rules)
    if not work.overwrite:
        done = finished_target(job, request)
        if done is not None:
            show(f"{done}: labelled before (--overwrite labels it again)")
            if isinstance(job.target, Path):
                remove_kept_work(job.target)
            if work.report and isinstance(done, Path) and not done.with_suffix(".html").is_file():
                show(f"open {_draw(done)}")
            return Outcome(done.name)
        check_target(job)
    with local_files(job) as here, open_scan(here, work.labeller, work.options, work.auto, say, work.rules) as scan:
        say(f"{job.scan}: {scan.card}")
        fixed = [f"fixed: {fix}" for fix in scan.fixes]
        doubts = [str(doubt) for doubt in scan.card.doubts]
        for line in (*fixed, *(f"note: {doubt}" for doubt in doubts)):
            say(line)
        start_labelling = time.monotonic()
        with watch() as report:
            made, labelled = label_scan(here, scan, work.labeller, request, report, work.rules)
        target = made.target
        seconds = time.monotonic() - start_labelling
        if target.suffix != here.target.suffix:
            say(f"note: {here.target.suffix} cannot store these points and labels; written as {target.suffix}")
        elif rounding := rounding_of(target, scan.cloud):
            say(f"note: {target.suffix} rounds coordinates: they are up to {rounding:g} off")
        written = job.target.with_name(target.name)
        show(f"{written}: {made.points:,} points in {seconds:.0f} s, {_shares(made)}")
        if weak := [name for name in work.trained.weak if made.counts.get(name)]:
            doubts.append(f"{work.trained.name} often gets {', '.join(weak)} wrong on real scans: check these")
            say(f"note: {doubts[-1]}")
        if work.report:
            _draw(target, labelled)
            show(f"open {written.with_suffix('.html')}")
    return Outcome(
        written.name,
        labelled_now=True,
        points=made.points,
        seconds=round(time.monotonic() - start, 2),
        counts=made.counts,
        doubts=(*fixed, *doubts),
    )


def label_one_of_many(
    work: Work, job: Job, say: Callable[[str], None], show: Callable[[str], None], watch: Watch
) -> Outcome:
    """Label one scan, and return errors as its outcome instead of raising them, except running out of memory."""
    try:
        return label_and_draw(work, job, say, show, watch)
    except InputError as error:
        say(f"point2node: {error}")
        return Outcome(error=str(error))
    except Exception as error:
        if ran_out_of_memory(error) or is_interruption(error):
            raise
        say(traceback.format_exc().rstrip())  # a bug of ours, which may not affect the other scans
        return Outcome(error=as_text(f"{type(error).__name__}: {' '.join(str(error).split())}"))


def label_here(work: Work, job: Job, say: Callable[[str], None], show: Callable[[str], None], watch: Watch) -> Outcome:
    """Label one of many scans in this process; if it runs out of memory, try again with half as much."""
    for tries in range(MOST_TRIES):
        limit = memory_limit(work.options.memory) >> tries if tries else None
        try:
            with memory_limited(limit):
                return label_one_of_many(work, job, say, show, watch)
        except Exception as error:
            if not ran_out_of_memory(error):
                raise
            say(f"note: out of memory{', trying again with half as much' * (tries + 1 < MOST_TRIES)}")
    return Outcome(error=f"{job.scan}: {OUT_OF_MEMORY}")


def label_on_worker(work: Work, job: Job, tries: int) -> Outcome:
    """Label one of many scans on a worker; its lines are returned, to be printed where the command runs."""
    said: list[str] = [f"note: try {tries + 1}, with less memory"] if tries else []
    shown: list[str] = []
    outcome = label_one_of_many(work, job, said.append, shown.append, _unwatched)
    return replace(outcome, said=tuple(said), shown=tuple(shown))


@contextmanager
def _unwatched() -> Iterator[Report]:
    yield unreported


def _draw(target: Path, labelled: LabelledCloud | None = None) -> Path:
    """Draw the page and the stills of a labelled scan; it is read from its file if not given."""
    from point2node.show.scene_page import write_scene_page
    from point2node.show.stills import write_stills

    page = target.with_suffix(".html")
    scene = (read_labelled(target) if labelled is None else as_if_read(labelled, target)).upright()
    write_scene_page(scene, page)
    write_stills(scene, page)
    return page


def _shares(made: Written) -> str:
    """Format the most frequent classes with their shares in per cent."""
    counts = sorted(made.counts.items(), key=lambda item: -item[1])
    total = max(made.points, 1)
    return ", ".join(f"{name} {100 * count / total:.0f} %" for name, count in counts[:5] if count)
