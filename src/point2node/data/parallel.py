"""One function over many items in worker processes that end with the process that started them."""

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
    """The place of each item and its result, as they come; ``workers`` defaults to one for each core.

    The first error ends it: what waits is cancelled, what runs is finished.
    """
    count = min(workers or os.cpu_count() or 1, len(items))
    if count <= 1:
        yield from ((place, function(item)) for place, item in enumerate(items))
        return
    spawn = multiprocessing.get_context("spawn")  # a fork would copy the locks of threads that it does not copy
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
                found="one that the system ended",
                remedy="Use a smaller --workers.",
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def leaving_main_alone(*sent: object) -> Iterator[None]:
    """Inside, processes are spawned without running the program's main file again.

    They would do so to find what is defined there. A script without ``if __name__ == "__main__":`` would then start
    itself again in each of them, and wait for itself. What is ``sent`` to them comes from modules, as a rule; where it
    is of the main file, that is run as usual.
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
    """Leave Ctrl-C to the parent, and never outlive it: an orphan would go on writing beside the next run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
