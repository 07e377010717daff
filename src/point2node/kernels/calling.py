"""How torch code calls kernels: whether it does, with which arrays, and on how many threads."""

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
    """Whether to run a kernel on these: enabled, all on the CPU, and all float32 or all float64."""
    dtypes = {tensor.dtype for tensor in tensors}
    return (
        _kernels_enabled.get()
        and all(tensor.device.type == "cpu" for tensor in tensors)
        and (dtypes == {torch.float32} or dtypes == {torch.float64})
    )


@contextmanager
def torch_only() -> Iterator[None]:
    """Take the plain torch forms inside this block, as on CUDA: of the network's operators and of the geometry."""
    token = _kernels_enabled.set(False)
    try:
        yield
    finally:
        _kernels_enabled.reset(token)


def in_one_piece() -> bool:
    """Whether an operator has to be one expression, whatever memory it takes: loops over tiles end in no graph."""
    return _in_one_piece.get()


@contextmanager
def exportable() -> Iterator[None]:
    """Take the torch forms that an exporter can record for any batch and any number of points."""
    token = _in_one_piece.set(True)
    try:
        with torch_only():
            yield
    finally:
        _in_one_piece.reset(token)


def rows_of(tensor: Tensor) -> npt.NDArray[Any]:
    """The array of a contiguous (B, N, ...) tensor with all clouds counted through: (B·N, ...), no copy."""
    return tensor.detach().flatten(0, 1).numpy()  # type: ignore[no-any-return, unused-ignore]


def check_neighbours(neighbours: Tensor, nodes: int) -> None:
    """Raise IndexError unless every neighbour is the number of a node."""
    if neighbours.numel() == 0:
        return
    smallest, largest = (int(number) for number in neighbours.aminmax())
    if smallest < 0 or largest >= nodes:
        raise IndexError(
            f"neighbours must be numbers from 0 to {nodes - 1}, the nodes there are; found {smallest} to {largest}"
        )


def check_shape(name: str, tensor: Tensor, expected: tuple[int, ...]) -> None:
    """Raise ValueError unless the tensor has the expected shape."""
    if tuple(tensor.shape) != expected:
        raise ValueError(f"{name} must have the shape {expected}, found {tuple(tensor.shape)}")


SAFE_LAYERS = ("omp", "tbb")
"""numba's thread pools that several threads may use at a time; its own, "workqueue", ends the process if they do."""


def match_torch_threads() -> None:
    """Let numba's parallel loops use as many threads as torch does; call it before a parallel kernel."""
    available: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set when numba is imported
    wanted = torch.get_num_threads()
    numba.set_num_threads(min(wanted, available))
    if torch.get_num_threads() != wanted:  # numba's first call starts its threads and sets OpenMP's count for all
        torch.set_num_threads(wanted)


def kernels_bear_threads() -> bool:
    """Whether several threads may run parallel kernels at a time; known once one has run, so that is when to ask."""
    try:
        return numba.threading_layer() in SAFE_LAYERS  # type: ignore[attr-defined]
    except ValueError:  # none has
        return True
