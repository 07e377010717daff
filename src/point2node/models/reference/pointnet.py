"""PointNet (Qi et al., CVPR 2017, arXiv:1612.00593): layers on single points, then one maximum over all."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from point2node.geometry.pyramid import Pyramid, PyramidPlan
from point2node.models.layers import Head
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

PLAN = PyramidPlan(level_sizes=(None,), sampling="farthest", encoder=())
"""All points, without neighbours."""

REGULARISATION = 0.001
"""The weight of L_reg (Sec. 4.2)."""


class AlignmentNetwork(nn.Module):
    """T-Net: a small PointNet that predicts a k×k matrix to align its input with.

    [PointNet](https://arxiv.org/abs/1612.00593), Sec. 4.2 and Appendix C:

        A = matrix(MLP(max over the points of MLP(x)))

    The last layer is initialised with weight 0 and bias I, so training starts without any alignment.

    Args:
        channels: k.

    Shapes:
        - x: (B, N, k)
        - result: (B, k, k)
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.shared = Mlp(channels, (64, 128, 1024))
        self.hidden = Mlp(1024, (512, 256))
        self.matrix = nn.Linear(256, channels * channels)
        nn.init.zeros_(self.matrix.weight)
        with torch.no_grad():
            self.matrix.bias.copy_(torch.eye(channels).flatten())

    def forward(self, x: Tensor) -> Tensor:
        """(B, N, k) → (B, k, k)."""
        whole = self.shared(x).max(dim=1).values  # (B, 1024)
        return self.matrix(self.hidden(whole)).unflatten(-1, (self.channels, self.channels))

    def macs(self, points: int) -> int:
        """Count the multiply-accumulates for one cloud, including the alignment of its points."""
        matrix = self.matrix.in_features * self.matrix.out_features
        return self.shared.macs(points) + self.hidden.macs(1) + matrix + points * self.channels**2


class PointNet(Network):
    """Layers on single points, then one maximum over all: shared by segmenter and classifier.

    [PointNet](https://arxiv.org/abs/1612.00593), Eq. 1 and Fig. 2:

        f({x₁, …, xₙ}) = g(h(x₁), …, h(xₙ)),  g = max

    The first alignment is only of coordinates, not of input features.

    Args:
        in_features: width of the input features in addition to xyz; 0 for none.
        head: computes the logits from the nodes.
        node_channels: C, the width of a node.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: see the segmenter and the classifier
    """

    def __init__(self, in_features: int, head: Head, node_channels: int) -> None:
        super().__init__(PLAN, in_features, head, node_channels=node_channels)
        self.input_alignment = AlignmentNetwork(3)
        self.first = Mlp(3 + in_features, (64, 64))
        self.feature_alignment = AlignmentNetwork(64)
        self.second = Mlp(64, (64, 128, 1024))
        self._penalty: Tensor | None = None

    def penalty(self) -> Tensor | None:
        """Return 0.001 · L_reg; L_reg = ‖I − AAᵀ‖²_F of the feature alignment A (Eq. 2), averaged over the batch."""
        penalty, self._penalty = self._penalty, None
        return penalty

    def _aligned(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute the aligned features of each point (B, N, 64)."""
        xyz = pyramid.levels[0]
        aligned = xyz @ self.input_alignment(xyz)  # (B, N, 3)
        x = self.first(join_features(aligned, features))  # (B, N, 64)
        A = self.feature_alignment(x)  # (B, 64, 64)
        self._penalty = REGULARISATION * distance_from_orthogonal(A) if self.training else None
        return x @ A

    def _body_macs(self, points: int) -> int:
        layers = self.input_alignment, self.first, self.feature_alignment, self.second
        return sum(layer.macs(points) for layer in layers)


def distance_from_orthogonal(A: Tensor) -> Tensor:
    """Compute ‖I − AAᵀ‖²_F of (B, k, k), averaged over the batch."""
    identity = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return (identity - A @ A.mT).square().sum(dim=(-2, -1)).mean()


class PointNetSegmenter(PointNet, Segmenter):
    """A label for every point, from its own features and those of the whole cloud.

    [PointNet](https://arxiv.org/abs/1612.00593), Fig. 2, lower part, for the aligned features h of each point:

        logits_i = head([h_i, max over j of MLP(h_j)])

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 128), the "point features" of Fig. 2."""
        local = self._aligned(features, pyramid)
        return self.head.lead(torch.cat([local, spread_maximum(self.second(local))], dim=-1))


class PointNetClassifier(PointNet, Classifier):
    """One label for the whole cloud, from its 1024 features.

    [PointNet](https://arxiv.org/abs/1612.00593), Fig. 2, upper part, for the aligned features h of each point:

        logits = head(max over i of MLP(h_i))

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes)
    """

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes (B, N, 128), the input of the layer that is pooled."""
        return self.second.lead(self._aligned(features, pyramid))

    def _summary(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        return self.second.finish(nodes).max(dim=1).values


def build_pointnet(size: Size) -> PointNet:
    """Build PointNet for the task, classes and features of a size; it takes clouds of any number of points."""
    if size.task == "classification":
        head = Head(1024, (512, 256), (0.0, 0.3), size.num_classes, NormalisedDense)
        return PointNetClassifier(size.in_features, head, 128)
    head = Head(64 + 1024, (512, 256, 128, 128), (0.0, 0.0, 0.0, 0.3), size.num_classes, NormalisedDense)
    return PointNetSegmenter(size.in_features, head, head.last_in_channels)
