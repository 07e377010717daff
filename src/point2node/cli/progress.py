"""Progress of long tasks on stderr: a bar on a terminal, lines elsewhere, nothing with ``--quiet``."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from point2node.core.words import Report, unreported

if TYPE_CHECKING:
    from rich.progress import Progress

    from point2node.training.loop import Watch


ERRORS = ("point2node: ", "Traceback ")
"""Prefixes of lines that report errors."""
_quiet = False


def set_quiet(quiet: bool) -> None:
    """Switch progress and notes off or on; errors and results are always printed."""
    global _quiet
    _quiet = quiet


def tell(lines: Iterable[str]) -> None:
    """Print lines to stderr; with ``--quiet``, only errors."""
    for line in lines:
        if not _quiet or line.startswith(ERRORS):
            print(line, file=sys.stderr, flush=True)


def say_compiling() -> None:
    """Explain the pause while kernels compile."""
    tell(["compiling kernels: takes a few minutes, only once"])


@contextmanager
def progress(label: str, *, seconds: float = 0.0) -> Iterator[Report]:
    """Yield a function to call with the number done, the total, and the name of the latest item.

    The bar appears with the first call and is removed when all is done, so that the next task can show its own.
    Lines are at least ``seconds`` apart.
    """
    if _quiet:
        yield unreported
        return
    if not sys.stderr.isatty():
        last = -math.inf

        def say(done: int, total: int, name: str) -> None:
            nonlocal last
            if time.monotonic() - last >= seconds:
                last = time.monotonic()
                print(f"{label} {done}/{total} {name}", file=sys.stderr, flush=True)

        yield say
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)

    def update(done: int, total: int, name: str) -> None:
        bar.start()
        bar.update(task, completed=done, total=total, description=name)
        if done >= total:
            bar.stop()

    try:
        yield update
    finally:
        bar.stop()


SECONDS_BETWEEN_LINES = 10.0


class PlainWatch:
    """Prints a line every ten seconds."""

    def begin(self, steps: int, done: int) -> None:
        """Print the step that training resumes from, if any."""
        self._steps, self._next = steps, time.monotonic()
        self._first: tuple[int, float] | None = None
        if done:
            self.say(f"resumed at step {done} of {steps}")

    def step(self, step: int, epoch: int, values: dict[str, float]) -> None:
        """Print a line if the last one is old. The first step may compile kernels and is left out of the estimate."""
        now = time.monotonic()
        if self._first is None:
            self._first = step, now
        if now < self._next and step < self._steps:
            return
        self._next = now + SECONDS_BETWEEN_LINES
        self.say(f"step {step}/{self._steps}, {describe(epoch, values)}{self._time_left(step, now)}")

    def _time_left(self, step: int, now: float) -> str:
        assert self._first is not None
        first, start = self._first
        if step == first:
            return ""
        return f", {timedelta(seconds=round((now - start) / (step - first) * (self._steps - step)))} left"

    def say(self, line: str) -> None:
        """Print a line."""
        print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Do nothing."""


class LiveWatch:
    """A progress bar with the latest figures."""

    _bar: Progress | None = None

    def begin(self, steps: int, done: int) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns: tuple[Any, ...] = (
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
        )
        bar = Progress(*columns, console=Console(stderr=True), refresh_per_second=4)
        self._task = bar.add_task("compiling kernels (only once)", total=steps, completed=done)
        bar.start()
        self._bar = bar

    def step(self, step: int, epoch: int, values: dict[str, float]) -> None:
        """Move the bar."""
        assert self._bar is not None
        self._bar.update(self._task, completed=step, description=describe(epoch, values))

    def say(self, line: str) -> None:
        """Print a line above the bar, or before it exists."""
        if self._bar is None:
            print(line, file=sys.stderr)
        else:
            self._bar.console.print(line, markup=False, highlight=False)

    def end(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.stop()


class SilentWatch:
    """Prints nothing: for ``--quiet`` and for all processes but the first."""

    def begin(self, steps: int, done: int) -> None:
        """Do nothing."""

    def step(self, step: int, epoch: int, values: dict[str, float]) -> None:
        """Do nothing."""

    def say(self, line: str) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


def describe(epoch: int, values: dict[str, float]) -> str:
    """Format the figures of a step."""
    return (
        f"epoch {epoch}, loss {values['loss']:.3f}, accuracy {values['accuracy']:.3f}, "
        f"{values['points_per_second'] / 1000:.1f}k points/s"
    )


def choose_watch(*, first_process: bool) -> Watch:
    """Choose how to show the progress of training."""
    if not first_process or _quiet:
        return SilentWatch()
    return LiveWatch() if sys.stderr.isatty() else PlainWatch()
