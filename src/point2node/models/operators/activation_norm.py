"""ELU, then batch norm, as one step with a backward pass that recomputes what it can."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.autograd.graph import increment_version
from torch.nn import functional as F

from point2node.kernels.calling import match_torch_threads, use_kernels
from point2node.models.batch_norm import BatchNorm
from point2node.models.operators import activation_norm_kernels as kernels

WIDE = 96
"""Channels from which on a row is wide enough for the kernels' loops."""


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
        statistics = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
        weight, bias, mean, variance = (one.detach().numpy() for one in statistics)
        (wide,) = _widened(out)
        match_torch_threads()
        kernels.activate_and_normalise(activation, wide, weight, bias, mean, variance, norm.eps)
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
        kernels.scale_and_shift(*_widened(y, out, channels=(scale.to(y), (bias.double() - mean * scale).to(y))))
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
        sums, products = (
            torch.from_numpy(part).view(-1, y.shape[1]).double().sum(0)
            for part in kernels.tile_gradient_sums(*_widened(grad, y, channels=(mean.to(y),)))
        )
        d_bias, d_weight = sums, products * inverse
        # with ŷ = (y − mean)·inverse:  dy = weight·inverse · (grad − d_bias/M − ŷ·d_weight/M) = a·grad + b·y + d
        a = weight.double() * inverse
        b = -a * inverse * d_weight / len(y)
        d = -a * d_bias / len(y) - b * mean
        dz = torch.empty_like(y)
        kernels.input_gradient(ctx.activation, *_widened(grad, y, dz, channels=(a.to(y), b.to(y), d.to(y))))
        return dz, d_weight.to(y), d_bias.to(y), None, None


def _joined_moments(activation: bool, y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and biased variance of each channel in double precision, from those of the tiles; y is activated."""
    (wide,) = _widened(y)
    parts = kernels.activate_and_take_moments(activation, wide)
    counts, means, deviations = (torch.from_numpy(part).double() for part in parts)
    side_by_side = wide.shape[1] // y.shape[1]
    counts = counts.repeat_interleave(side_by_side)[:, None]
    means, deviations = means.view(-1, y.shape[1]), deviations.view(-1, y.shape[1])
    mean = (counts * means).sum(0) / len(y)
    variance = (deviations + counts * (means - mean).square()).sum(0) / len(y)
    return mean, variance


def _widened(*rows: Tensor, channels: tuple[Tensor, ...] = ()) -> tuple[Any, ...]:
    """Rows (M, C), then numbers (C,) for each channel, as the arrays of wider and fewer rows.

    Narrow rows lie side by side in memory as one wide row: loops over 12 channels would take twice as long.
    """
    M, C = rows[0].shape
    side_by_side = 1
    while side_by_side * C < WIDE and M % (2 * side_by_side) == 0:
        side_by_side *= 2
    wide = (tensor.detach().view(M // side_by_side, side_by_side * C).numpy() for tensor in rows)
    return (*wide, *(np.tile(tensor.detach().numpy(), side_by_side) for tensor in channels))
