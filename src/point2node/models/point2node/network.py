"""The whole networks: feature extraction → dynamic node correlation → fully connected head."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from point2node.core.errors import InputError
from point2node.geometry.coordinates import check_coordinates, shift_to_float32
from point2node.geometry.pyramid import Pyramid, Search, build_pyramid
from point2node.models.layers import Head
from point2node.models.point2node.explanation import Explanation
from point2node.models.point2node.feature_extraction import FeatureExtraction
from point2node.models.point2node.stages import DynamicNodeCorrelation

Array = NDArray[np.floating] | Tensor


class Point2Node(nn.Module, ABC):
    """What both networks share: nodes, their correlation, and running on plain arrays.

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
        super().__init__()
        self.feature_extraction = feature_extraction
        self.correlation = correlation
        self.head = head
        level = feature_extraction.node_level
        search = Search(*graph, source=level, queries=level) if correlation.needs_neighbours else None
        self.plan = replace(feature_extraction.plan, correlation=search)
        self.graph = graph

    def run(self, xyz: Array, features: Array | None = None) -> Array:
        """Logits of plain arrays, in evaluation mode and without gradients.

        A segmenter turns (N, 3) into (N, classes) and (B, N, 3) into (B, N, classes); a classifier into (classes,)
        and (B, classes).

        Coordinates may be anything finite, map coordinates in float64 included: they are brought into the frame
        that the network was made for. Features are what it was trained on (rgb / 255 − 0.5, say). Arrays give
        arrays, tensors give tensors.
        """
        with self._evaluating():
            given, pyramid = self._prepare(xyz, features)
            logits: Tensor = self(given, pyramid)
        logits = logits if np.ndim(xyz) == 3 else logits[0]
        return logits if isinstance(xyz, Tensor) else logits.cpu().numpy()

    def explain(self, xyz: Array, features: Array | None = None, *, nodes: Sequence[int] | Array) -> Explanation:
        """Why: the correlations and gates of chosen nodes. Takes what ``run`` takes; a single cloud counts as B = 1.

        The numbers are those of the network's own stages; the N×N matrix is never held. A segmenter's node i is
        point i; for a classifier ``explanation.node_points`` says which point a node stands on.
        """
        with self._evaluating():
            given, pyramid = self._prepare(xyz, features)
            self._check(given, pyramid)
            V = self.feature_extraction(given, pyramid)
            chosen = self._check_chosen(nodes, V)
            explanation = self.correlation.explain(V, pyramid.correlation, chosen)
            return replace(explanation, node_points=pyramid.numbers[self.feature_extraction.node_level])

    def macs(self, points: int) -> int:
        """Multiply-accumulates of one forward pass on a cloud of ``points`` points, from the paper's formulas."""
        nodes = self.feature_extraction.level_sizes(points)[self.feature_extraction.node_level]
        extraction = self.feature_extraction.macs(points)
        return extraction + self.correlation.macs(nodes, self.graph[0]) + self.head.macs(nodes)

    def _correlated_nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        self._check(features, pyramid)
        nodes = self.feature_extraction(features, pyramid)  # V⁽⁰⁾
        return self.correlation(nodes, pyramid.correlation)  # V⁽³⁾

    @abstractmethod
    def _to_frame(self, xyz: Tensor) -> Tensor:
        """Coordinates (B, N, 3) in the frame that the network was made for, float32."""

    def _prepare(self, xyz: Array, features: Array | None) -> tuple[Tensor | None, Pyramid]:
        weight = self.head.logits.weight
        coordinates = torch.as_tensor(xyz)
        if coordinates.ndim == 2:
            coordinates = coordinates[None]
        if not coordinates.is_floating_point():
            coordinates = coordinates.double()
        check_coordinates(coordinates)
        frame = self._to_frame(coordinates.to(weight.device)).to(weight.dtype)
        pyramid = build_pyramid(frame, self.plan)
        if features is None:
            return None, pyramid
        given = torch.as_tensor(features).to(weight)
        return given if given.ndim == 3 else given[None], pyramid

    def _check(self, features: Tensor | None, pyramid: Pyramid) -> None:
        xyz, weight = pyramid.levels[0], self.head.logits.weight
        if xyz.dtype != weight.dtype:
            raise InputError(
                "pyramid",
                expected=f"{weight.dtype} coordinates, as the weights are",
                found=str(xyz.dtype),
                remedy="Shift the cloud before casting it: shift_to_float32(xyz).",
            )
        width = self.feature_extraction.in_features
        if width == 0 and features is None:
            return
        found = "none" if features is None else str(tuple(features.shape))
        if features is None or tuple(features.shape) != (*xyz.shape[:2], width):
            raise InputError(
                "features",
                expected=f"shape {(*xyz.shape[:2], width)}" if width else "none: this network takes xyz only",
                found=found,
                remedy=f"create_model(..., in_features={_width(features)}) makes a network for such input.",
            )
        if not torch.isfinite(features).all():
            bad = int((~torch.isfinite(features)).sum())
            raise InputError("features", expected="finite numbers", found=f"{bad} NaN or infinite values")

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

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        was_training = self.training
        self.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.train(was_training)


class Point2NodeSegmenter(Point2Node):
    """A label for every point; the nodes are the points."""

    def forward(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Features (B, N, in_features), or None where the network takes none, → logits (B, N, classes)."""
        return self.head(self._correlated_nodes(features, pyramid))

    def _to_frame(self, xyz: Tensor) -> Tensor:
        """The room frame of S3DIS: x and y centred, z from 0."""
        return shift_to_float32(xyz)[0]


class Point2NodeClassifier(Point2Node):
    """A label for the whole cloud; the nodes are the encoder's last level."""

    def forward(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """In training logits of every node (B, nodes, classes), each to be compared with the cloud's label;
        in evaluation the head's features are averaged over the nodes first: (B, classes).
        """
        hidden = self.head.hidden(self._correlated_nodes(features, pyramid))
        if not self.training:
            hidden = hidden.mean(dim=1)
        return self.head.logits(hidden)

    def _to_frame(self, xyz: Tensor) -> Tensor:
        """The frame of the ModelNet releases: centred, scaled into the unit sphere."""
        centred = (xyz.double() - xyz.double().mean(dim=1, keepdim=True)).float()
        radius = centred.norm(dim=-1).amax(dim=1)[:, None, None]
        return centred / radius.clamp_min(torch.finfo(torch.float32).tiny)


def _width(features: Tensor | None) -> int:
    return 0 if features is None else features.shape[-1]
