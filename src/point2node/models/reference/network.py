"""What the reference networks share: how a label comes from their nodes, for every point or for the whole cloud."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor

from point2node.geometry.pyramid import Pyramid
from point2node.models.network import Network


class Segmenter(Network):
    """A label for every point; the nodes are what the last hidden layer of the head reads.

    The form of [PointNet](https://arxiv.org/abs/1612.00593) and its successors:

        logits = W layer(nodes) + b

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    task = "segmentation"

    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """(B, N, classes)."""
        return self.head.finish(nodes)


class Classifier(Network):
    """One label for the whole cloud: the head reads a summary of all nodes.

    The form of [PointNet](https://arxiv.org/abs/1612.00593) and its successors:

        logits = head(summary(nodes))

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes)
    """

    task = "classification"

    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """(B, classes)."""
        return self.head(self._summary(nodes, pyramid))

    @abstractmethod
    def _summary(self, nodes: Tensor, pyramid: Pyramid) -> Tensor:
        """What the head reads: nodes (B, nodes, C) → one row for each cloud."""

    def _head_rows(self, nodes: int) -> int:
        return 1
