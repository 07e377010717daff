"""The switches between the forms of an operator: numba kernels, plain torch, and torch without loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

import torch
from torch import Tensor

from point2node.core.errors import InputError, unknown_choice

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
    """Take the plain torch forms inside this block, as on CUDA."""
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


ComputePath = Literal["auto", "cpu", "torch"]


def uses_kernel(path: ComputePath, xyz: Tensor) -> bool:
    """Whether ``path`` means the numba kernel for ``xyz``; "auto" does so for every tensor on the CPU."""
    if path not in get_args(ComputePath):
        raise unknown_choice("path", path, get_args(ComputePath))
    on_cpu = xyz.device.type == "cpu"
    if path == "cpu" and not on_cpu:
        raise InputError(
            "path",
            expected='a tensor on the CPU for "cpu"',
            found=f"one on {xyz.device}",
            remedy='Pass path="auto" or move the tensor with .cpu().',
        )
    return on_cpu and path != "torch"
