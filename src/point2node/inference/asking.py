"""Run a network on many batches and keep all cores busy from the first batch to the last."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context

import torch
from torch import Tensor

from point2node.core.errors import InputError
from point2node.data.batches import Batch
from point2node.kernels.calling import kernels_are_thread_safe
from point2node.models.network import Network

NODES_AT_ONCE = 4096
"""Nodes in a batch on a CPU: this fits a core's share of the caches, and more are not faster."""
NODES_AT_ONCE_CUDA = 1 << 17


class NonFiniteLogitsError(InputError):
    """A network's output is NaN or infinite: its weights, or the input, are broken."""


def nodes_at_once(network: Network) -> int:
    """Return how many nodes to put into one batch."""
    return NODES_AT_ONCE if device_of(network).type == "cpu" else NODES_AT_ONCE_CUDA


def ask(network: Network, batch: Batch) -> Tensor:
    """Return the probabilities of a batch, on the CPU; the network must be in evaluation mode."""
    return ask_outputs(network, batch).softmax(dim=-1)


def ask_outputs(network: Network, batch: Batch) -> Tensor:
    """Return the output for a batch, on the CPU; raises NonFiniteLogitsError if it is not finite."""
    moved = batch.to(device_of(network))
    with torch.inference_mode():
        logits = network(moved.features, moved.pyramid).float().cpu()
    if not torch.isfinite(logits).all():
        scenes = ", ".join(dict.fromkeys(batch.scenes))
        remedy = "Check the unit of the coordinates (--scale) and points far from the rest, or try other weights."
        raise NonFiniteLogitsError(
            scenes, expected="finite logits of the network", found="NaN or infinite ones", remedy=remedy
        )
    return logits


def answers(
    network: Network, makers: Iterator[Callable[[], Batch]], ask: Callable[[Network, Batch], Tensor] = ask
) -> Iterator[Tensor]:
    """Yield the result of ``ask`` for every batch, in order; by default the probabilities.

    Each batch is made, geometry included, and labelled by one thread on one core. Running every operation on all cores
    takes longer, because they wait for each other at its end. On CUDA, a second thread builds the geometry while the
    device is busy.
    """
    threads = torch.get_num_threads()
    workers = max(2, threads) if device_of(network).type != "cpu" else threads
    try:
        first = next(makers)
    except StopIteration:
        return
    yield ask(network, first())  # also loads the kernels once, before several threads use them
    if workers == 1 or not kernels_are_thread_safe():
        yield from (ask(network, make()) for make in makers)
        return
    waiting: deque[Future[Tensor]] = deque()
    with _one_thread_each(workers) as pool:
        for make in makers:
            waiting.append(pool.submit(copy_context().run, _make_and_ask, network, make, ask))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def choose_device(accelerator: str = "auto") -> torch.device:
    """Return the named device; "auto" is CUDA if available."""
    if accelerator == "auto":
        accelerator = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(accelerator)


def device_of(network: Network) -> torch.device:
    """Return the device of the network's weights."""
    return next(network.parameters()).device


def _make_and_ask(network: Network, make: Callable[[], Batch], ask: Callable[[Network, Batch], Tensor]) -> Tensor:
    return ask(network, make())


@contextmanager
def _one_thread_each(workers: int) -> Iterator[ThreadPoolExecutor]:
    threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)  # new threads get the number that was last set in any thread
