"""Shared parts of PointNet++-like networks: sampled levels, each abstracted from the previous, and propagation back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from point2node.geometry.pyramid import Pyramid, PyramidPlan, Search
from point2node.models.layers import Head, Layers, gather_nodes
from point2node.models.network import Network
from point2node.models.reference.network import Classifier, Mlp, Segmenter, join_features


class Abstraction(nn.Module):
    """The step from one level to the next smaller one: each of its points sees its neighbours on the larger level.

    The set abstraction of [PointNet++](https://arxiv.org/abs/1706.02413); each network has a different h:

        result_p = h({(x_q - x_p, f_q) : q in neighbours(p)})

    Shapes:
        - queries: (B, P, 3), the centres
        - points: (B, M, 3), the source points
        - features: (B, M, C_in) of the source points, or None
        - neighbours: (B, P, K), indices of source points
        - result: (B, P, C)
    """

    neighbours: int
    out_channels: int

    @abstractmethod
    def forward(self, queries: Tensor, points: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
        """Centres (B, P, 3), source points (B, M, 3) with features (B, M, C_in), neighbours (B, P, K) → (B, P, C)."""

    @abstractmethod
    def macs(self, queries: int) -> int:
        """Count the multiply-accumulates for ``queries`` centres."""


A = TypeVar("A", bound=Abstraction)
R = TypeVar("R")


def stack(make: Callable[[R, int], A], rows: Sequence[R], in_channels: int) -> list[A]:
    """Make the abstractions of a table, each from a row and the output width of the previous one."""
    layers: list[A] = []
    for row in rows:
        layers.append(make(row, in_channels))
        in_channels = layers[-1].out_channels
    return layers


class FeaturePropagation(nn.Module):
    """New features of a level, from those of the next smaller level by interpolation, and from its own.

    [PointNet++](https://arxiv.org/abs/1706.02413), Sec. 3.4:

        result = MLP([Σᵢ wᵢ fᵢ / Σᵢ wᵢ, skip]),  wᵢ = 1 / squared distance to neighbour i

    Args:
        in_channels: C_in, width of the smaller level's features.
        skip_channels: C_s, width of the level's own features; 0 for none.
        widths: layer widths of the MLP; the last is C.

    Shapes:
        - queries: (B, P, 3), the points of the level
        - points: (B, M, 3), those of the smaller level
        - features: (B, M, C_in), of the smaller level
        - skip: (B, P, C_s), of the level, or None
        - neighbours: (B, P, K), indices of points of the smaller level
        - result: (B, P, C)
    """

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
        """Count the multiply-accumulates for ``queries`` points with this many neighbours each."""
        return queries * neighbours * self.in_channels + self.mlp.macs(queries)


class Propagation(Layers[FeaturePropagation]):
    """Feature propagation from the smallest level back to all points.

    [PointNet++](https://arxiv.org/abs/1706.02413), with F_l the encoder's features of a level:

        D_l = propagation_l(D_(l+1), F_l)

    Args:
        channels: C_l of every level's features, from the largest level down.
        widths: FP(widths), from the smallest level up; the very last is C.

    Shapes:
        - of_level: (B, P_l, C_l) for every level, from the largest down
        - result: (B, N, C)
    """

    def __init__(self, channels: Sequence[int], widths: Sequence[Sequence[int]]) -> None:
        super().__init__()
        *skips, in_channels = channels
        for skip, row in zip(reversed(skips), widths, strict=True):
            self.append(FeaturePropagation(in_channels, skip, row))
            in_channels = row[-1]

    def forward(self, of_level: Sequence[Tensor | None], pyramid: Pyramid, plan: PyramidPlan) -> Tensor:
        """Features of every level (B, P_l, C_l) → features of all points (B, N, C)."""
        *skips, x = of_level
        assert x is not None
        for layer, search, found in zip(self, plan.decoder, pyramid.decoder, strict=True):
            queries, points = pyramid.levels[search.queries], pyramid.levels[search.source]
            x = layer(queries, points, x, skips[search.queries], found)
        return x

    def macs(self, points: int, plan: PyramidPlan) -> int:
        """Count the multiply-accumulates for a cloud of ``points`` points."""
        sizes = plan.sizes(points)
        pairs = zip(self, plan.decoder, strict=True)
        return sum(layer.macs(sizes[search.queries], search.neighbours) for layer, search in pairs)


def searches_back(sizes: Sequence[int]) -> tuple[Search, ...]:
    """Return the searches of ``Propagation``, smallest level first: the 3 nearest points of the next smaller level."""
    return tuple(Search(min(3, sizes[level - 1]), 1, level, level - 1) for level in range(len(sizes), 0, -1))


def interpolate(queries: Tensor, points: Tensor, features: Tensor, neighbours: Tensor) -> Tensor:
    """Compute Σ wᵢ(x) fᵢ / Σ wᵢ(x), wᵢ = 1 / d(x, xᵢ)², over the neighbours (PointNet++, Eq. 2, p = 2): (B, P, C)."""
    squares = (gather_nodes(points, neighbours) - queries[:, :, None]).square().sum(dim=-1)  # (B, P, 3)
    w = squares.clamp_min(1e-10).reciprocal()
    w = w / w.sum(dim=-1, keepdim=True)
    return (w[..., None] * gather_nodes(features, neighbours)).sum(dim=2)


def group_in_ball(queries: Tensor, points: Tensor, neighbours: Tensor, radius: float) -> tuple[Tensor, Tensor]:
    """Return the K nearest points within the radius: neighbours (B, P, K) and their offsets from the centres
    (B, P, K, 3). Those outside the ball are replaced by the nearest one, which does not change a maximum. The papers
    take any K points of the ball.
    """
    offsets = gather_nodes(points, neighbours) - queries[:, :, None]
    outside = offsets.square().sum(dim=-1) > radius**2  # (B, P, K)
    return (
        torch.where(outside, neighbours[..., :1], neighbours),
        torch.where(outside[..., None], offsets[..., :1, :], offsets),
    )


def join_grouped(offsets: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
    """Concatenate [p_j − p_i, x_j] of the neighbours: offsets (B, P, K, 3), features (B, M, C) → (B, P, K, 3 + C)."""
    return join_features(offsets, None if features is None else gather_nodes(features, neighbours))


def level_sizes(shares: Sequence[int], points: int) -> tuple[int, ...]:
    """Return the sizes of the levels of a cloud of ``points`` points: one of every ``share`` points, at least one."""
    return tuple(max(1, points // share) for share in shares)


class Hierarchy(Network):
    """Farthest-sampled levels, each abstracted from the previous one: shared by segmenter and classifier.

    The encoder of [PointNet++](https://arxiv.org/abs/1706.02413):

        F_l = abstraction_l(F_(l−1))

    Args:
        abstraction: from the largest level down.
        sizes: of the sampled levels.
        in_features: width of the input features in addition to xyz; 0 for none.
        head: computes the logits from the nodes.
        node_channels: C, the width of a node.
        node_level: the level whose points are the nodes.
        decoder: the neighbours that the way back needs.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: see the segmenter and the classifier
    """

    def __init__(
        self,
        abstraction: Sequence[Abstraction],
        sizes: Sequence[int],
        in_features: int,
        head: Head,
        *,
        node_channels: int,
        node_level: int,
        decoder: Sequence[Search] = (),
    ) -> None:
        plan = PyramidPlan(
            level_sizes=(None, *sizes),
            sampling="farthest",
            encoder=tuple(Search(layer.neighbours, 1, level, level + 1) for level, layer in enumerate(abstraction)),
            decoder=tuple(decoder),
        )
        super().__init__(plan, in_features, head, node_channels=node_channels, node_level=node_level)
        self.abstraction: Layers[Abstraction] = Layers(abstraction)

    def _input(self, features: Tensor | None, pyramid: Pyramid) -> Tensor | None:
        """Return the features of the points of level 0: the input features, if any."""
        return features

    def _abstracted(self, features: Tensor | None, pyramid: Pyramid) -> list[Tensor | None]:
        """Compute the features of every level (B, P_l, C_l)."""
        of_level = [self._input(features, pyramid)]
        for layer, search, found in zip(self.abstraction, self.plan.encoder, pyramid.encoder, strict=True):
            queries, points = pyramid.levels[search.queries], pyramid.levels[search.source]
            of_level.append(layer(queries, points, of_level[-1], found))
        return of_level

    def _body_macs(self, points: int) -> int:
        sizes = self.plan.sizes(points)[1:]
        return sum(layer.macs(size) for layer, size in zip(self.abstraction, sizes, strict=True))


class HierarchicalSegmenter(Hierarchy, Segmenter):
    """A label for every point: features are propagated back level by level, from 3 neighbours each.

    [PointNet++](https://arxiv.org/abs/1706.02413) for scenes, with F_l the features of the encoder:

        D_l = propagation(D_(l+1), F_l)
        logits = head(D_0)

    Args:
        abstraction: from the largest level down.
        sizes: of the sampled levels.
        in_features: width of the input features in addition to xyz; 0 for none.
        in_channels: width of the features of the points of level 0.
        propagation: FP(widths), from the smallest level up.
        head: computes the logits from the nodes.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    def __init__(
        self,
        abstraction: Sequence[Abstraction],
        sizes: Sequence[int],
        in_features: int,
        in_channels: int,
        propagation: Sequence[Sequence[int]],
        head: Head,
    ) -> None:
        searches, channels = searches_back(sizes), head.last_in_channels
        super().__init__(abstraction, sizes, in_features, head, node_channels=channels, node_level=0, decoder=searches)
        self.propagation = Propagation([in_channels, *(layer.out_channels for layer in abstraction)], propagation)

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, C), the result of the last propagation."""
        return self.head.lead(self.propagation(self._abstracted(features, pyramid), pyramid, self.plan))

    def _body_macs(self, points: int) -> int:
        return super()._body_macs(points) + self.propagation.macs(points, self.plan)


class HierarchicalClassifier(Hierarchy, Classifier):
    """One label for the whole cloud; the nodes are the points of the last level.

    [PointNet++](https://arxiv.org/abs/1706.02413) for shapes. A further abstraction takes the nodes as one group around
    the origin, the centre of the frame:

        logits = head(whole(F_last))

    Args:
        abstraction: from the largest level down.
        sizes: of the sampled levels.
        in_features: width of the input features in addition to xyz; 0 for none.
        whole: the abstraction of the last level as one group.
        head: computes the logits from the nodes.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes)
    """

    def __init__(
        self, abstraction: Sequence[Abstraction], sizes: Sequence[int], in_features: int, whole: Abstraction, head: Head
    ) -> None:
        channels = abstraction[-1].out_channels
        super().__init__(abstraction, sizes, in_features, head, node_channels=channels, node_level=len(sizes))
        self.whole = whole

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, P, C), the features of the last level's points."""
        nodes = self._abstracted(features, pyramid)[-1]
        assert nodes is not None
        return nodes

    def _summary(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        points = pyramid.levels[-1]
        everything = torch.arange(points.shape[1], device=points.device).expand(len(points), 1, -1)
        centre = torch.zeros_like(points[:, :1])
        return self.whole(centre, points, nodes, everything).squeeze(1)

    def _body_macs(self, points: int) -> int:
        """Count all layers; the sizes of the levels, and so the count, do not depend on ``points``."""
        return super()._body_macs(points) + self.whole.macs(1)
