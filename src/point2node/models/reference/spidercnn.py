"""SpiderCNN (Xu et al., ECCV 2018, arXiv:1803.11527): filters that are a step function of the neighbour's rank times a
Taylor polynomial of its offset.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from point2node.geometry.pyramid import Pyramid, PyramidPlan, Search
from point2node.models.layers import Head, Layers, gather_nodes, linear
from point2node.models.network import Network
from point2node.models.reference.network import Classifier, NormalisedDense, Segmenter, join_features
from point2node.models.sizes import Size

WIDTHS = (32, 64, 128, 256)
TERMS = 20
"""Monomials of x, y and z up to the third degree."""
POOLED = 2
"""Top-k pooling: the number of largest values that are kept per channel."""


def monomials(offsets: Tensor) -> Tensor:
    """Compute xᵃ yᵇ zᶜ with a + b + c ≤ 3: (…, 3) → (…, 20)."""
    powers = [torch.ones_like(offsets), offsets, offsets.square(), offsets**3]
    exponents = [(a, b, c) for a in range(4) for b in range(4 - a) for c in range(4 - a - b)]
    return torch.stack([powers[a][..., 0] * powers[b][..., 1] * powers[c][..., 2] for a, b, c in exponents], dim=-1)


class SpiderConv(nn.Module):
    """A convolution whose kernel is a step function of the neighbour's rank times a Taylor polynomial of its offset.

    [SpiderCNN](https://arxiv.org/abs/1803.11527), for the neighbours k of p, sorted by distance:

        f′(p) = Σ_k g(p_k − p) f(p_k),  g = g_step · g_Taylor

    g_Taylor are T polynomials of degree 3; g_step has separate weights for each rank k, as a kernel of size K.

    Args:
        in_channels: C_in.
        out_channels: C.
        neighbours: K.
        polynomials: T.

    Shapes:
        - nodes: (B, N, C_in)
        - terms: (B, N, K, 20), monomials of the offsets
        - neighbours: (B, N, K), node indices
        - result: (B, N, C)
    """

    def __init__(self, in_channels: int, out_channels: int, neighbours: int, polynomials: int) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.polynomials = polynomials
        self.taylor = linear(TERMS, polynomials, bias=False)  # the constant term is among the monomials
        self.step = NormalisedDense(neighbours * polynomials * in_channels, out_channels)

    def forward(self, nodes: Tensor, terms: Tensor, neighbours: Tensor) -> Tensor:
        """Nodes (B, N, C_in), monomials of offsets (B, N, K, 20), neighbours (B, N, K) → (B, N, C)."""
        g = self.taylor(terms)[..., None]  # (B, N, K, T, 1)
        products = g * gather_nodes(nodes, neighbours)[:, :, :, None]  # (B, N, K, T, C_in)
        return self.step(products.flatten(2))

    def macs(self, points: int) -> int:
        """Count the multiply-accumulates for one cloud."""
        edges = points * self.neighbours
        products = self.step.linear.in_features // self.neighbours
        return edges * (TERMS * self.polynomials + products) + self.step.macs(points)


class SpiderCnn(Network):
    """Four SpiderConvs on one graph in space, with concatenated outputs: shared by segmenter and classifier.

    [SpiderCNN](https://arxiv.org/abs/1803.11527):

        x_(l+1) = SpiderConv(x_l)
        h = [x_1, x_2, x_3, x_4]

    Args:
        neighbours: K.
        polynomials: T of the SpiderConvs.
        in_features: width of the input features in addition to xyz; 0 for none.
        head: computes the logits from the nodes.
        node_channels: C, the width of a node.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: see the segmenter and the classifier
    """

    def __init__(self, neighbours: int, polynomials: int, in_features: int, head: Head, node_channels: int) -> None:
        plan = PyramidPlan((None,), "farthest", encoder=(Search(neighbours, 1, 0, 0),))
        super().__init__(plan, in_features, head, node_channels=node_channels)
        pairs = pairwise((3 + in_features, *WIDTHS))
        self.spider_convs: Layers[SpiderConv] = Layers(SpiderConv(*pair, neighbours, polynomials) for pair in pairs)

    def _local(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute the concatenated outputs of all SpiderConvs (B, N, 480)."""
        (xyz,), (neighbours,) = pyramid.levels, pyramid.encoder
        terms = monomials(gather_nodes(xyz, neighbours) - xyz[:, :, None])
        nodes, outputs = join_features(xyz, features), []
        for spider_conv in self.spider_convs:
            nodes = spider_conv(nodes, terms, neighbours)
            outputs.append(nodes)
        return torch.cat(outputs, dim=-1)

    def _body_macs(self, points: int) -> int:
        return sum(spider_conv.macs(points) for spider_conv in self.spider_convs)


def pool_largest(nodes: Tensor) -> Tensor:
    """Return the two largest values of every channel: (B, N, C) → (B, 2C); a single point counts twice."""
    nodes = nodes if nodes.shape[1] >= POOLED else nodes.expand(-1, POOLED, -1)
    return nodes.topk(POOLED, dim=1).values.flatten(1)


class SpiderCnnClassifier(SpiderCnn, Classifier):
    """One label for the whole cloud, from the two largest values of every channel.

    [SpiderCNN](https://arxiv.org/abs/1803.11527), with h the concatenated outputs of all SpiderConvs:

        logits = head(the two largest values of every channel of h)

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes)
    """

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 480); they are pooled directly."""
        return self._local(features, pyramid)

    def _summary(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        return pool_largest(nodes)


class SpiderCnnSegmenter(SpiderCnn, Segmenter):
    """A label for every point, from its own features and those of the whole cloud.

    [SpiderCNN](https://arxiv.org/abs/1803.11527), with h the concatenated outputs of all SpiderConvs:

        logits_i = head([the two largest values of every channel of h, h_i])

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 256)."""
        local = self._local(features, pyramid)
        whole = pool_largest(local)[:, None].expand(-1, local.shape[1], -1)
        return self.head.lead(torch.cat([whole, local], dim=-1))


def build_spidercnn(size: Size) -> SpiderCnn:
    """Build SpiderCNN for the task, classes and features of a size; it takes clouds of any number of points."""
    channels = sum(WIDTHS)
    if size.task == "classification":
        neighbours, polynomials = 20, 5
        head = Head(POOLED * channels, (1024, 512), (0.7, 0.7), size.num_classes, NormalisedDense)
        return SpiderCnnClassifier(neighbours, polynomials, size.in_features, head, channels)
    neighbours, polynomials = 16, 3
    head = Head((1 + POOLED) * channels, (256, 256, 128), (0.2, 0.2, 0.0), size.num_classes, NormalisedDense)
    return SpiderCnnSegmenter(neighbours, polynomials, size.in_features, head, head.last_in_channels)
