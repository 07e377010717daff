"""PointConv (Wu et al., CVPR 2019, arXiv:1811.07246): kernels that are functions of the offset and the density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from point2node.geometry.pyramid import Pyramid, Search
from point2node.kernels.calling import in_one_piece
from point2node.models.layers import Head, Layers, gather_nodes
from point2node.models.reference.hierarchy import (
    Abstraction,
    HierarchicalClassifier,
    Hierarchy,
    interpolate,
    join_grouped,
    level_sizes,
    searches_back,
    stack,
)
from point2node.models.reference.network import Mlp, NormalisedDense, Segmenter, join_features
from point2node.models.sizes import Size

WEIGHT_NET = (8, 8, 16)
"""Widths of the MLP from the offset to the C_mid = 16 weights of a neighbour."""
DENSITY_NET = 16
"""Hidden width of the map from inverse density to its scale."""
DECODER_NEIGHBOURS = 16


@dataclass(frozen=True)
class Row:
    """One encoding layer: one of every ``share`` points, K, the bandwidth of the density, and widths."""

    share: int
    neighbours: int
    bandwidth: float
    widths: tuple[int, ...]


CLASSIFIER = (Row(2, 32, 0.1, (64, 64, 128)), Row(8, 64, 0.2, (128, 128, 256)))
WHOLE = Row(0, 0, 0.4, (256, 512, 1024))
"""The released classifier: 512 and 128 points, then all as one group."""
SEGMENTER = (
    Row(2, 32, 0.1, (32, 32, 64)),
    Row(8, 32, 0.2, (64, 64, 128)),
    Row(32, 32, 0.4, (128, 128, 256)),
    Row(64, 32, 0.8, (256, 256, 512)),
)
"""The released network for scenes, whose last level has 36 points of 2048."""
DECODER = ((512, 512), (256, 256), (256, 128), (128, 128, 128))
"""Widths from the smallest level up; in each, the first is that of the PointConv, the others follow the skip."""


@torch.no_grad()
def gaussian_density(points: Tensor, bandwidth: float) -> Tensor:
    """Estimate the density at each point (B, M, 3) → (B, M, 1): the mean over all points of exp(−d² / 2b²).

    The kernel's constant cancels in the inverse density scale. Clouds are processed one by one, with M × M distances.
    """
    if in_one_piece():
        squares = (points[:, :, None] - points[:, None]).square().sum(dim=-1)
        return (-squares / (2 * bandwidth**2)).exp().mean(dim=-1, keepdim=True)
    exact = "donot_use_mm_for_euclid_dist"  # the fast form loses digits
    distances = (torch.cdist(cloud, cloud, compute_mode=exact) for cloud in points)
    return torch.stack([(-d.square() / (2 * bandwidth**2)).exp().mean(dim=-1) for d in distances])[..., None]


class PointConv(nn.Module):
    """A convolution whose kernel is a function of the offset, weighted by inverse density.

    [PointConv](https://arxiv.org/abs/1811.07246), over the neighbours k of a point, in its efficient form:

        F_out = Σ_k S(k) W(k) F_in(k)

    W is an MLP of the offset, S one of the inverse density relative to the largest in the group. The last layer of W is
    moved out of the sum: M (C_mid weights per neighbour) ⊗ F_in is summed first, then a linear map H yields C channels.

    Args:
        in_channels: C_in.
        out_channels: C.

    Shapes:
        - offsets: (B, P, K, 3)
        - grouped: (B, P, K, C_in), the neighbours' features
        - density: (B, P, K, 1)
        - result: (B, P, C)
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight_net = Mlp(3, WEIGHT_NET)
        self.density_net = nn.Sequential(NormalisedDense(1, DENSITY_NET), nn.Linear(DENSITY_NET, 1), nn.Sigmoid())
        self.linear = NormalisedDense(WEIGHT_NET[-1] * in_channels, out_channels)
        self.in_channels = in_channels

    def forward(self, offsets: Tensor, grouped: Tensor, density: Tensor) -> Tensor:
        """Offsets (B, P, K, 3), features (B, P, K, C_in) and densities (B, P, K, 1) → (B, P, C)."""
        inverse = density.reciprocal()
        S = self.density_net(inverse / inverse.amax(dim=2, keepdim=True))  # (B, P, K, 1)
        M = self.weight_net(offsets)  # (B, P, K, C_mid)
        return self.linear(((grouped * S).mT @ M).flatten(-2))

    def macs(self, queries: int, neighbours: int) -> int:
        """Count the multiply-accumulates for ``queries`` centres."""
        edges = queries * neighbours
        density = 2 * DENSITY_NET * edges
        product = edges * self.in_channels * (1 + WEIGHT_NET[-1])
        return self.weight_net.macs(edges) + density + product + self.linear.macs(queries)


class DensityAbstraction(Abstraction):
    """Sampling, grouping, an MLP on each neighbour, then a PointConv over the group.

    An encoding layer of [PointConv](https://arxiv.org/abs/1811.07246), for the neighbours j of a centre i:

        x′_i = PointConv over j of MLP([p_j − p_i, x_j])

    Args:
        neighbours: K.
        bandwidth: bandwidth of the density's Gaussian kernel.
        in_channels: C_in, width of the source points' features; 0 for none.
        widths: layer widths of the MLP; the last is C.

    Shapes:
        - queries, points, features, neighbours, result: see ``Abstraction``
    """

    def __init__(self, neighbours: int, bandwidth: float, in_channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.bandwidth = bandwidth
        self.mlp = Mlp(3 + in_channels, widths)
        self.convolution = PointConv(widths[-1], widths[-1])
        self.out_channels = widths[-1]

    def forward(self, queries: Tensor, points: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
        """See ``Abstraction``."""
        offsets = gather_nodes(points, neighbours) - queries[:, :, None]
        density = gather_nodes(gaussian_density(points, self.bandwidth), neighbours)
        return self.convolution(offsets, self.mlp(join_grouped(offsets, features, neighbours)), density)

    def macs(self, queries: int) -> int:
        """Count the multiply-accumulates for ``queries`` centres; like searches, densities are not counted."""
        return self.mlp.macs(queries * self.neighbours) + self.convolution.macs(queries, self.neighbours)


class Deconvolution(nn.Module):
    """Interpolation, a PointConv between the level's own points, then the skip connection and an MLP.

    PointDeconv of [PointConv](https://arxiv.org/abs/1811.07246), for the neighbours j of point i on its own level:

        x_j = interpolated from the smaller level
        result_i = MLP([PointConv over j of [p_j − p_i, x_j], skip_i])

    Args:
        bandwidth: bandwidth of the density's Gaussian kernel.
        in_channels: C_in, width of the smaller level's features.
        skip_channels: C_s, width of the level's own features.
        widths: the width of the PointConv, then the layer widths of the MLP; the last is C.

    Shapes:
        - queries: (B, P, 3), the points of the level
        - points: (B, M, 3), the points of the smaller level
        - features: (B, M, C_in), of the smaller level
        - skip: (B, P, C_s), of the level
        - sources: (B, P, 3), indices of points of the smaller level
        - neighbours: (B, P, K), indices of points of the level
        - result: (B, P, C)
    """

    def __init__(self, bandwidth: float, in_channels: int, skip_channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.bandwidth = bandwidth
        self.in_channels = in_channels
        self.convolution = PointConv(3 + in_channels, widths[0])
        self.mlp = Mlp(widths[0] + skip_channels, widths[1:])

    def forward(
        self, queries: Tensor, points: Tensor, features: Tensor, skip: Tensor, sources: Tensor, neighbours: Tensor
    ) -> Tensor:
        """Points of the level (B, P, 3) with skip features (B, P, C_s), and of the smaller one (B, M, 3) with features
        (B, M, C_in) → (B, P, C); ``sources`` (B, P, 3) index the smaller level, ``neighbours`` (B, P, K) the level.
        """
        interpolated = interpolate(queries, points, features, sources)
        offsets = gather_nodes(queries, neighbours) - queries[:, :, None]
        grouped = join_grouped(offsets, interpolated, neighbours)
        density = gather_nodes(gaussian_density(queries, self.bandwidth), neighbours)
        return self.mlp(torch.cat([self.convolution(offsets, grouped, density), skip], dim=-1))

    def macs(self, queries: int, sources: int, neighbours: int) -> int:
        """Count the multiply-accumulates for ``queries`` points."""
        interpolation = queries * sources * self.in_channels
        return interpolation + self.convolution.macs(queries, neighbours) + self.mlp.macs(queries)


def encode(row: Row, in_channels: int) -> DensityAbstraction:
    """Make the encoding layer of a row."""
    return DensityAbstraction(row.neighbours, row.bandwidth, in_channels, row.widths)


class PointConvSegmenter(Hierarchy, Segmenter):
    """A label for every point: PointConvs down to the smallest level, and PointDeconvs back up.

    [PointConv](https://arxiv.org/abs/1811.07246) for scenes:

        F_l = PointConv(F_(l−1))
        D_l = PointDeconv(D_(l+1), F_l)
        logits = head(D_0)

    Args:
        size: the number of points, which the levels are shares of, and the classes and features.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    def __init__(self, size: Size) -> None:
        in_features, head = size.in_features, Head(128, (128,), (0.5,), size.num_classes, NormalisedDense)
        sizes = level_sizes([row.share for row in SEGMENTER], size.points)
        layers = stack(encode, SEGMENTER, 3 + in_features)
        back = searches_back(sizes)
        decoder = (*back, *(Search(DECODER_NEIGHBOURS, 1, search.queries, search.queries) for search in back))
        channels = head.last_in_channels
        super().__init__(layers, sizes, in_features, head, node_channels=channels, node_level=0, decoder=decoder)
        *skips, channels = 3 + in_features, *(layer.out_channels for layer in layers)
        self.deconvolution: Layers[Deconvolution] = Layers()
        for skip, row, widths in zip(reversed(skips), reversed(SEGMENTER), DECODER, strict=True):
            self.deconvolution.append(Deconvolution(row.bandwidth, channels, skip, widths))
            channels = widths[-1]

    def _input(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        return join_features(pyramid.levels[0], features)

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 128), the result of the last deconvolution."""
        *skips, x = self._abstracted(features, pyramid)
        count = len(self.deconvolution)
        sources, neighbours = pyramid.decoder[:count], pyramid.decoder[count:]
        for layer, search, source, own in zip(self.deconvolution, self.plan.decoder, sources, neighbours, strict=False):
            queries, points = pyramid.levels[search.queries], pyramid.levels[search.source]
            x = layer(queries, points, x, skips[search.queries], source, own)
        assert x is not None
        return x

    def _body_macs(self, points: int) -> int:
        sizes = self.plan.sizes(points)
        deconvolution = sum(
            layer.macs(sizes[search.queries], search.neighbours, DECODER_NEIGHBOURS)
            for layer, search in zip(self.deconvolution, self.plan.decoder, strict=False)
        )
        return super()._body_macs(points) + deconvolution


def build_pointconv(size: Size) -> Hierarchy:
    """Build PointConv for the task, points, classes and features of a size."""
    if size.task == "segmentation":
        return PointConvSegmenter(size)
    head = Head(WHOLE.widths[-1], (512, 256), (0.4, 0.4), size.num_classes, NormalisedDense)
    sizes = level_sizes([row.share for row in CLASSIFIER], size.points)
    layers = stack(encode, CLASSIFIER, size.in_features)
    whole = DensityAbstraction(sizes[-1], WHOLE.bandwidth, layers[-1].out_channels, WHOLE.widths)
    return HierarchicalClassifier(layers, sizes, size.in_features, whole, head)
