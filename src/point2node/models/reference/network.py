"""Shared parts of the reference models: how labels are computed from nodes, and layers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from point2node.geometry.pyramid import Pyramid
from point2node.models.batch_norm import BatchNorm
from point2node.models.layers import Dense
from point2node.models.network import Network
from point2node.models.operators.activation_norm import activate_and_normalise_


class Segmenter(Network):
    """A label for every point; the nodes are the input of the head's last hidden layer.

    The form of [PointNet](https://arxiv.org/abs/1612.00593) and its successors:

        logits = W layer(nodes) + b

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    task = "segmentation"

    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Return logits (B, N, classes)."""
        return self.head.finish(nodes)


class Classifier(Network):
    """One label for the whole cloud; the head reads a summary of all nodes.

    The form of [PointNet](https://arxiv.org/abs/1612.00593) and its successors:

        logits = head(summary(nodes))

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes)
    """

    task = "classification"

    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Return logits (B, classes)."""
        return self.head(self._summary(nodes, pyramid))

    @abstractmethod
    def _summary(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        """Summarise nodes (B, nodes, C) as one row per cloud, the input of the head."""

    def _head_rows(self, nodes: int) -> int:
        return 1


class NormalisedDense(Dense):
    """A linear map without bias, then batch norm, then ReLU, or leaky ReLU if a slope is given.

        ReLU(BatchNorm(W x))

    The published layers also have a bias, but batch norm cancels it, so it would never learn.

    Args:
        in_channels: width of the input.
        out_channels: width of the result.
        slope: slope of the leaky ReLU for negative values; 0 for a plain ReLU.

    Shapes:
        - x: (…, in_channels)
        - result: (…, out_channels)
    """

    def __init__(self, in_channels: int, out_channels: int, slope: float = 0.0) -> None:
        super().__init__(in_channels, out_channels)
        self.norm = BatchNorm(out_channels, eps=1e-5, momentum=0.1)
        self.slope = slope

    def forward(self, x: Tensor) -> Tensor:
        """(…, in_channels) → (…, out_channels)."""
        return self.activate(self.linear(x))

    def activate(self, z: Tensor) -> Tensor:
        """Apply what follows the linear map; z (…, out_channels) may be overwritten."""
        z = activate_and_normalise_(z, self.norm, activation=False)
        return F.leaky_relu(z, self.slope) if self.slope else F.relu(z)


class Mlp(nn.Sequential):
    """A sequence of layers, applied to every point alike.

    mlp(…) of [PointNet](https://arxiv.org/abs/1612.00593) and its successors:

        layer_n(… layer_1(x))

    Args:
        in_channels: width of the input.
        widths: widths of the layers.
        slope: slope of their leaky ReLUs; 0 for plain ReLUs.
        layer: makes a layer from its input and output widths and the slope.

    Shapes:
        - x: (…, in_channels)
        - result: (…, the last of the widths)
    """

    def __init__(
        self,
        in_channels: int,
        widths: Sequence[int],
        slope: float = 0.0,
        layer: type[NormalisedDense] = NormalisedDense,
    ) -> None:
        super().__init__(*(layer(*pair, slope) for pair in pairwise((in_channels, *widths))))

    def lead(self, x: Tensor) -> Tensor:
        """Apply every layer but the last."""
        for layer in list(self)[:-1]:
            x = layer(x)
        return x

    def finish(self, x: Tensor) -> Tensor:
        """Apply the last layer to the result of ``lead``."""
        return self[-1](x)

    def macs(self, rows: int) -> int:
        """Count the multiply-accumulates for ``rows`` vectors."""
        return sum(layer.macs(rows) for layer in self if isinstance(layer, Dense))


def join_features(xyz: Tensor, features: Tensor | None) -> Tensor:
    """Concatenate (…, 3) and (…, C) → (…, 3 + C); only the coordinates if there are no features."""
    return xyz if features is None else torch.cat([xyz, features], dim=-1)


def spread_maximum(x: Tensor) -> Tensor:
    """Compute the maximum over each cloud and repeat it for all points: (B, N, C) → (B, N, C)."""
    return x.max(dim=1, keepdim=True).values.expand_as(x)
