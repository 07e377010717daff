"""Label many scans on the workers of a Dask cluster; a scan that kills its workers does not stop the others."""

from __future__ import annotations

import logging
import math
import os
import pickle
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import dask
import distributed
import torch

from point2node._version import __version__
from point2node.core.errors import InputError
from point2node.core.memory import FREE_SHARE, free_memory, memory_limit, memory_limited, ran_out_of_memory
from point2node.inference.jobs import MOST_TRIES, OUT_OF_MEMORY

Item = TypeVar("Item")
Result = TypeVar("Result")

LOCAL = "local:"
MOST_LOCAL = 512
PATIENCE = "30s"
"""How long to wait for a scheduler."""
ONE_SCAN_EACH = {
    "distributed.scheduler.allowed-failures": 0,  # tries are counted here, where each can be given less memory
    "distributed.worker.memory.target": False,  # workers keep nothing that could be spilled, and a worker that
    "distributed.worker.memory.spill": False,  # pauses for lack of memory would never resume: its memory is only
    "distributed.worker.memory.pause": False,  # freed by the scan that it labels
}

IGNORE_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Ctrl+C also reaches workers on the same terminal; the command itself stops them."""


class ClusterLostError(RuntimeError):
    """The scheduler is gone, and all pending work with it."""


@dataclass(frozen=True)
class Failure:
    """The reason why there is no result for an item."""

    reason: str


@dataclass(frozen=True)
class Cluster:
    """Workers that label scans."""

    client: Any
    at_once: int | None = None
    """How many scans are submitted at a time; None for all, so that clusters can grow with the queue."""
    threads: int | None = None
    """Threads per worker; None for as many as it was started with."""
    memory: int | None = None
    """Bytes per worker; None for what it was started with."""

    @property
    def workers(self) -> int:
        """The current number of workers."""
        return len(self.client.nthreads())


@contextmanager
def connected(address: str, memory: int | None = None) -> Iterator[Cluster]:
    """Connect to a cluster: ``local:4`` starts 4 workers here, other addresses are a running scheduler's or its file.

    ``memory`` is the number of bytes that local workers share, or that each remote worker may hold.
    """
    if address.startswith(LOCAL):
        with _local_cluster(_read_count(address), memory) as cluster:
            yield cluster
        return
    file = address if "://" not in address and Path(address).is_file() else None
    try:
        where = {"scheduler_file": file} if file else {"address": address}
        client = distributed.Client(**where, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        expected = "local:4, or the address or scheduler file of a Dask scheduler that answers"
        raise InputError("--cluster", expected=expected, found=f"{address} ({_one_line(error)})") from error
    with _without_logs(), client:  # closing also logs
        _check_versions(client)
        yield Cluster(client, memory=memory)


@contextmanager
def _without_logs() -> Iterator[None]:
    """Silence Dask, which logs a traceback for every try to reach a lost scheduler; the final error is one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _read_count(address: str) -> int:
    text = address.removeprefix(LOCAL)
    if not (text.isdecimal() and 1 <= int(text) <= MOST_LOCAL):
        raise InputError("--cluster", expected=f"local:1 to local:{MOST_LOCAL}", found=address)
    return int(text)


