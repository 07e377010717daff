"""PointNet++ with single-scale grouping (Qi et al., NeurIPS 2017, arXiv:1706.02413)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from point2node.geometry.pyramid import Pyramid, PyramidPlan, Search
from point2node.models.layers import Head, Layers, gather_nodes
from point2node.models.network import Network
from point2node.models.peers.layers import Mlp, NormalisedDense, join_features
from point2node.models.sizes import Size


@dataclass(frozen=True)
class Ball:
    """One row SA(points, radius, widths) of the paper's table (Appendix B)."""

    share: int
    """The level has one of so many points of the cloud: the paper's sizes for the presets' clouds, fewer for less."""
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
"""1024, 256, 64 and 16 of 2048 points in a room, radii in metres: the network for ScanNet."""
PROPAGATION = ((256, 256), (256, 256), (256, 128), (128, 128, 128))
"""FP(widths), from the smallest level up."""


class SetAbstraction(nn.Module):
    """Sampling, grouping and a PointNet for each group (Sec. 3.2).

    A group is the ball query, read as "the K nearest points within the radius": neighbours beyond it are replaced by
    the nearest one, which the maximum ignores. The paper takes any K points of the ball.
    """

    def __init__(self, ball: Ball, in_channels: int) -> None:
        super().__init__()
        self.radius = ball.radius
        self.neighbours = ball.neighbours
        self.mlp = Mlp(3 + in_channels, ball.widths)

    def forward(self, queries: Tensor, points: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
        """Centres (B, P, 3), source points (B, M, 3) with features (B, M, C_in), neighbours (B, P, K) → (B, P, C)."""
        offsets = gather_nodes(points, neighbours) - queries[:, :, None]  # (B, P, K, 3)
        outside = offsets.square().sum(dim=-1) > self.radius**2  # (B, P, K)
        neighbours = torch.where(outside, neighbours[..., :1], neighbours)
        offsets = torch.where(outside[..., None], offsets[..., :1, :], offsets)
        grouped = None if features is None else gather_nodes(features, neighbours)  # (B, P, K, C_in)
        return self.mlp(join_features(offsets, grouped)).max(dim=2).values

    def macs(self, queries: int) -> int:
        """Multiply-accumulates for ``queries`` centres."""
        return self.mlp.macs(queries * self.neighbours)


class FeaturePropagation(nn.Module):
    """Features of a level from those of the smaller one by interpolation, and from its own (Sec. 3.4)."""

    def __init__(self, in_channels: int, skip_channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.mlp = Mlp(in_channels + skip_channels, widths)

    def forward(
        self, queries: Tensor, points: Tensor, features: Tensor, skip: Tensor | None, neighbours: Tensor
    ) -> Tensor:
        """Points of the level (B, P, 3), of the smaller one (B, M, 3) with features (B, M, C_in) → (B, P, C)."""
        x = interpolate(queries, points, features, neighbours)
        return self.mlp(x if skip is None else torch.cat([x, skip], dim=-1))

    def macs(self, queries: int, neighbours: int) -> int:
        """Multiply-accumulates for ``queries`` points with so many neighbours each."""
        return queries * neighbours * self.in_channels + self.mlp.macs(queries)


def interpolate(queries: Tensor, points: Tensor, features: Tensor, neighbours: Tensor) -> Tensor:
    """f(x) = Σ wᵢ(x) fᵢ / Σ wᵢ(x) with wᵢ = 1 / d(x, xᵢ)² over the neighbours (Eq. 2, p = 2): (B, P, C)."""
    squares = (gather_nodes(points, neighbours) - queries[:, :, None]).square().sum(dim=-1)  # (B, P, 3)
    w = squares.clamp_min(1e-10).reciprocal()
    w = w / w.sum(dim=-1, keepdim=True)
    return (w[..., None] * gather_nodes(features, neighbours)).sum(dim=2)


class PointNet2(Network):
    """What both networks share: farthest-sampled levels, each abstracted from the one above."""

    def __init__(
        self,
        balls: Sequence[Ball],
        decoder: Sequence[Search],
        sizes: Sequence[int],
        in_features: int,
        head: Head,
        *,
        node_channels: int,
        node_level: int,
    ) -> None:
        plan = PyramidPlan(
            level_sizes=(None, *sizes),
            sampling="farthest",
            encoder=tuple(Search(ball.neighbours, 1, level, level + 1) for level, ball in enumerate(balls)),
            decoder=tuple(decoder),
        )
        super().__init__(plan, in_features, head, node_channels=node_channels, node_level=node_level)
        self.sizes = tuple(sizes)
        self.abstraction: Layers[SetAbstraction] = Layers()
        in_channels = in_features
        for ball in balls:
            self.abstraction.append(SetAbstraction(ball, in_channels))
            in_channels = ball.widths[-1]

    def _abstracted(self, features: Tensor | None, pyramid: Pyramid) -> list[Tensor | None]:
        """The features of every level (B, P_l, C_l); level 0 has the input features, if any."""
        of_level = [features]
        for layer, search, found in zip(self.abstraction, self.plan.encoder, pyramid.encoder, strict=True):
            queries, points = pyramid.levels[search.queries], pyramid.levels[search.source]
            of_level.append(layer(queries, points, of_level[-1], found))
        return of_level

    def _abstraction_macs(self) -> int:
        return sum(layer.macs(size) for layer, size in zip(self.abstraction, self.sizes, strict=True))


class PointNet2Segmenter(PointNet2):
    """A label for every point: features propagated back level by level, 3 neighbours each."""

    task = "segmentation"

    def __init__(self, points: int, num_classes: int, in_features: int) -> None:
        sizes = level_sizes(SEGMENTER, points)
        upwards = range(len(sizes), 0, -1)
        decoder = [Search(min(3, sizes[level - 1]), 1, level, level - 1) for level in upwards]
        head = Head(128, (128,), (0.5,), num_classes, NormalisedDense)
        super().__init__(SEGMENTER, decoder, sizes, in_features, head, node_channels=128, node_level=0)
        channels = [in_features, *(ball.widths[-1] for ball in SEGMENTER)]
        self.propagation: Layers[FeaturePropagation] = Layers()
        in_channels = channels[-1]
        for level, widths in zip(upwards, PROPAGATION, strict=True):
            self.propagation.append(FeaturePropagation(in_channels, channels[level - 1], widths))
            in_channels = widths[-1]

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """(B, N, 128), what the last propagation gives."""
        *skips, x = self._abstracted(features, pyramid)
        assert x is not None
        for layer, search, found in zip(self.propagation, self.plan.decoder, pyramid.decoder, strict=True):
            queries, points = pyramid.levels[search.queries], pyramid.levels[search.source]
            x = layer(queries, points, x, skips[search.queries], found)
        return x

    def _label(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        """(B, N, classes)."""
        return self.head(nodes)

    def _own_macs(self, points: int) -> int:
        sizes = (points, *self.sizes)
        pairs = zip(self.propagation, self.plan.decoder, strict=True)
        propagation = sum(layer.macs(sizes[search.queries], search.neighbours) for layer, search in pairs)
        return self._abstraction_macs() + propagation + self.head.macs(points)


class PointNet2Classifier(PointNet2):
    """A label for the whole cloud: the last abstraction has one group, all points of the last level."""

    task = "classification"

    def __init__(self, points: int, num_classes: int, in_features: int) -> None:
        head = Head(1024, (512, 256), (0.5, 0.5), num_classes, NormalisedDense)
        channels, sizes = CLASSIFIER[-1].widths[-1], level_sizes(CLASSIFIER, points)
        super().__init__(CLASSIFIER, (), sizes, in_features, head, node_channels=channels, node_level=len(sizes))
        self.whole = Mlp(3 + channels, (256, 512, 1024))

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """The features of the last level's points (B, 128, 256)."""
        nodes = self._abstracted(features, pyramid)[-1]
        assert nodes is not None
        return nodes

    def _label(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        """(B, classes)."""
        return self.head(self.whole(join_features(pyramid.levels[-1], nodes)).max(dim=1).values)

    def _own_macs(self, points: int) -> int:
        """The levels, and so this number, do not depend on ``points``."""
        return self._abstraction_macs() + self.whole.macs(self.sizes[-1]) + self.head.macs(1)


def level_sizes(balls: Sequence[Ball], points: int) -> tuple[int, ...]:
    """How many points each level has below a cloud of ``points``: its share of them, at least one."""
    return tuple(max(1, points // ball.share) for ball in balls)


def build_pointnet2_ssg(size: Size) -> PointNet2:
    """PointNet++ for the task, points, classes and features of a size."""
    network = PointNet2Classifier if size.task == "classification" else PointNet2Segmenter
    return network(size.points, size.num_classes, size.in_features)
