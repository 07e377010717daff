"""Progress on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager


def tell(lines: Iterable[str]) -> None:
    """Say something on stderr."""
    for line in lines:
        print(line, file=sys.stderr, flush=True)


def say_compiling() -> None:
    """Why nothing moves for a while."""
    tell(["compiling kernels, once: this may take some minutes"])


@contextmanager
def progress(label: str, *, seconds: float = 0.0) -> Iterator[Callable[[int, int, str], None]]:
    """A function to be called with how much is done, of how much, and the name of the latest.

    The bar appears with the first call and goes when all is done: where there is nothing to do, nothing is shown, and
    what comes next may have a bar of its own. Lines are at least ``seconds`` apart.
    """
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
