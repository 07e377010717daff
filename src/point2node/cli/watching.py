"""What a person sees of a training: a live bar on a terminal, plain lines elsewhere; both on stderr."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

    from point2node.training.loop import Watch

SECONDS_BETWEEN_LINES = 10.0


class PlainWatch:
    """A line now and then."""

    def begin(self, steps: int, done: int) -> None:
        """Say where training starts."""
        self._steps, self._next = steps, time.monotonic()
        self._first: tuple[int, float] | None = None
        if done:
            self.say(f"resumed at step {done} of {steps}")

    def step(self, step: int, epoch: int, values: dict[str, float]) -> None:
        """Print a line if the last one is old. The first step, which may compile kernels, foretells nothing."""
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
        """Print it."""
        print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Nothing is left to close."""


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
        self._task = bar.add_task("compiling kernels, once", total=steps, completed=done)
        bar.start()
        self._bar = bar

    def step(self, step: int, epoch: int, values: dict[str, float]) -> None:
        """Move the bar."""
        assert self._bar is not None
        self._bar.update(self._task, completed=step, description=describe(epoch, values))

    def say(self, line: str) -> None:
        """Print above the bar, or where it will be."""
        if self._bar is None:
            print(line, file=sys.stderr)
        else:
            self._bar.console.print(line, markup=False, highlight=False)

    def end(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.stop()


class SilentWatch:
    """For all processes but the first."""

    def begin(self, steps: int, done: int) -> None:
        """Say nothing."""

    def step(self, step: int, epoch: int, values: dict[str, float]) -> None:
        """Say nothing."""

    def say(self, line: str) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""


def describe(epoch: int, values: dict[str, float]) -> str:
    """The figures of a step in words."""
    return (
        f"epoch {epoch}, loss {values['loss']:.3f}, accuracy {values['accuracy']:.3f}, "
        f"{values['points_per_second'] / 1000:.1f}k points/s"
    )


def choose_watch(*, first_process: bool) -> Watch:
    """Who watches here."""
    if not first_process:
        return SilentWatch()
    return LiveWatch() if sys.stderr.isatty() else PlainWatch()
