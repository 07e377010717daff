"""Progress on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """A function to be called with how much is done, of how much, and the name of the latest.

    The bar appears with the first call: where there is nothing to do, nothing is shown.
    """
    if not sys.stderr.isatty():
        yield lambda done, total, name: print(f"{label} {done}/{total} {name}", file=sys.stderr, flush=True)
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

    try:
        yield update
    finally:
        bar.stop()
