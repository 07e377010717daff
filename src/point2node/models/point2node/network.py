"""The complete networks: feature extraction → dynamic node correlation → fully connected head."""

from __future__ import annotations

from torch import Tensor

from point2node.geometry.pyramid import Pyramid
from point2node.models.layers import Head
from point2node.models.network import Network
from point2node.models.point2node.design import Loss
from point2node.models.point2node.feature_extraction import FeatureExtraction
from point2node.models.point2node.stages import DynamicNodeCorrelation


class Point2Node(Network):
    """Feature extraction, dynamic node correlation and head: shared by segmenter and classifier.

    [Point2Node](https://arxiv.org/abs/1912.10775), Fig. 1:

        logits = head(correlation(feature_extraction(points)))

    Args:
        feature_extraction: computes the nodes V⁽⁰⁾.
        correlation: updates them; its ``channels`` are the extraction's.
        head: computes the logits from the nodes.
        graph: K and d of the local graph.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: see the segmenter and the classifier
    """

    correlation: DynamicNodeCorrelation

    def __init__(
        self,
        feature_extraction: FeatureExtraction,
        correlation: DynamicNodeCorrelation,
        head: Head,
        *,
        graph: tuple[int, int] = (16, 2),
    ) -> None:
        super().__init__(
            feature_extraction.plan,
            feature_extraction.in_features,
            head,
            node_channels=feature_extraction.channels,
            node_level=feature_extraction.node_level,
        )
        self.feature_extraction = feature_extraction
        self.correlate(correlation, graph)

    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        return self.feature_extraction(features, pyramid)

    def _body_macs(self, points: int) -> int:
        return self.feature_extraction.macs(points)


class Point2NodeSegmenter(Point2Node):
    """A label for every point; the nodes are the points.

    [Point2Node](https://arxiv.org/abs/1912.10775) for scenes:

        logits = head(nodes)

    Args:
        feature_extraction: with a decoder; computes the nodes V⁽⁰⁾.
        correlation: updates them; its ``channels`` are the extraction's.
        head: computes the logits from the nodes.
        graph: K and d of the local graph.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, N, classes)
    """

    task = "segmentation"

    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Return logits (B, N, classes)."""
        return self.head(nodes)


class Point2NodeClassifier(Point2Node):
    """One label for the whole cloud; the nodes are the encoder's last level.

    [Point2Node](https://arxiv.org/abs/1912.10775) for shapes. In evaluation, and in training with ``loss = "pooled"``:

        logits = W (mean over the nodes of the head's hidden features) + b

    Args:
        feature_extraction: without a decoder; computes the nodes V⁽⁰⁾.
        correlation: updates them; its ``channels`` are the extraction's.
        head: computes the logits from the nodes.
        graph: K and d of the local graph.

    Shapes:
        - features: (B, N, in_features), or None
        - logits: (B, classes); in training with ``loss = "nodes"`` (B, nodes, classes), each node to be compared with
          the cloud's label
    """

    task = "classification"
    loss: Loss = "nodes"

    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Return logits of every node (B, nodes, classes) in training with ``loss = "nodes"``, each to be compared with
        the cloud's label; otherwise logits of the averaged features (B, classes).
        """
        if self.training and self.loss == "nodes":
            return self.head(nodes)
        return self.head.pooled(nodes)
