"""The one switch between the forms of a function: numba kernels, plain torch, and torch without loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
