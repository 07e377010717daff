"""χ-conv, PointCNN's convolution on points: one layer, from K neighbours to one representative point."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from point2node.models.batch_norm import BatchNorm
from point2node.models.layers import Dense, gather_nodes, glorot_normal_
from point2node.models.operators.activation_norm import activate_and_normalise_
from point2node.models.operators.chi_product import chi_product, chi_product_edges
from point2node.models.operators.depthwise import depthwise_over_rows
from point2node.models.point2node.design import ChiStart


class DepthwiseOverNeighbours(nn.Module):
    """A depthwise convolution over all K rows of a K×K matrix with multiplier K, then batch norm.

    A layer of the X-transformation of [PointCNN](https://arxiv.org/abs/1801.07791):

        Y[c, m] = Σ_k X[k, c] W[k, c, m]

    Args:
        neighbours: K.
        activation: whether an ELU comes between convolution and batch norm.

    Shapes:
        - X: (R, K, K), for R representative points
        - result: (R, K, K)
    """

    def __init__(self, neighbours: int, *, activation: bool) -> None:
        super().__init__()
        K = neighbours
        self.weight = nn.Parameter(torch.empty(K, K, K))
        glorot_normal_(self.weight, K * K, K * K)
        self.activation = activation
        self.norm = BatchNorm(K * K)

    def forward(self, X: Tensor) -> Tensor:
        """(R, K, K) → (R, K, K), for R representative points."""
        Y = depthwise_over_rows(X, self.weight)
        return activate_and_normalise_(Y.flatten(1), self.norm, activation=self.activation).view_as(X)


class XTransformation(nn.Module):
    """The K×K matrix X of each representative point, from the local coordinates of its K neighbours alone.

    [PointCNN](https://arxiv.org/abs/1801.07791), Algorithm 1, step 4, as its release has it:

        X = depthwise₂(depthwise₁(dense(P′)))

    Args:
        neighbours: K.
        start: the fans that the dense layer is drawn with; see ``Design.chi_start``.

    Shapes:
        - local: (B, P, K, 3), the coordinates P′ of the neighbours relative to their representative point
        - result: (B, P, K, K)
    """

    def __init__(self, neighbours: int, start: ChiStart = "dense") -> None:
        super().__init__()
        K = self.neighbours = neighbours
        self.over_all = Dense(3 * K, K * K)
        if start == "convolution":
            glorot_normal_(self.over_all.linear.weight, 3 * K, K * K * K)
        self.first = DepthwiseOverNeighbours(K, activation=True)
        self.second = DepthwiseOverNeighbours(K, activation=False)

    def forward(self, local: Tensor) -> Tensor:
        """Local coordinates (B, P, K, 3) → X (B, P, K, K)."""
        B, P, K, _ = local.shape
        X = self.over_all(local.reshape(B * P, K * 3)).view(-1, K, K)
        return self.second(self.first(X)).view(B, P, K, K)

    def macs(self, queries: int) -> int:
        """Multiply-accumulates for ``queries`` representative points."""
        return self.over_all.macs(queries) + 2 * queries * self.neighbours**3


class ChiConv(nn.Module):
    """χ-conv: one layer from the K neighbours of each representative point to its features.

    [PointCNN](https://arxiv.org/abs/1801.07791), Algorithm 1, for a representative point p with neighbours P and
    features F:

        P′ = P − p
        F* = [MLP_δ(P′), F]
        X = MLP(P′)
        result = Conv(X F*), separable: depthwise over the K neighbours, then pointwise

    Args:
        neighbours: K.
        in_channels: width of the source points' features; 0 when they have none.
        lifted_channels: C_δ, the width to which local coordinates are lifted.
        out_channels: C.
        multiplier: depth multiplier of the separable convolution over the K neighbours.
        with_global: also lift the representative points' own coordinates to C/4 channels and append them.
        start: the fans that the X-transformation's first layer is drawn with; see ``Design.chi_start``.

    Shapes:
        - queries: (B, P, 3), the representative points
        - points: (B, M, 3), the source points
        - features: (B, M, C_in) of the source points, or None
        - neighbours: (B, P, K), numbers of source points
        - result: (B, P, C), or (B, P, C + C/4) with ``with_global``
    """

    def __init__(
        self,
        neighbours: int,
        in_channels: int,
        lifted_channels: int,
        out_channels: int,
        multiplier: int,
        *,
        with_global: bool = False,
        start: ChiStart = "dense",
    ) -> None:
        super().__init__()
        self.lift = nn.Sequential(Dense(3, lifted_channels), Dense(lifted_channels, lifted_channels))
        self.x_transformation = XTransformation(neighbours, start)
        width = lifted_channels + in_channels
        self.depthwise = nn.Parameter(torch.empty(neighbours, width, multiplier))
        glorot_normal_(self.depthwise, neighbours * width, neighbours * multiplier)
        self.pointwise = Dense(width * multiplier, out_channels)
        quarter = out_channels // 4
        self.global_lift = nn.Sequential(Dense(3, quarter), Dense(quarter, quarter)) if with_global else None
        self.out_channels = out_channels + (quarter if with_global else 0)

    def forward(self, queries: Tensor, points: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
        """Representative points (B, P, 3), source points (B, M, 3) with features (B, M, C_in) → (B, P, C).

        ``neighbours`` (B, P, K) are indices of source points.
        """
        local = gather_nodes(points, neighbours) - queries[:, :, None]  # (B, P, K, 3)
        X = self.x_transformation(local)  # (B, P, K, K)
        lifted = self.lift(local)  # (B, P, K, C_δ)
        C_delta = lifted.shape[-1]
        parts = [chi_product_edges(X, lifted, self.depthwise[:, :C_delta])]
        if features is not None:
            parts.append(chi_product(X, features, neighbours, self.depthwise[:, C_delta:]))
        out = self.pointwise(torch.cat(parts, dim=-1))
        if self.global_lift is not None:
            out = torch.cat([out, self.global_lift(queries)], dim=-1)
        return out

    def macs(self, queries: int) -> int:
        """Multiply-accumulates for ``queries`` representative points, in the order of PointCNN's algorithm."""
        K, width, multiplier = self.depthwise.shape
        total = sum(layer.macs(queries * K) for layer in self.lift if isinstance(layer, Dense))
        total += self.x_transformation.macs(queries)
        total += queries * (K * K * width + K * width * multiplier)  # X · features, then depthwise
        total += self.pointwise.macs(queries)
        if self.global_lift is not None:
            total += sum(layer.macs(queries) for layer in self.global_lift if isinstance(layer, Dense))
        return total
