"""Appendix A: the cost of the paper's non-local correlation and of a standard non-local operation.

The standard operation (Wang et al., embedded Gaussian) maps a video tensor T×H×W×C to C/2 channels with three 3-D
convolutions of kernel 1, reshapes, correlates, and maps back to C. The paper's works on N×C nodes with C/r channels,
weights the nodes directly and needs no map back.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from benchmarks.measure import Row, alternate
from point2node.models.layers import count_parameters
from point2node.models.point2node.method import NonLocalCorrelation


class StandardNonLocal(nn.Module):
    """The embedded-Gaussian non-local block on (B, C, T, H, W)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.theta, self.phi, self.g = (nn.Conv3d(channels, channels // 2, 1) for _ in range(3))
        self.out = nn.Conv3d(channels // 2, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, T, H, W) → the same shape."""
        theta, phi, g = (layer(x).flatten(2) for layer in (self.theta, self.phi, self.g))
        y = (theta.mT @ phi).softmax(dim=-1) @ g.mT
        return self.out(y.mT.unflatten(2, x.shape[2:]))


def measure() -> list[Row]:
    torch.manual_seed(0)
    B, C, T, H, W = 8, 256, 8, 16, 16
    standard, ours = StandardNonLocal(C), NonLocalCorrelation(C, reduction=8)
    video = torch.randn(B, C, T, H, W, requires_grad=True)
    nodes = torch.randn(B, T * H * W, C, requires_grad=True)
    seconds = alternate(
        {"standard": lambda: standard(video).sum().backward(), "ours": lambda: ours(nodes).sum().backward()}
    )
    N = T * H * W
    standard_macs = N * (4 * C * C // 2 + 2 * N * C // 2)
    return [
        Row(
            "appendix A: time, 8 x 2048 nodes, forward + backward",
            seconds["standard"] / seconds["ours"],
            None,
            "x standard ÷ ours",
        ),
        Row(
            "appendix A: parameters",
            count_parameters(standard) / count_parameters(ours),
            None,
            "x standard ÷ ours",
        ),
        Row("appendix A: multiply-accumulates", standard_macs / ours.macs(N, 0), None, "x standard ÷ ours"),
    ]
