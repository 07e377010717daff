"""PointNet++ with single-scale grouping (Qi et al., NeurIPS 2017, arXiv:1706.02413)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from torch import Tensor

from point2node.models.layers import Head
from point2node.models.reference.hierarchy import (
    Abstraction,
    HierarchicalClassifier,
    HierarchicalSegmenter,
    Hierarchy,
    group_in_ball,
    join_grouped,
    level_sizes,
    stack,
)
from point2node.models.reference.network import Mlp, NormalisedDense
from point2node.models.sizes import Size


class Row(Protocol):
    """A row of a network's table."""

    @property
    def share(self) -> int:
        """The level has one of every ``share`` points of the cloud."""


R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Ball:
    """One row SA(points, radius, widths) of the paper's table (Appendix B)."""

    share: int
    """The level has one of every ``share`` points of the cloud: the paper's sizes for clouds of the presets' sizes."""
    neighbours: int
    radius: float
    widths: tuple[int, ...]


CLASSIFIER = (Ball(2, 32, 0.2, (64, 64, 128)), Ball(8, 64, 0.4, (128, 128, 256)))
"""512 and 128 of 1024 points in the unit sphere."""
SEGMENTER = (
    Ball(2, 32, 0.1, (32, 32, 64)),
    Ball(8, 32, 0.2, (64, 64, 128)),
    Ball(32, 32, 0.4, (128, 128, 256)),
    Ball(128, 32, 0.8, (256, 256, 512)),
)
"""The network for ScanNet: 1024, 256, 64 and 16 of 2048 points in a room, radii in metres."""
WHOLE = (256, 512, 1024)
"""Widths of the classifier's last abstraction, of the whole cloud."""
PROPAGATION = ((256, 256), (256, 256), (256, 128), (128, 128, 128))
"""FP(widths), from the smallest level up."""


class SetAbstraction(Abstraction):
    """Sampling, grouping and a PointNet for each group.

    [PointNet++](https://arxiv.org/abs/1706.02413), Sec. 3.2, for the neighbours j of a centre i within a ball:

        x′_i = max over j of MLP([p_j − p_i, x_j])

    Args:
        neighbours: K.
        radius: radius of the ball; ``inf`` groups all neighbours.
        in_channels: C_in, width of the source points' features; 0 for none.
        widths: layer widths of the MLP; the last is C.

    Shapes:
        - queries, points, features, neighbours, result: see ``Abstraction``
    """

    def __init__(self, neighbours: int, radius: float, in_channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.radius = radius
        self.mlp = Mlp(3 + in_channels, widths)
        self.out_channels = widths[-1]

    def forward(self, queries: Tensor, points: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
        """See ``Abstraction``."""
        neighbours, offsets = group_in_ball(queries, points, neighbours, self.radius)
        return self.mlp(join_grouped(offsets, features, neighbours)).max(dim=2).values

    def macs(self, queries: int) -> int:
        """Count the multiply-accumulates for ``queries`` centres."""
        return self.mlp.macs(queries * self.neighbours)


def build_pointnet2_ssg(size: Size) -> Hierarchy:
    """Build PointNet++ for the task, points, classes and features of a size."""

    def make(ball: Ball, in_channels: int) -> SetAbstraction:
        return SetAbstraction(ball.neighbours, ball.radius, in_channels, ball.widths)

    return build_with_layers(size, CLASSIFIER if size.task == "classification" else SEGMENTER, make)


def build_with_layers(
    size: Size,
    rows: Sequence[R],
    make: Callable[[R, int], Abstraction],
    propagation: Sequence[Sequence[int]] = PROPAGATION,
    dropout: float = 0.5,
) -> Hierarchy:
    """Build PointNet++ for a size; ``make`` builds an abstraction from a row of a table and its input width."""
    in_features, sizes = size.in_features, level_sizes([row.share for row in rows], size.points)
    if size.task == "classification":
        head = Head(WHOLE[-1], (512, 256), (dropout, dropout), size.num_classes, NormalisedDense)
        layers = stack(make, rows, in_features)
        whole = SetAbstraction(sizes[-1], math.inf, layers[-1].out_channels, WHOLE)
        return HierarchicalClassifier(layers, sizes, in_features, whole, head)
    channels = propagation[-1][-1]
    head = Head(channels, (channels,), (dropout,), size.num_classes, NormalisedDense)
    return HierarchicalSegmenter(stack(make, rows, in_features), sizes, in_features, in_features, propagation, head)
