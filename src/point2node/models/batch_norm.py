"""Batch norm with running statistics that are right from the first step, in one process or over several."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional as F


class BatchNorm(nn.BatchNorm1d):
    """[Batch norm](https://arxiv.org/abs/1502.03167) with running statistics that are right from the first step.

        y = γ (x − mean) / √(variance + ε) + β

    The running statistics are a plain mean over the first 1 / momentum batches, then an exponential moving average.
    With the usual start at mean 0 and variance 1 it would take a thousand steps to forget the initial values: lifted
    local coordinates have variances of about 0.01, so after a short training evaluation would differ from training.

    Args:
        channels: C.
        eps: ε; the default is that of [PointCNN](https://arxiv.org/abs/1801.07791).
        momentum: the weight of a new batch in the running statistics; the default is TensorFlow's momentum of 0.99,
            which PyTorch writes as 0.01.

    Shapes:
        - x: (M, C), normalised over the M rows
        - result: (M, C)
    """

    synchronised = False
    """In training, compute the statistics over the rows of all processes."""

    def __init__(self, channels: int, *, eps: float = 1e-3, momentum: float = 0.01) -> None:
        super().__init__(channels, eps=eps, momentum=momentum)

    @property
    def spans_processes(self) -> bool:
        """Return whether the next forward pass exchanges statistics with other processes."""
        return (
            self.synchronised
            and self.training
            and distributed.is_available()
            and distributed.is_initialized()
            and distributed.get_world_size() > 1
        )

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each channel of (M, C)."""
        if self.spans_processes:
            return self._normalise_together(x)
        weight = self.count_batch() if self.training else 0.0
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, self.training, weight, self.eps
        )

    def count_batch(self) -> float:
        """Count one more batch and return the weight of its statistics in the running statistics."""
        assert self.num_batches_tracked is not None
        assert self.momentum is not None
        self.num_batches_tracked.add_(1)
        return max(self.momentum, 1 / int(self.num_batches_tracked))

    @torch.no_grad()
    def move_statistics(self, mean: Tensor, variance: Tensor, rows: Tensor | int) -> None:
        """Update the running statistics with those of a batch; the running variance is unbiased."""
        assert self.running_mean is not None
        assert self.running_var is not None
        weight = self.count_batch()
        self.running_mean.lerp_(mean, weight)
        self.running_var.lerp_(variance * (rows / (rows - 1)), weight)

    def _normalise_together(self, x: Tensor) -> Tensor:
        """Normalise with the statistics of all processes: first the mean, then the variance about it, for precision."""
        rows = x.to(self.weight.dtype)  # (M, C); half-precision rows are summed in the weights' precision
        sums = sum_over_processes(torch.cat([rows.sum(dim=0), rows.new_tensor([len(rows)])]))
        count = sums[-1].detach()
        mean = sums[:-1] / count
        centred = rows - mean
        variance = sum_over_processes(centred.square().sum(dim=0)) / count
        self.move_statistics(mean.detach(), variance.detach(), count)
        return (centred * ((variance + self.eps).rsqrt() * self.weight) + self.bias).to(x.dtype)


def synchronise_batch_norms(model: nn.Module) -> None:
    """Make all batch norms of the model share their statistics between the processes that train it."""
    for module in model.modules():
        if isinstance(module, BatchNorm):
            module.synchronised = True


def sum_over_processes(x: Tensor) -> Tensor:
    """Sum x over all processes; the gradient of each process' sum flows back to x in every process."""
    result: Tensor = _SumOverProcesses.apply(x)  # type: ignore[no-untyped-call]
    return result


class _SumOverProcesses(torch.autograd.Function):
    """The same sum forward and backward: d(Σ losses)/dx is the sum of the gradients of all processes' losses."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        total = grad.clone()
        distributed.all_reduce(total)
        return total
