"""PointNeXt-S (Qian et al., NeurIPS 2022, arXiv:2206.04670): PointNet++ with residual abstractions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional as F

from point2node.geometry.pyramid import Pyramid
from point2node.models.batch_norm import BatchNorm
from point2node.models.layers import Head, gather_nodes
from point2node.models.operators.activation_norm import activate_and_normalise_
from point2node.models.reference.hierarchy import (
    Abstraction,
    HierarchicalClassifier,
    HierarchicalSegmenter,
    Hierarchy,
    group_in_ball,
    join_grouped,
    level_sizes,
)
from point2node.models.reference.network import NormalisedDense, join_features
from point2node.models.reference.pointnet2_ssg import SetAbstraction
from point2node.models.sizes import Size

WIDTH = 32
"""Width of the stem; every sampled level doubles it."""
K = 32
"""Neighbours in every ball."""


@dataclass(frozen=True)
class Levels:
    """The sampled levels, with shares of the cloud's points, and the ball radius of the first."""

    shares: tuple[int, ...]
    radius: float
    growth: float
    """The radius of a level divided by that of the previous level."""


SEGMENTER = Levels((4, 16, 64, 256), 0.1, 2.0)
CLASSIFIER = Levels((2, 4, 8, 16), 0.15, 1.5)
"""The released configurations for S3DIS and ModelNet40."""


class ResidualAbstraction(Abstraction):
    """A set abstraction with a shortcut from the centre.

    [PointNeXt-S](https://arxiv.org/abs/2206.04670), for the neighbours j of a centre i in a ball of radius r:

        x′_i = ReLU(max over j of h([(p_j − p_i) / r, x_j]) + W x_i),  h of two layers

    Args:
        radius: r.
        in_channels: C_in.
        out_channels: C.

    Shapes:
        - queries, points, features, result: see ``Abstraction``
        - neighbours: (B, P, K), indices of source points; a centre is its own first neighbour
    """

    def __init__(self, radius: float, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.neighbours = K
        self.radius = radius
        self.out_channels = out_channels
        self.first = NormalisedDense(3 + in_channels, out_channels // 2)
        self.second = nn.Linear(out_channels // 2, out_channels, bias=False)
        self.norm = BatchNorm(out_channels, eps=1e-5, momentum=0.1)
        self.shortcut = nn.Linear(in_channels, out_channels)

    def forward(self, queries: Tensor, points: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
        """See ``Abstraction``; a centre is its own first neighbour."""
        assert features is not None
        own = self.shortcut(gather_nodes(features, neighbours[..., 0]))
        neighbours, offsets = group_in_ball(queries, points, neighbours, self.radius)
        grouped = join_grouped(offsets / self.radius, features, neighbours)
        edges = activate_and_normalise_(self.second(self.first(grouped)), self.norm, activation=False)
        return F.relu(edges.max(dim=2).values + own)

    def macs(self, queries: int) -> int:
        """Count the multiply-accumulates for ``queries`` centres."""
        edges = queries * self.neighbours
        second = self.second.in_features * self.second.out_features
        return self.first.macs(edges) + edges * second + queries * self.shortcut.in_features * self.out_channels


def residual_layers(levels: Levels) -> list[ResidualAbstraction]:
    """Make one abstraction for each sampled level: 32 → 64 → 128 → …"""
    return [
        ResidualAbstraction(levels.radius * levels.growth**number, WIDTH * 2**number, WIDTH * 2 ** (number + 1))
        for number in range(len(levels.shares))
    ]


class PointNext(Hierarchy):
    """Residual abstractions after a linear stem: shared by segmenter and classifier.

    [PointNeXt-S](https://arxiv.org/abs/2206.04670); the stem takes xyz or only the last coordinates:

        F_0 = W [coordinates, features] + b

    Shapes:
        - features: (B, N, in_features), or None
        - logits: see the segmenter and the classifier
    """

    stem: nn.Linear

    def _input(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        first = 3 + self.in_features - self.stem.in_features
        return self.stem(join_features(pyramid.levels[0][..., first:], features))

    def _body_macs(self, points: int) -> int:
        return super()._body_macs(points) + points * self.stem.in_features * WIDTH


class PointNextSegmenter(PointNext, HierarchicalSegmenter):
    """A label for every point; the propagation has the encoder's widths.

    [PointNeXt-S](https://arxiv.org/abs/2206.04670) for scenes. The stem reads heights and features:

        F_0 = W [z, features] + b

    Args:
        size: the points of the clouds, of which the levels are shares, and their classes and features.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    def __init__(self, size: Size) -> None:
        widths = [WIDTH * 2**level for level in range(len(SEGMENTER.shares))]
        head = Head(WIDTH, (WIDTH,), (0.5,), size.num_classes, NormalisedDense)
        sizes, layers = level_sizes(SEGMENTER.shares, size.points), residual_layers(SEGMENTER)
        super().__init__(layers, sizes, size.in_features, WIDTH, [(width, width) for width in reversed(widths)], head)
        self.stem = nn.Linear(1 + size.in_features, WIDTH)


class PointNextClassifier(PointNext, HierarchicalClassifier):
    """One label for the whole cloud, which is the single group of a two-layer PointNet.

    [PointNeXt-S](https://arxiv.org/abs/2206.04670) for shapes. The stem reads coordinates and features:

        F_0 = W [xyz, features] + b

    Args:
        size: the points of the clouds, of which the levels are shares, and their classes and features.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes)
    """

    def __init__(self, size: Size) -> None:
        sizes, layers = level_sizes(CLASSIFIER.shares, size.points), residual_layers(CLASSIFIER)
        channels = layers[-1].out_channels
        head = Head(channels, (512, 256), (0.5, 0.5), size.num_classes, NormalisedDense)
        whole = SetAbstraction(sizes[-1], math.inf, channels, (channels, channels))
        super().__init__(layers, sizes, size.in_features, whole, head)
        self.stem = nn.Linear(3 + size.in_features, WIDTH)


def build_pointnext_s(size: Size) -> Hierarchy:
    """Build PointNeXt-S for the task, points, classes and features of a size."""
    return PointNextClassifier(size) if size.task == "classification" else PointNextSegmenter(size)
