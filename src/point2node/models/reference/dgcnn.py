"""DGCNN (Wang et al., ACM TOG 2019, arXiv:1801.07829): convolutions on graphs in feature space."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from point2node.geometry.pyramid import Pyramid, PyramidPlan, Search
from point2node.kernels.calling import in_one_piece
from point2node.models.layers import Head, Layers, gather_nodes
from point2node.models.network import Network
from point2node.models.reference.network import (
    Classifier,
    Mlp,
    NormalisedDense,
    Segmenter,
    join_features,
    spread_maximum,
)
from point2node.models.sizes import Size

K = 20
"""Neighbours in every graph, including the point itself."""
SLOPE = 0.2
"""Slope of the leaky ReLU after every norm."""
PLAN = PyramidPlan(level_sizes=(None,), sampling="farthest", encoder=(Search(K, 1, 0, 0),))
"""All points, and the graph of the first layer, the only one in space."""


class EdgeConv(nn.Module):
    """A convolution on the edges of a graph.

    EdgeConv of [DGCNN](https://arxiv.org/abs/1801.07829), Sec. 3.1, for the neighbours j of node i:

        x′_i = max over j of h(x_i, x_j − x_i)

    The first layer of h is linear in both arguments: θ·(x_j − x_i) + φ·x_i = θ·x_j + (φ − θ)·x_i. So it is applied once
    per node instead of once per edge; its weight contains θ, then φ.

    Args:
        in_channels: C_in.
        widths: widths of the layers of h; the last is C.

    Shapes:
        - nodes: (B, N, C_in)
        - neighbours: (B, N, K), node indices
        - result: (B, N, C)
    """

    def __init__(self, in_channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.first = NormalisedDense(2 * in_channels, widths[0], SLOPE)
        self.rest = Mlp(widths[0], widths[1:], SLOPE)

    def forward(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """Nodes (B, N, C_in) and the graph (B, N, K) → nodes (B, N, C)."""
        theta, phi = self.first.linear.weight.chunk(2, dim=1)
        edges = gather_nodes(nodes @ theta.T, neighbours) + (nodes @ (phi - theta).T)[:, :, None]  # (B, N, K, C)
        return self.rest(self.first.activate(edges)).max(dim=2).values

    def macs(self, points: int) -> int:
        """Count the multiply-accumulates for one cloud as published: every layer of h on every edge."""
        return self.first.macs(points * K) + self.rest.macs(points * K)


class Dgcnn(Network):
    """EdgeConvs, each on the graph of its input: shared by segmenter and classifier.

    [DGCNN](https://arxiv.org/abs/1801.07829), Sec. 3.2:

        x_(l+1) = EdgeConv(x_l, the K nearest neighbours among x_l)

    The first graph is in space and comes with the pyramid; the others connect points that are near each other in
    feature space, and are searched here.

    Args:
        edge_convs: the widths of each EdgeConv.
        in_features: width of the input features in addition to xyz; 0 for none.
        head: computes the logits from the nodes.
        node_channels: C, the width of a node.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: see the segmenter and the classifier
    """

    def __init__(self, edge_convs: Sequence[Sequence[int]], in_features: int, head: Head, node_channels: int) -> None:
        super().__init__(PLAN, in_features, head, node_channels=node_channels)
        self.edge_convs: Layers[EdgeConv] = Layers()
        in_channels = 3 + in_features
        for widths in edge_convs:
            self.edge_convs.append(EdgeConv(in_channels, widths))
            in_channels = widths[-1]
        self.embedding = NormalisedDense(sum(widths[-1] for widths in edge_convs), 1024, SLOPE)

    def _local(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute the concatenated outputs of all EdgeConvs (B, N, C)."""
        nodes = join_features(pyramid.levels[0], features)
        (neighbours,) = pyramid.encoder
        outputs: list[Tensor] = []
        for edge_conv in self.edge_convs:
            if outputs:
                neighbours = feature_neighbours(nodes, K)
            nodes = edge_conv(nodes, neighbours)
            outputs.append(nodes)
        return torch.cat(outputs, dim=-1)

    def _body_macs(self, points: int) -> int:
        """Count all layers; as in all networks here, searches are not counted."""
        return sum(edge_conv.macs(points) for edge_conv in self.edge_convs) + self.embedding.macs(points)


class DgcnnSegmenter(Dgcnn, Segmenter):
    """A label for every point, from its own features and those of the whole cloud.

    [DGCNN](https://arxiv.org/abs/1801.07829), for the concatenated outputs h of all EdgeConvs:

        logits_i = head([max over j of embedding(h_j), h_i])

    This is the network for semantic segmentation, without the spatial transformer of the part segmentation.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 512) from each point's features and the cloud's."""
        local = self._local(features, pyramid)
        return self.head.lead(torch.cat([spread_maximum(self.embedding(local)), local], dim=-1))


class DgcnnClassifier(Dgcnn, Classifier):
    """One label for the whole cloud, from the maximum and the mean over all points.

    [DGCNN](https://arxiv.org/abs/1801.07829), Sec. 4.1 and Fig. 3, for the concatenated outputs h of all EdgeConvs:

        logits = head([max over i of embedding(h_i), mean over i of embedding(h_i)])

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes)
    """

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 512), the input of the embedding that is pooled."""
        return self._local(features, pyramid)

    def _summary(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        embedded = self.embedding(nodes)
        return torch.cat([embedded.max(dim=1).values, embedded.mean(dim=1)], dim=-1)


def build_dgcnn(size: Size) -> Dgcnn:
    """Build DGCNN for the task, classes and features of a size; it takes clouds of any number of points.

    As in the authors' networks, there are three EdgeConvs for segmentation and four for classification.
    """
    layer = partial(NormalisedDense, slope=SLOPE)
    if size.task == "classification":
        head = Head(2 * 1024, (512, 256), (0.5, 0.5), size.num_classes, layer)
        return DgcnnClassifier(((64,), (64,), (128,), (256,)), size.in_features, head, 512)
    head = Head(1024 + 3 * 64, (512, 256), (0.0, 0.3), size.num_classes, layer)
    return DgcnnSegmenter(((64, 64), (64, 64), (64,)), size.in_features, head, head.last_in_channels)


CHUNK = 2**22
"""Distances stored at a time: 16 MB in float32, all pairs of one cloud of 2048 points."""


@torch.no_grad()
def feature_neighbours(nodes: Tensor, k: int) -> Tensor:
    """Find the nodes nearest to each node of (B, N, C), including itself: indices (B, N, min(k, N)) in any order.

    Clouds are searched one by one, so that a cloud has the same neighbours in any batch.
    """
    k = min(k, nodes.shape[1])
    rows = max(1, CHUNK // nodes.shape[1])
    with torch.autocast(nodes.device.type, enabled=False):  # three digits cannot distinguish neighbours
        nodes = nodes.to(torch.promote_types(nodes.dtype, torch.float32))
        centred = nodes - nodes.mean(dim=1, keepdim=True)  # the products below lose digits far from the origin
        if in_one_piece():
            distances = centred.square().sum(dim=-1)[:, None] - 2 * centred @ centred.mT
            return distances.topk(k, largest=False, sorted=False).indices
        nearest = ([_nearest(queries, cloud, k) for queries in cloud.split(rows)] for cloud in centred)
        return torch.stack([torch.cat(found) for found in nearest])


def _nearest(queries: Tensor, cloud: Tensor, k: int) -> Tensor:
    """Find the k nearest: (Q, C) and (N, C) → (Q, k), by ‖x_j‖² − 2 x_i·x_j; ‖x_i‖² does not change the order."""
    squares = cloud.square().sum(dim=-1)
    return torch.addmm(squares, queries, cloud.T, alpha=-2).topk(k, largest=False, sorted=False).indices
