"""A whole χ-conv layer, forward and backward, against the form that other packages use.

``GroupedChiConv`` is that form: channels first, with grouped ``Conv1d`` as depthwise convolutions, like ``XConv`` of
PyTorch Geometric. It has the same weights, and the benchmark stops if its result differs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.measure import Row, alternate
from point2node.geometry.neighbours import dilated_k_nearest_neighbours
from point2node.models.layers import Dense, gather_nodes
from point2node.models.point2node.chi_conv import ChiConv, DepthwiseOverNeighbours


@dataclass(frozen=True)
class Case:
    """One layer: clouds, source points, representative points, K, dilation and widths."""

    clouds: int
    points: int
    queries: int
    neighbours: int
    dilation: int
    in_channels: int
    out_channels: int

    @property
    def name(self) -> str:
        """Return the name of the layer, from its widths."""
        return f"chi-conv {self.in_channels}->{self.out_channels}, forward + backward"


CASES = (
    Case(8, 1024, 384, 12, 2, 48, 96),
    Case(8, 2048, 2048, 16, 1, 256, 256),
    Case(8, 2048, 2048, 8, 1, 64, 256),
)


class GroupedChiConv(nn.Module):
    """χ-conv in channels-first form with grouped convolutions."""

    def __init__(self, twin: ChiConv) -> None:
        super().__init__()
        self.twin = twin
        K, width, multiplier = twin.depthwise.shape
        self.first = self._grouped(twin.x_transformation.first)
        self.second = self._grouped(twin.x_transformation.second)
        self.depthwise = nn.Conv1d(width, width * multiplier, K, groups=width, bias=False)
        self.depthwise.weight.data.copy_(twin.depthwise.permute(1, 2, 0).reshape(width * multiplier, 1, K))

    @staticmethod
    def _grouped(part: DepthwiseOverNeighbours) -> nn.Conv1d:
        K = len(part.weight)
        convolution = nn.Conv1d(K, K * K, K, groups=K, bias=False)
        convolution.weight.data.copy_(part.weight.permute(1, 2, 0).reshape(K * K, 1, K))
        return convolution

    def forward(self, queries: Tensor, points: Tensor, features: Tensor, neighbours: Tensor) -> Tensor:
        """See ``ChiConv.forward``."""
        B, P, K = neighbours.shape
        twin, transformation = self.twin, self.twin.x_transformation
        local = (gather_nodes(points, neighbours) - queries[:, :, None]).flatten(0, 1)
        lifted = local
        for layer in twin.lift:
            assert isinstance(layer, Dense)
            lifted = _plain_dense(layer, lifted)
        x = torch.cat([lifted, gather_nodes(features, neighbours).flatten(0, 1)], dim=-1)
        X = _plain_dense(transformation.over_all, local.flatten(1)).view(-1, K, K).transpose(1, 2)
        X = _plain_norm(transformation.first.norm, F.elu(self.first(X).flatten(1)))
        X = _plain_norm(transformation.second.norm, self.second(X.view(-1, K, K).transpose(1, 2)).flatten(1))
        x = self.depthwise((X.view(-1, K, K) @ x).transpose(1, 2)).flatten(1)
        return _plain_dense(twin.pointwise, x).view(B, P, -1)


def _plain_dense(layer: Dense, x: Tensor) -> Tensor:
    return _plain_norm(layer.norm, F.elu(F.linear(x, layer.linear.weight)))


def _plain_norm(norm: nn.BatchNorm1d, x: Tensor) -> Tensor:
    y = F.batch_norm(x.flatten(0, -2), None, None, norm.weight, norm.bias, training=True, eps=norm.eps)
    return y.view_as(x)


def measure_case(case: Case) -> Row:
    """Measure how many times faster ``ChiConv`` is than ``GroupedChiConv``."""
    torch.manual_seed(0)
    multiplier = -(-case.out_channels // case.in_channels)
    layer = ChiConv(case.neighbours, case.in_channels, case.in_channels // 4, case.out_channels, multiplier)
    grouped = GroupedChiConv(layer)
    points = torch.rand(case.clouds, case.points, 3)
    queries = points[:, : case.queries].contiguous()
    neighbours = dilated_k_nearest_neighbours(queries, points, case.neighbours, case.dilation)
    features = torch.randn(case.clouds, case.points, case.in_channels, requires_grad=True)
    torch.testing.assert_close(
        layer(queries, points, features, neighbours),
        grouped(queries, points, features, neighbours),
        rtol=1e-3,
        atol=1e-3,
    )

    def step(module: nn.Module) -> None:
        module.zero_grad(set_to_none=True)
        features.grad = None
        module(queries, points, features, neighbours).sum().backward()

    seconds = alternate({"ours": lambda: step(layer), "grouped": lambda: step(grouped)})
    return Row(case.name, seconds["grouped"] / seconds["ours"], 6.0, "x faster than grouped convolutions", 12.0)


def measure() -> list[Row]:
    return [measure_case(case) for case in CASES]
