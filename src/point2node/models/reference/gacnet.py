"""GACNet (Wang et al., CVPR 2019): attention over the neighbours in space, by their positions and their features."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from point2node.core.errors import InputError
from point2node.geometry.pyramid import Pyramid, PyramidPlan, Search
from point2node.models.layers import Head, Layers, gather_nodes
from point2node.models.network import Network
from point2node.models.reference.hierarchy import FeaturePropagation, group_in_ball, level_sizes
from point2node.models.reference.layers import Mlp, NormalisedDense, join_features
from point2node.models.sizes import Size

POSITION, FEATURE, MERGED = (32, 16), (16, 16), (64,)
"""Widths of the three MLPs of the attention: of the offset, of the difference in features, of both."""


@dataclass(frozen=True)
class Row:
    """One level of the graph pyramid: one of ``share`` points, its graph, widths before the attention and after it."""

    share: int
    neighbours: int
    radius: float
    widths: tuple[int, ...]
    out_channels: int


ROWS = (
    Row(1, 12, 0.1, (32, 32, 64), 64),
    Row(4, 21, 0.2, (64, 64, 128), 128),
    Row(16, 21, 0.4, (128, 128, 256), 256),
    Row(64, 21, 0.8, (256, 256, 512), 512),
    Row(128, 12, 1.6, (256, 256), 256),
)
"""The released network for S3DIS: 4096, 1024, 256, 64 and 32 points there, as shares here."""
PROPAGATION = ((256, 256), (256, 256), (128, 128), (128, 128))
"""From the smallest level up."""


class GraphAttention(nn.Module):
    """Attention over the neighbours of each point, channel by channel.

    [GACNet] (CVPR 2019), for the neighbours j of point i:

    [GACNet]: https://openaccess.thecvf.com/content_CVPR_2019/html/Wang_Graph_Attention_Convolution_for_Point_Cloud_Semantic_Segmentation_CVPR_2019_paper.html

        a_ij = softmax over j of α([Δp_ij, h_j − h_i])
        result_i = Σ_j a_ij ⊙ h_j

    As in the release, α sees the offset embedded in 16 channels, and these are summed along with the features h_j.

    Args:
        channels: C, the width of h.
        edge_channels: E, the width of the offsets: 3 for positions.

    Shapes:
        - h: (B, P, C)
        - edges: (B, P, K, E), the offsets Δp
        - neighbours: (B, P, K), numbers of points
        - result: (B, P, 16 + C)
    """

    def __init__(self, channels: int, edge_channels: int = 3) -> None:
        super().__init__()
        self.position = Mlp(edge_channels, POSITION)
        self.feature = Mlp(channels, FEATURE)
        self.merged = Mlp(POSITION[-1] + FEATURE[-1], MERGED)
        self.out_channels = POSITION[-1] + channels
        self.attention = nn.Linear(MERGED[-1], self.out_channels, bias=False)  # the softmax would cancel a bias

    def forward(self, h: Tensor, edges: Tensor, neighbours: Tensor) -> Tensor:
        """Features (B, P, C), offsets (B, P, K, edge_channels) and neighbours (B, P, K) → (B, P, 16 + C)."""
        grouped = gather_nodes(h, neighbours)  # (B, P, K, C)
        position = self.position(edges)
        difference = self.feature(grouped - h[:, :, None])
        a = self.attention(self.merged(torch.cat([position, difference], dim=-1))).softmax(dim=2)
        return (a * torch.cat([position, grouped], dim=-1)).sum(dim=2)

    def macs(self, edges: int) -> int:
        """Multiply-accumulates for ``edges`` edges."""
        mlps = sum(mlp.macs(edges) for mlp in (self.position, self.feature, self.merged))
        return mlps + edges * (self.attention.in_features + 1) * self.out_channels


class AttentionLayer(nn.Module):
    """An MLP, the attention over the ball of each point, and a layer that sees both.

    A level of [GACNet] (CVPR 2019):

    [GACNet]: https://openaccess.thecvf.com/content_CVPR_2019/html/Wang_Graph_Attention_Convolution_for_Point_Cloud_Semantic_Segmentation_CVPR_2019_paper.html

        h = MLP(x)
        result = merge([h, attention(h)])

    Args:
        row: K, radius and widths of the level.
        in_channels: C_in.

    Shapes:
        - points: (B, P, 3)
        - features: (B, P, C_in)
        - neighbours: (B, P, K), numbers of points
        - result: (B, P, C)
    """

    def __init__(self, row: Row, in_channels: int) -> None:
        super().__init__()
        self.neighbours = row.neighbours
        self.radius = row.radius
        self.mlp = Mlp(in_channels, row.widths)
        self.attention = GraphAttention(row.widths[-1])
        self.merge = NormalisedDense(row.widths[-1] + self.attention.out_channels, row.out_channels)

    def forward(self, points: Tensor, features: Tensor, neighbours: Tensor) -> Tensor:
        """Points (B, P, 3) with features (B, P, C_in) and neighbours (B, P, K) → (B, P, C)."""
        neighbours, offsets = group_in_ball(points, points, neighbours, self.radius)
        h = self.mlp(features)
        return self.merge(torch.cat([h, self.attention(h, offsets, neighbours)], dim=-1))

    def macs(self, points: int) -> int:
        """Multiply-accumulates for ``points`` points."""
        return self.mlp.macs(points) + self.attention.macs(points * self.neighbours) + self.merge.macs(points)


class GacNet(Network):
    """A label for every point: a pyramid of graphs with attention, pooling between them, and propagation back.

    In [GACNet] (CVPR 2019) one more attention, by position, input features and the logits ŷ themselves, refines them:

    [GACNet]: https://openaccess.thecvf.com/content_CVPR_2019/html/Wang_Graph_Attention_Convolution_for_Point_Cloud_Semantic_Segmentation_CVPR_2019_paper.html

        logits = refined([ŷ, attention(ŷ)])

    Args:
        points: the size of the clouds, of which the levels are shares.
        num_classes: the number of labels.
        in_features: width of the input features in addition to xyz; 0 for none.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    task = "segmentation"

    def __init__(self, points: int, num_classes: int, in_features: int) -> None:
        head = Head(128, (128,), (0.5,), num_classes, NormalisedDense)
        sizes = level_sizes([row.share for row in ROWS[1:]], points)
        levels = range(len(ROWS))
        graphs = [Search(row.neighbours, 1, level, level) for level, row in enumerate(ROWS)]
        pooling = [Search(row.neighbours, 1, level, level + 1) for level, row in enumerate(ROWS[:-1])]
        upwards = levels[:0:-1]
        decoder = [Search(min(3, sizes[level - 1]), 1, level, level - 1) for level in upwards]
        plan = PyramidPlan((None, *sizes), "farthest", encoder=(*graphs, *pooling), decoder=tuple(decoder))
        super().__init__(plan, in_features, head, node_channels=128)
        self.layers: Layers[AttentionLayer] = Layers()
        channels = 1 + in_features
        for row in ROWS:
            self.layers.append(AttentionLayer(row, channels))
            channels = row.out_channels
        self.propagation: Layers[FeaturePropagation] = Layers()
        for level, widths in zip(upwards, PROPAGATION, strict=True):
            self.propagation.append(FeaturePropagation(channels, ROWS[level - 1].out_channels, widths))
            channels = widths[-1]
        self.refinement = GraphAttention(num_classes, 3 + in_features)
        self.refined = nn.Linear(num_classes + self.refinement.out_channels, num_classes)

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """What the last propagation gives (B, N, 128). The input is height and features; positions enter as offsets."""
        levels = pyramid.levels
        x = join_features(levels[0][..., 2:], features)
        graphs, pooling = pyramid.encoder[: len(ROWS)], pyramid.encoder[len(ROWS) :]
        skips: list[Tensor] = []
        for level, (layer, graph) in enumerate(zip(self.layers, graphs, strict=True)):
            if level:
                found, radius = pooling[level - 1], ROWS[level - 1].radius
                found, _ = group_in_ball(levels[level], levels[level - 1], found, radius)
                x = gather_nodes(x, found).max(dim=2).values
            x = layer(levels[level], x, graph)
            skips.append(x)
        for propagate, search, found in zip(self.propagation, self.plan.decoder, pyramid.decoder, strict=True):
            x = propagate(levels[search.queries], levels[search.source], x, skips[search.queries], found)
        return x

    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """(B, N, classes)."""
        logits = self.head(nodes)
        xyz = pyramid.levels[0]
        neighbours, _ = group_in_ball(xyz, xyz, pyramid.encoder[0], ROWS[0].radius)
        signal = join_features(xyz, features)
        edges = gather_nodes(signal, neighbours) - signal[:, :, None]
        return self.refined(torch.cat([logits, self.refinement(logits, edges, neighbours)], dim=-1))

    def _own_macs(self, points: int) -> int:
        sizes = self.plan.sizes(points)
        total = sum(layer.macs(size) for layer, size in zip(self.layers, sizes, strict=True))
        for propagate, search in zip(self.propagation, self.plan.decoder, strict=True):
            total += propagate.macs(sizes[search.queries], search.neighbours)
        refinement = self.refinement.macs(points * ROWS[0].neighbours)
        refinement += points * self.refined.in_features * self.refined.out_features
        return total + self.head.macs(points) + refinement


def build_gacnet(size: Size) -> GacNet:
    """GACNet for the points, classes and features of a size, whose task must be segmentation."""
    if size.task != "segmentation":
        raise InputError("model", expected=f"one for {size.task}", found="'gacnet', whose paper labels points only")
    return GacNet(size.points, size.num_classes, size.in_features)
