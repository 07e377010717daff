"""GACNet (Wang et al., CVPR 2019): attention over the neighbours in space, by their positions and features."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from point2node.core.errors import InputError
from point2node.geometry.pyramid import Pyramid, PyramidPlan, Search
from point2node.models.layers import Head, Layers, gather_nodes
from point2node.models.reference.hierarchy import Propagation, group_in_ball, level_sizes, searches_back
from point2node.models.reference.network import Mlp, NormalisedDense, Segmenter, join_features
from point2node.models.sizes import Size

POSITION, FEATURE, MERGED = (32, 16), (16, 16), (64,)
"""Widths of the three MLPs of the attention: for the offset, for the difference in features, for both."""


@dataclass(frozen=True)
class Row:
    """One level of the graph pyramid: one of every ``share`` points, a graph, widths before and after the attention."""

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
"""The released network for S3DIS: its 4096, 1024, 256, 64 and 32 points are given as shares here."""
PROPAGATION = ((256, 256), (256, 256), (128, 128), (128, 128))
"""From the smallest level up."""


class GraphAttention(nn.Module):
    """Attention over the neighbours of each point, channel by channel.

    [GACNet] (CVPR 2019), for the neighbours j of point i:

    [GACNet]: https://openaccess.thecvf.com/content_CVPR_2019/html/Wang_Graph_Attention_Convolution_for_Point_Cloud_Semantic_Segmentation_CVPR_2019_paper.html

        a_ij = softmax over j of α([Δp_ij, h_j − h_i])
        result_i = Σ_j a_ij ⊙ h_j

    As in the release, α reads the offset embedded in 16 channels, and these are summed along with the features h_j.

    Args:
        channels: C, the width of h.
        edge_channels: E, the width of the offsets; 3 for positions.

    Shapes:
        - h: (B, P, C)
        - edges: (B, P, K, E), the offsets Δp
        - neighbours: (B, P, K), indices of points
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
        """Count the multiply-accumulates for ``edges`` edges."""
        mlps = sum(mlp.macs(edges) for mlp in (self.position, self.feature, self.merged))
        return mlps + edges * (self.attention.in_features + 1) * self.out_channels


class AttentionLayer(nn.Module):
    """An MLP, attention over the ball of each point, and a layer that merges both.

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
        - neighbours: (B, P, K), indices of points
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
        """Count the multiply-accumulates for ``points`` points."""
        return self.mlp.macs(points) + self.attention.macs(points * self.neighbours) + self.merge.macs(points)


class GacNet(Segmenter):
    """A label for every point: a pyramid of graphs with attention, pooling between them, and propagation back.

    In [GACNet] (CVPR 2019) one more attention, by position, input features and the logits ŷ themselves, refines them:

    [GACNet]: https://openaccess.thecvf.com/content_CVPR_2019/html/Wang_Graph_Attention_Convolution_for_Point_Cloud_Semantic_Segmentation_CVPR_2019_paper.html

        logits = refined([ŷ, attention(ŷ)])

    Args:
        size: the number of points, which the levels are shares of, and the classes and features.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    def __init__(self, size: Size) -> None:
        num_classes, in_features = size.num_classes, size.in_features
        head = Head(128, (128,), (0.5,), num_classes, NormalisedDense)
        sizes = level_sizes([row.share for row in ROWS[1:]], size.points)
        graphs = [Search(row.neighbours, 1, level, level) for level, row in enumerate(ROWS)]
        pooling = [Search(row.neighbours, 1, level, level + 1) for level, row in enumerate(ROWS[:-1])]
        plan = PyramidPlan((None, *sizes), "farthest", encoder=(*graphs, *pooling), decoder=searches_back(sizes))
        super().__init__(plan, in_features, head, node_channels=head.last_in_channels)
        self.layers: Layers[AttentionLayer] = Layers()
        channels = 1 + in_features
        for row in ROWS:
            self.layers.append(AttentionLayer(row, channels))
            channels = row.out_channels
        self.propagation = Propagation([row.out_channels for row in ROWS], PROPAGATION)
        self.refinement = GraphAttention(num_classes, 3 + in_features)
        self.refined = nn.Linear(num_classes + self.refinement.out_channels, num_classes)

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 128) from height and features; positions only enter as offsets."""
        levels = pyramid.levels
        x = join_features(levels[0][..., 2:], features)
        graphs, pooling = pyramid.encoder[: len(ROWS)], pyramid.encoder[len(ROWS) :]
        of_level: list[Tensor] = []
        for level, (layer, graph) in enumerate(zip(self.layers, graphs, strict=True)):
            if level:
                found, radius = pooling[level - 1], ROWS[level - 1].radius
                found, _ = group_in_ball(levels[level], levels[level - 1], found, radius)
                x = gather_nodes(x, found).max(dim=2).values
            x = layer(levels[level], x, graph)
            of_level.append(x)
        return self.propagation(of_level, pyramid, self.plan)

    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Return logits (B, N, classes)."""
        logits = super()._label(nodes, features, pyramid)
        xyz = pyramid.levels[0]
        neighbours, _ = group_in_ball(xyz, xyz, pyramid.encoder[0], ROWS[0].radius)
        signal = join_features(xyz, features)
        edges = gather_nodes(signal, neighbours) - signal[:, :, None]
        return self.refined(torch.cat([logits, self.refinement(logits, edges, neighbours)], dim=-1))

    def _body_macs(self, points: int) -> int:
        layers = sum(layer.macs(size) for layer, size in zip(self.layers, self.plan.sizes(points), strict=True))
        refinement = self.refinement.macs(points * ROWS[0].neighbours)
        refinement += points * self.refined.in_features * self.refined.out_features
        return layers + self.propagation.macs(points, self.plan) + refinement


def build_gacnet(size: Size) -> GacNet:
    """Build GACNet for the points, classes and features of a size; the task must be segmentation."""
    if size.task != "segmentation":
        raise InputError("model", expected=f"one for {size.task}", found="'gacnet', whose paper labels points only")
    return GacNet(size)