@contextmanager
def _local_cluster(workers: int, memory: int | None) -> Iterator[Cluster]:
    """Start workers on this machine that share its cores and memory and only listen locally."""
    threads = max(1, dask.system.CPU_COUNT // workers)
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    share = (int(FREE_SHARE * free_memory()) if memory is None else memory) // workers
    environment = {"distributed.nanny.pre-spawn-environ": dict.fromkeys(names, str(threads))}
    with (
        _environment_kept(names),
        dask.config.set(ONE_SCAN_EACH | environment),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=math.ceil(share / FREE_SHARE),  # workers that take much more than planned are killed
            preload=[IGNORE_INTERRUPTS],
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield Cluster(client, workers, threads, share)


@contextmanager
def _environment_kept(names: Sequence[str]) -> Iterator[None]:
    """Restore environment variables: Dask also sets those for workers in this process, and numba refuses changes."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _check_versions(client: Any) -> None:
    """Raise InputError if a worker lacks the package or has another version."""
    expected = f"point2node {__version__} on every worker"
    try:
        versions: dict[str, str] = client.run(_own_version)
    except Exception as error:  # whatever a worker without the package raises
        raise InputError("--cluster", expected=expected, found=_one_line(error)) from error
    for worker, version in versions.items():
        if version != __version__:
            raise InputError("--cluster", expected=expected, found=f"{version} on {worker}")


def _own_version() -> str:
    return __version__


class _Shared(distributed.WorkerPlugin):  # type: ignore[misc]
    """The data shared by all tasks: sent once to each worker, including later ones, and unpacked there once."""

    def __init__(self, value: object, threads: int | None, memory: int | None) -> None:
        self.name = f"point2node-{uuid.uuid4().hex}"
        self.threads, self.memory = threads, memory
        self._packed = pickle.dumps(value)

    def setup(self, worker: Any) -> None:
        """Prepare the worker; unpacking here would keep it from answering."""
        self._worker = worker
        self._turn = threading.Lock()
        self._unpacked: list[object] = []

    def call(self, function: Callable[[Any, Item, int], Result], item: Item, tries: int) -> Result:
        """Call the function with the shared value, one call at a time, with this worker's threads and memory."""
        with self._turn:  # a worker with several threads would start several scans
            if not self._unpacked:
                self._unpacked.append(pickle.loads(self._packed))
            torch.set_num_threads(self.threads or self._worker.state.nthreads)
            with memory_limited(self._limit(tries)):
                try:
                    return function(self._unpacked[0], item, tries)
                except RuntimeError as error:
                    if ran_out_of_memory(error):
                        raise MemoryError(_one_line(error)) from error
                    raise

    def _limit(self, tries: int) -> int | None:
        """Halve the memory for each further try, so that a scan is cut into smaller strips."""
        given = self._worker.memory_manager.memory_limit
        limits = [limit for limit in (self.memory, int(FREE_SHARE * (given or 0))) if limit]
        limit = min(limits, default=None)
        return memory_limit(limit) >> tries if tries else limit


def _call(name: str, function: Callable[[Any, Item, int], Result], item: Item, tries: int) -> Result:
    result: Result = distributed.get_worker().plugins[name].call(function, item, tries)
    return result


def spread(
    cluster: Cluster, function: Callable[[Any, Item, int], Result], shared: object, items: Sequence[Item]
) -> Iterator[tuple[int, Result | Failure]]:
    """Yield the index of each item and the result of ``function(shared, item, tries)`` on some worker, as they finish.

    If a worker dies or runs out of memory, its item is tried again on another worker with less memory, and given up
    after three tries.
    """
    client = cluster.client
    plugin = _Shared(shared, cluster.threads, cluster.memory)
    client.register_plugin(plugin)
    waiting = deque((place, 0) for place in range(len(items)))
    running: dict[Any, tuple[int, int]] = {}
    completed = distributed.as_completed(loop=client.loop)

    def hand_out() -> None:
        while waiting and (cluster.at_once is None or len(running) < cluster.at_once):
            place, tries = waiting.popleft()
            key = f"label-{uuid.uuid4().hex}"
            future = client.submit(_call, plugin.name, function, items[place], tries, key=key, pure=False)
            running[future] = place, tries
            completed.add(future)

    try:
        hand_out()
        for future in completed:
            place, tries = running.pop(future)
            if future.status == "finished":
                yield place, future.result()
            elif future.status != "error":
                raise ClusterLostError(f"the scheduler gave a scan up: {future.status}")
            else:
                error = future.exception()
                tries += error.allowed_failures + 1 if isinstance(error, distributed.KilledWorker) else 1
                again = isinstance(error, (distributed.KilledWorker, MemoryError)) and tries < MOST_TRIES
                if again:
                    waiting.append((place, tries))
                else:
                    yield place, Failure(_reason(error, tries))
            hand_out()
    finally:
        if client.status == "running":  # otherwise the scheduler is gone
            client.cancel(list(running), force=True)
            client.unregister_worker_plugin(plugin.name)


def _reason(error: BaseException, tries: int) -> str:
    if isinstance(error, distributed.KilledWorker):
        return f"the processes that labelled it died, {tries} of them: out of memory, or a fault of a library"
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    return f"{type(error).__name__}: {_one_line(error)}"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
