"""A linear map without bias, with a kernel for many rows of few channels, where the library's product is slow."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from point2node.kernels.calling import match_torch_threads, use_kernels
from point2node.models.operators import narrow_linear_kernels as kernels

NARROW = 48
"""Channels up to which the kernel is faster than the library, most of all for 3 channels: local coordinates."""
CHUNKS = 16
"""Partial sums of the weight gradient; fixed, so that the result does not depend on the number of threads."""


def narrow_linear(x: Tensor, weight: Tensor) -> Tensor:
    """Compute x · weightᵀ for x (…, C) and weight (D, C) → (…, D); with the kernel if C and D are both small."""
    if max(weight.shape) > NARROW or not use_kernels(x, weight):
        return F.linear(x, weight)
    result: Tensor = _NarrowLinear.apply(x.reshape(-1, x.shape[-1]), weight)  # type: ignore[no-untyped-call]
    return result.view(*x.shape[:-1], -1)


class _NarrowLinear(torch.autograd.Function):
    """The map in one pass over the rows forward, and one backward for each gradient that is needed."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        x = x.detach().contiguous()
        ctx.save_for_backward(x, weight)
        return _map(x, weight.mT)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        grad = grad.contiguous()
        d_x = d_weight = None
        if ctx.needs_input_grad[0]:
            d_x = _map(grad, weight)
        if ctx.needs_input_grad[1]:
            sums = x.new_empty(CHUNKS, *weight.mT.shape)
            match_torch_threads()
            kernels.weight_gradient(x.numpy(), grad.numpy(), sums.numpy())
            d_weight = sums.sum(dim=0).mT
        return d_x, d_weight


def _map(x: Tensor, weight: Tensor) -> Tensor:
    """Compute x · weight for contiguous x."""
    out = x.new_empty(len(x), weight.shape[1])
    match_torch_threads()
    kernels.map_rows(x.detach().numpy(), weight.detach().contiguous().numpy(), out.numpy())
    return out
