"""Which of the two forms of a geometry function runs: the numba kernel or pure torch."""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor

from point2node.core.errors import InputError, unknown_choice

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
