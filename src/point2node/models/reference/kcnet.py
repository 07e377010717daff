"""KCNet (Shen et al., CVPR 2018, arXiv:1712.06760): neighbourhoods compared with learned point sets, graph pooling."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from point2node.geometry.pyramid import Pyramid, PyramidPlan, Search
from point2node.models.layers import Head, gather_nodes
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

K = 16
"""Neighbours in the graph, excluding the point itself."""
KERNELS, KERNEL_POINTS, SIGMA, SPREAD = 32, 16, 0.005, 0.2
"""32 kernels of 16 points, initialised at random in a cube of ± 0.2."""
PLAN = PyramidPlan((None,), "farthest", encoder=(Search(1 + K, 1, 0, 0),))
"""All points; each is its own first neighbour."""


class KernelCorrelation(nn.Module):
    """A comparison of the neighbourhood of each point with learned point sets.

    [KCNet](https://arxiv.org/abs/1712.06760), over the points m of a kernel κ and the K neighbours n of point i:

        KC(κ, x_i) = 1/K Σ_m Σ_n exp(−‖κ_m + x_i − x_n‖² / σ)

    Each kernel κ is a set of learned points; the response is high if the neighbourhood looks like it.

    Shapes:
        - offsets: (B, N, K, 3), x_n − x_i
        - result: (B, N, 32), one response for each kernel
    """

    def __init__(self) -> None:
        super().__init__()
        self.kernels = nn.Parameter(torch.empty(KERNELS, KERNEL_POINTS, 3).uniform_(-SPREAD, SPREAD))

    def forward(self, offsets: Tensor) -> Tensor:
        """Offsets x_n − x_i (B, N, K, 3) → responses (B, N, 32)."""
        kernels = self.kernels.flatten(0, 1)  # (32 · 16, 3)
        squares = offsets.square().sum(dim=-1, keepdim=True) + kernels.square().sum(dim=-1) - 2 * offsets @ kernels.T
        responses = (-squares.clamp_min(0) / SIGMA).exp().unflatten(-1, self.kernels.shape[:2])
        return responses.sum(dim=-1).mean(dim=2)

    def macs(self, points: int) -> int:
        """Count the multiply-accumulates for one cloud."""
        return points * K * self.kernels.numel()


class KcNet(Network):
    """Responses of kernels, and features pooled over a graph: shared by segmenter and classifier.

    [KCNet](https://arxiv.org/abs/1712.06760):

        x_0 = [xyz, features, KC],  x_l = layer_l(x_(l−1)) for l = 1 … 4
        joined = [max over the graph of x_2, x_4]

    Args:
        widths: widths of the four layers; the features of the second are pooled and joined to those of the fourth.
        rest: widths of the layers before the maximum over the cloud.
        in_features: width of the input features in addition to xyz; 0 for none.
        head: computes the logits from the nodes.
        node_channels: C, the width of a node.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: see the segmenter and the classifier
    """

    def __init__(
        self,
        widths: tuple[int, int, int, int],
        rest: tuple[int, ...],
        in_features: int,
        head: Head,
        node_channels: int,
    ) -> None:
        super().__init__(PLAN, in_features, head, node_channels=node_channels)
        self.correlation_with_kernels = KernelCorrelation()
        self.layers = Mlp(3 + in_features + KERNELS, widths)
        self.rest = Mlp(widths[1] + widths[3], rest)

    def _local(self, features: Tensor | None, pyramid: Pyramid) -> list[Tensor]:
        """Return the input with its responses, the four layers' features, and the pooled second with the fourth."""
        (xyz,), (graph,) = pyramid.levels, pyramid.encoder
        offsets = gather_nodes(xyz, graph[..., 1:]) - xyz[:, :, None]
        outputs = [torch.cat([join_features(xyz, features), self.correlation_with_kernels(offsets)], dim=-1)]
        for layer in self.layers:
            outputs.append(layer(outputs[-1]))
        pooled = gather_nodes(outputs[2], graph).max(dim=2).values
        return [*outputs, torch.cat([pooled, outputs[4]], dim=-1)]

    def _body_macs(self, points: int) -> int:
        return self.correlation_with_kernels.macs(points) + self.layers.macs(points) + self.rest.macs(points)


class KcNetClassifier(KcNet, Classifier):
    """One label for the whole cloud, from the maximum over all points.

    [KCNet](https://arxiv.org/abs/1712.06760), with ``joined`` as in ``KcNet``:

        logits = head(max over the points of rest(joined))

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes)
    """

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 192), the input of the layer that is pooled."""
        return self._local(features, pyramid)[-1]

    def _summary(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        return self.rest(nodes).max(dim=1).values


class KcNetSegmenter(KcNet, Segmenter):
    """A label for every point, from the features of all its layers and of the whole cloud.

    [KCNet](https://arxiv.org/abs/1712.06760), with x_5 and x_6 the results of the two layers of ``rest``:

        logits = head([x_0, …, x_4, x_5, max over the points of x_6])

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 512)."""
        *outputs, joined = self._local(features, pyramid)
        fifth = self.rest.lead(joined)
        return self.head.lead(torch.cat([*outputs, fifth, spread_maximum(self.rest.finish(fifth))], dim=-1))


def build_kcnet(size: Size) -> KcNet:
    """Build KCNet for the task, classes and features of a size; it takes clouds of any number of points."""
    in_features = size.in_features
    if size.task == "classification":
        head = Head(1024, (512, 256), (0.0, 0.5), size.num_classes, NormalisedDense)
        return KcNetClassifier((64, 64, 64, 128), (1024,), in_features, head, 64 + 128)
    widths = (64, 64, 128, 128)
    channels = 3 + in_features + KERNELS + sum(widths) + 512 + 1024
    head = Head(channels, (512, 256), (0.0, 0.3), size.num_classes, NormalisedDense)
    return KcNetSegmenter(widths, (512, 1024), in_features, head, head.last_in_channels)
