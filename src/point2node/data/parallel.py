"""Mapping a function over many items in worker processes that end with their parent."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from point2node.core.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_unordered(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int | None = None
) -> Iterator[tuple[int, Result]]:
    """Yield the index of each item and its result, in order of completion; ``workers`` defaults to one per core.

    The first error ends it: waiting items are cancelled, running ones are finished.
    """
    count = min(workers or os.cpu_count() or 1, len(items))
    if count <= 1:
        yield from ((place, function(item)) for place, item in enumerate(items))
        return
    spawn = multiprocessing.get_context("spawn")  # a fork would copy locks held by threads that it does not copy
    with ProcessPoolExecutor(count, mp_context=spawn, initializer=follow_parent) as pool:
        with leaving_main_alone(function, items):
            places = {pool.submit(function, item): place for place, item in enumerate(items)}
        try:
            for future in as_completed(places):
                yield places[future], future.result()
        except BrokenProcessPool as error:
            raise InputError(
                "worker process",
                expected="enough memory for all workers",
                found="one that was killed by the system",
                remedy="Use a smaller --workers.",
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def leaving_main_alone(*sent: object) -> Iterator[None]:
    """Spawn processes inside this context without running the program's main file again.

    They would run it to find what is defined there. A script without ``if __name__ == "__main__":`` would then start
    itself again in each of them, and wait for itself. If anything ``sent`` to them is defined in the main file, it is
    run as usual.
    """
    main = sys.modules["__main__"]
    names = ("__file__", "__spec__") if b"__main__" not in pickle.dumps(sent) else ()
    hidden = {name: vars(main)[name] for name in names if name in vars(main)}
    try:
        for name in hidden:
            setattr(main, name, None)
        yield
    finally:
        for name, value in hidden.items():
            setattr(main, name, value)


def follow_parent() -> None:
    """Leave Ctrl-C to the parent, and end with it: an orphan would keep writing alongside the next run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
