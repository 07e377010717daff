"""Calling kernels from torch code: when to use them, with which arrays, and on how many threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numba
import numpy.typing as npt
import torch
from torch import Tensor

_kernels_enabled: ContextVar[bool] = ContextVar("kernels_enabled", default=True)
_in_one_piece: ContextVar[bool] = ContextVar("in_one_piece", default=False)


def use_kernels(*tensors: Tensor) -> bool:
    """Return whether kernels are enabled and the tensors are all on the CPU and all float32 or all float64."""
    dtypes = {tensor.dtype for tensor in tensors}
    return (
        _kernels_enabled.get()
        and all(tensor.device.type == "cpu" for tensor in tensors)
        and (dtypes == {torch.float32} or dtypes == {torch.float64})
    )


@contextmanager
def torch_only() -> Iterator[None]:
    """Use plain torch instead of kernels inside this block, as on CUDA: in the operators and in the geometry."""
    token = _kernels_enabled.set(False)
    try:
        yield
    finally:
        _kernels_enabled.reset(token)


def in_one_piece() -> bool:
    """Return whether an operator must be one expression, because exporters cannot record loops over tiles."""
    return _in_one_piece.get()


@contextmanager
def exportable() -> Iterator[None]:
    """Use the torch forms that an exporter can record for any batch and any number of points."""
    token = _in_one_piece.set(True)
    try:
        with torch_only():
            yield
    finally:
        _in_one_piece.reset(token)


def rows_of(tensor: Tensor) -> npt.NDArray[Any]:
    """Return a contiguous (B, N, ...) tensor as an array (B·N, ...) without copying it."""
    return tensor.detach().flatten(0, 1).numpy()  # type: ignore[no-any-return, unused-ignore]


def check_neighbours(neighbours: Tensor, nodes: int) -> None:
    """Raise IndexError unless every neighbour is the index of a node."""
    if neighbours.numel() == 0:
        return
    smallest, largest = (int(number) for number in neighbours.aminmax())
    if smallest < 0 or largest >= nodes:
        raise IndexError(f"neighbours must be node indices from 0 to {nodes - 1}; found {smallest} to {largest}")


def check_shape(name: str, tensor: Tensor, expected: tuple[int, ...]) -> None:
    """Raise ValueError unless the tensor has the expected shape."""
    if tuple(tensor.shape) != expected:
        raise ValueError(f"{name} must have the shape {expected}, found {tuple(tensor.shape)}")


SAFE_LAYERS = ("omp", "tbb")
"""numba's thread pools that several threads may use at once; its default, "workqueue", then ends the process."""


def match_torch_threads() -> None:
    """Make numba's parallel loops use as many threads as torch; call it before each parallel kernel."""
    available: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set when numba is imported
    wanted = torch.get_num_threads()
    numba.set_num_threads(min(wanted, available))
    if torch.get_num_threads() != wanted:  # numba's first call starts its threads and changes OpenMP's global count
        torch.set_num_threads(wanted)


def kernels_are_thread_safe() -> bool:
    """Return whether several threads may run parallel kernels at once; only meaningful once a kernel has run."""
    try:
        return numba.threading_layer() in SAFE_LAYERS  # type: ignore[attr-defined]
    except ValueError:  # none has run
        return True
