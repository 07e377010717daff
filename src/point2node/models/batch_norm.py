"""Batch norm with PointCNN's numbers and running statistics that are right from the first step."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class BatchNorm(nn.BatchNorm1d):
    """Batch norm over rows (M, C), with TensorFlow's momentum (0.99, PyTorch's 0.01) and ε as in PointCNN.

    The running statistics are a plain mean of the first 100 batches and an exponential one from then on. Started at
    mean 0 and variance 1, as usual, they would take a thousand steps to forget that start: lifted local coordinates
    have variances of a hundredth, and evaluation after a short training would be far from training.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(channels, eps=1e-3, momentum=0.01)

    def count_batch(self) -> float:
        """Count one more batch; the weight of its statistics in the running ones."""
        assert self.num_batches_tracked is not None
        assert self.momentum is not None
        self.num_batches_tracked.add_(1)
        return max(self.momentum, 1 / int(self.num_batches_tracked))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each channel of (M, C)."""
        weight = self.count_batch() if self.training else 0.0
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, self.training, weight, self.eps
        )
