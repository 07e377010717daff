"""Depthwise convolution over the K rows of K×K matrices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from point2node.kernels.calling import check_shape, match_torch_threads, use_kernels
from point2node.models.operators import depthwise_kernels as kernels


def depthwise_over_rows(X: Tensor, weight: Tensor) -> Tensor:
    """Compute Y[r, c, m] = Σ_k X[r, k, c] · weight[k, c, m].

    Shapes: X (R, K, K), weight (K, K, K) → (R, K, K).
    """
    if use_kernels(X, weight):
        K = weight.shape[0]
        check_shape("weight", weight, (K, K, K))
        check_shape("X", X, (len(X), K, K))
        result: Tensor = _FusedDepthwise.apply(X, weight)  # type: ignore[no-untyped-call]
        return result
    # one matrix product per column c, each with R rows: few large products instead of R small ones
    return torch.bmm(X.permute(2, 0, 1), weight.transpose(0, 1)).transpose(0, 1)


class _FusedDepthwise(torch.autograd.Function):
    """The convolution in one pass over the matrices forward and two backward, without transposed copies."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, weight: Tensor) -> Tensor:
        X = X.contiguous()
        ctx.save_for_backward(X, weight)
        out = torch.empty_like(X)
        match_torch_threads()
        by_column = weight.detach().transpose(0, 1).contiguous()  # (c, k, m)
        kernels.forward(X.detach().numpy(), by_column.numpy(), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        X, weight = ctx.saved_tensors
        grad = grad.contiguous()
        d_X = d_weight = None
        match_torch_threads()
        if ctx.needs_input_grad[0]:
            d_X = torch.empty_like(X)
            by_output = weight.detach().permute(1, 2, 0).contiguous()  # (c, m, k)
            kernels.input_gradient(grad.numpy(), by_output.numpy(), d_X.numpy())
        if ctx.needs_input_grad[1]:
            sums = weight.new_empty(kernels.CHUNKS, *weight.shape)
            kernels.weight_gradient(X.detach().numpy(), grad.numpy(), sums.numpy())
            d_weight = sums.sum(dim=0).transpose(0, 1)
        return d_X, d_weight
