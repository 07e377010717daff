"""ELU, then batch norm, as one step with a backward pass that recomputes what it can."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.autograd.graph import increment_version
from torch.nn import functional as F

from point2node.geometry.threads import match_torch_threads
from point2node.models.batch_norm import BatchNorm
from point2node.models.operators import activation_norm_kernels as kernels
from point2node.models.operators.switch import use_kernels


def activate_and_normalise_(z: Tensor, norm: BatchNorm, *, activation: bool = True) -> Tensor:
    """norm(elu(z)) for z (…, C), normalised over all axes but the last; without ``activation`` norm(z).

    z may be overwritten, so it must be a result that nobody else reads (autograd notices if somebody does). Only
    elu(z) is kept for the backward pass: both gradients can be had from it.
    """
    in_torch = norm.spans_processes or (torch.is_grad_enabled() and not norm.training)
    if in_torch or not use_kernels(z, norm.weight):
        y = F.elu(z) if activation else z
        return norm(y.flatten(0, -2)).view_as(y)
    rows = z.reshape(-1, z.shape[-1])
    if norm.training:
        _check_rows(rows)
        out, mean, variance = _TrainingNorm.apply(  # type: ignore[no-untyped-call]
            rows, norm.weight, norm.bias, norm.eps, activation
        )
        norm.move_statistics(mean, variance, len(rows))
    else:
        assert norm.running_mean is not None
        assert norm.running_var is not None
        out = rows.contiguous()
        scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
        match_torch_threads()
        kernels.activate_scale_and_shift(activation, *_arrays(out, scale, norm.bias - norm.running_mean * scale))
        increment_version(z)
    return out.view(z.shape)


def _check_rows(rows: Tensor) -> None:
    if len(rows) < 2:
        raise ValueError("batch norm needs more than one row in training, as torch's own does")


class _TrainingNorm(torch.autograd.Function):
    """Batch norm with the statistics of these rows; also returns them."""

    @staticmethod
    def forward(
        ctx: Any, z: Tensor, weight: Tensor, bias: Tensor, eps: float, activation: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        y = z.detach().contiguous()
        match_torch_threads()
        mean, variance = _joined_moments(activation, y)
        if activation:
            increment_version(z)
        inverse = (variance + eps).rsqrt()
        scale = weight.double() * inverse
        out = torch.empty_like(y)
        kernels.scale_and_shift(*_arrays(y, scale.to(y), (bias.double() - mean * scale).to(y), out))
        ctx.save_for_backward(y, weight, mean, inverse)
        ctx.activation = activation
        statistics = mean.to(y), variance.to(y)
        ctx.mark_non_differentiable(*statistics)
        return out, *statistics

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _mean: Tensor, _variance: Tensor) -> tuple[Tensor | None, ...]:
        y, weight, mean, inverse = ctx.saved_tensors
        grad = grad.contiguous()
        match_torch_threads()
        sums, products = kernels.tile_gradient_sums(*_arrays(grad, y, mean.to(y)))
        d_bias = torch.from_numpy(sums).double().sum(0)
        d_weight = torch.from_numpy(products).double().sum(0) * inverse
        # with ŷ = (y − mean)·inverse:  dy = weight·inverse · (grad − d_bias/M − ŷ·d_weight/M) = a·grad + b·y + d
        a = weight.double() * inverse
        b = -a * inverse * d_weight / len(y)
        d = -a * d_bias / len(y) - b * mean
        dz = torch.empty_like(y)
        kernels.input_gradient(ctx.activation, *_arrays(grad, y, a.to(y), b.to(y), d.to(y), dz))
        return dz, d_weight.to(y), d_bias.to(y), None, None


def _joined_moments(activation: bool, y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and biased variance of each channel in double precision, from those of the tiles; y is activated."""
    parts = kernels.activate_and_take_moments(activation, y.numpy())
    counts, means, deviations = (torch.from_numpy(part).double() for part in parts)
    counts = counts[:, None]
    mean = (counts * means).sum(0) / len(y)
    variance = (deviations + counts * (means - mean).square()).sum(0) / len(y)
    return mean, variance


def _arrays(*tensors: Tensor) -> tuple[Any, ...]:
    return tuple(tensor.detach().numpy() for tensor in tensors)
