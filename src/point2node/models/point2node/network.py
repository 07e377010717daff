"""The whole networks: feature extraction → dynamic node correlation → fully connected head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from point2node.core.errors import InputError
from point2node.geometry.pyramid import Pyramid, Search
from point2node.models.layers import Head
from point2node.models.network import Array, Network
from point2node.models.point2node.design import Loss
from point2node.models.point2node.explanation import Explanation
from point2node.models.point2node.feature_extraction import FeatureExtraction
from point2node.models.point2node.stages import DynamicNodeCorrelation


class Point2Node(Network):
    """What both networks share: nodes, their correlation, and its explanation.

    Args:
        feature_extraction: gives the nodes V⁽⁰⁾.
        correlation: updates them; its ``channels`` are the extraction's.
        head: gives logits.
        graph: K and d of the local graph.
    """

    def __init__(
        self,
        feature_extraction: FeatureExtraction,
        correlation: DynamicNodeCorrelation,
        head: Head,
        *,
        graph: tuple[int, int] = (16, 2),
    ) -> None:
        level = feature_extraction.node_level
        search = Search(*graph, source=level, queries=level) if correlation.needs_neighbours else None
        plan = replace(feature_extraction.plan, correlation=search)
        super().__init__(plan, feature_extraction.in_features, head)
        self.feature_extraction = feature_extraction
        self.correlation = correlation
        self.graph = graph

    def explain(self, xyz: Array, features: Array | None = None, *, nodes: Sequence[int] | Array) -> Explanation:
        """Why: the correlations and gates of chosen nodes. Takes what ``run`` takes; a single cloud counts as B = 1.

        The numbers are those of the network's own stages; the N×N matrix is never held. A segmenter's node i is
        point i; for a classifier ``explanation.node_points`` says which point a node stands on.
        """
        with self._evaluating():
            return self.explain_pyramid(*self._prepare(xyz, features), nodes)

    def explain_pyramid(self, features: Tensor | None, pyramid: Pyramid, nodes: Sequence[int] | Array) -> Explanation:
        """``explain`` for what ``forward`` takes; the network has to be in evaluation mode."""
        self._check(features, pyramid)
        V = self.feature_extraction(features, pyramid)
        chosen = self._check_chosen(nodes, V)
        explanation = self.correlation.explain(V, pyramid.correlation, chosen)
        return replace(explanation, node_points=pyramid.numbers[self.feature_extraction.node_level])

    def macs(self, points: int) -> int:
        """Multiply-accumulates of one forward pass on a cloud of ``points`` points, from the paper's formulas."""
        nodes = self.feature_extraction.level_sizes(points)[self.feature_extraction.node_level]
        extraction = self.feature_extraction.macs(points)
        return extraction + self.correlation.macs(nodes, self.graph[0]) + self.head.macs(nodes)

    def _correlated_nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        nodes = self.feature_extraction(features, pyramid)  # V⁽⁰⁾
        return self.correlation(nodes, pyramid.correlation)  # V⁽³⁾

    def _check_chosen(self, nodes: Sequence[int] | Array, V: Tensor) -> Tensor:
        chosen = torch.as_tensor(nodes, device=V.device).long()
        if chosen.ndim == 1:
            chosen = chosen.expand(len(V), -1)
        if chosen.ndim != 2 or not chosen.numel() or len(chosen) != len(V):
            raise InputError("nodes", expected=f"(S,) or ({len(V)}, S) node numbers", found=str(tuple(chosen.shape)))
        if chosen.min() < 0 or chosen.max() >= V.shape[1]:
            worst = int(chosen.max()) if chosen.min() >= 0 else int(chosen.min())
            raise InputError("nodes", expected=f"numbers from 0 to {V.shape[1] - 1}", found=str(worst))
        return chosen


class Point2NodeSegmenter(Point2Node):
    """A label for every point; the nodes are the points."""

    task = "segmentation"

    def _logits(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """(B, N, classes)."""
        return self.head(self._correlated_nodes(features, pyramid))


class Point2NodeClassifier(Point2Node):
    """A label for the whole cloud; the nodes are the encoder's last level."""

    task = "classification"
    loss: Loss = "nodes"

    def _logits(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Where the loss is taken at the nodes, in training logits of every node (B, nodes, classes), each to be
        compared with the cloud's label; otherwise the head's features are averaged over the nodes first: (B, classes).
        """
        nodes = self._correlated_nodes(features, pyramid)
        if self.training and self.loss == "nodes":
            return self.head(nodes)
        return self.head.pooled(nodes)
