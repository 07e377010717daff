"""Feature extraction: χ-conv encoder (classification) or encoder-decoder U-Net (segmentation).

In the joint variants its levels are correlated as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from point2node.geometry.pyramid import Pyramid, PyramidPlan, Sampling, Search
from point2node.models.layers import Dense, Layers
from point2node.models.point2node.chi_conv import ChiConv
from point2node.models.point2node.design import DEFAULT, Design
from point2node.models.point2node.stages import DynamicNodeCorrelation, Joint


@dataclass(frozen=True)
class EncoderLayer:
    """One row of the encoder's table; ``points=None`` keeps all points of the previous level."""

    neighbours: int
    dilation: int
    points: int | None
    channels: int


@dataclass(frozen=True)
class DecoderLayer:
    """One row of the decoder's table, with levels counted from 0.

    ``named_source`` is the level that PointCNN's table names; it sets the lifted width. If it is not the level of the
    previous layer's features (as in PointCNN's second decoder layer), ``Design.decoder_source`` selects where
    neighbours are searched.
    """

    neighbours: int
    dilation: int
    named_source: int
    queries: int


class FeatureExtraction(nn.Module):
    """The layers from N points to nodes, which are the points of the encoder's last level or, with a decoder, all N.

    "Feature extraction" in Fig. 1 of [Point2Node](https://arxiv.org/abs/1912.10775): the χ-conv U-Net of
    [PointCNN](https://arxiv.org/abs/1801.07791), or its encoder alone:

        encoder:  E_l = χ-conv from level l − 1 to level l; the first is within level 0
        decoder:  D_l = Dense([χ-conv from a coarser level to level l, E_l])

    Args:
        encoder: the layers, from the finest level to the coarsest.
        decoder: the layers from the coarsest level back to the finest; empty for a classifier.
        in_features: width of the input features in addition to xyz; 0 for none.
        sampling: how the levels are sampled.
        design: the choices that the paper leaves open.

    Shapes:
        - features: (B, N, in_features), or None
        - result: (B, nodes, C), the nodes V⁽⁰⁾
    """

    def __init__(
        self,
        encoder: Sequence[EncoderLayer],
        decoder: Sequence[DecoderLayer] = (),
        *,
        in_features: int,
        sampling: Sampling,
        design: Design = DEFAULT,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        first = encoder[0].channels
        self.input = Dense(in_features, first // 2) if in_features else None

        self.encoder: Layers[ChiConv] = Layers()
        searches: list[Search] = []
        in_channels = first // 2 if in_features else 0
        for level, layer in enumerate(encoder):
            if level == 0:
                lifted, multiplier = first // (4 if in_features else 2), 4
            else:
                previous = encoder[level - 1].channels
                lifted, multiplier = previous // 4, math.ceil(layer.channels / previous)
            last = level == len(encoder) - 1
            chi_conv = ChiConv(
                layer.neighbours,
                in_channels,
                lifted,
                layer.channels,
                multiplier,
                with_global=last,
                start=design.chi_start,
            )
            self.encoder.append(chi_conv)
            searches.append(Search(layer.neighbours, layer.dilation, max(level - 1, 0), level))
            in_channels = chi_conv.out_channels
        level_channels = [chi_conv.out_channels for chi_conv in self.encoder]

        self.decoder: Layers[ChiConv] = Layers()
        self.merge: Layers[Dense] = Layers()
        decoder_searches: list[Search] = []
        source = len(encoder) - 1
        for row in decoder:
            channels = encoder[row.queries].channels
            lifted = encoder[row.named_source].channels // 4
            self.decoder.append(ChiConv(row.neighbours, in_channels, lifted, channels, 1, start=design.chi_start))
            self.merge.append(Dense(channels + level_channels[row.queries], channels))
            searched = source if design.decoder_source == "features" else row.named_source
            decoder_searches.append(Search(row.neighbours, row.dilation, searched, row.queries))
            in_channels, source = channels, row.queries
        self.inner = nn.ModuleDict()
        """Correlations of the joint variants by their place, such as "encoder_2"; empty in the paper's."""
        self.channels = in_channels
        self.node_level = source
        self.plan = PyramidPlan(
            level_sizes=tuple(layer.points for layer in encoder),
            sampling=sampling,
            encoder=tuple(searches),
            decoder=tuple(decoder_searches),
        )

    def correlate_inside(self, joint: Joint, graph: tuple[int, int], reduction: int, design: Design) -> None:
        """Add correlations after the layers of the levels of ``joint``; ``graph`` is K and d of their graphs."""
        levels = [level for level in range(1, len(self.encoder)) if level != self.node_level][-joint.levels :]
        channels = {f"encoder_{level}": list(self.encoder)[level].out_channels for level in levels}
        if joint.decoder:
            outputs = zip(self.plan.decoder, self.merge, strict=True)
            merged: dict[int, int] = {search.queries: merge.linear.out_features for search, merge in outputs}
            channels |= {f"decoder_{level}": merged[level] for level in levels if level in merged}
        for place, width in channels.items():
            self.inner[place] = DynamicNodeCorrelation(joint.inside, width, reduction, design, shared=joint.shared)
        if any(correlation.needs_neighbours for correlation in self.inner.values()):
            self.plan = replace(self.plan, inner=tuple(Search(*graph, level, level) for level in levels))
        self.graph = graph

    def forward(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute nodes V⁽⁰⁾ (B, nodes, C) from input features (B, N, in_features), or None."""
        levels = pyramid.levels
        graphs = {search.queries: found for search, found in zip(self.plan.inner, pyramid.inner, strict=True)}

        def correlate(part: str, level: int, points: Tensor) -> Tensor:
            place = f"{part}_{level}"
            return self.inner[place](points, graphs.get(level)) if place in self.inner else points

        x = None if self.input is None else self.input(features)
        skips: list[Tensor] = []
        for chi_conv, search, found in zip(self.encoder, self.plan.encoder, pyramid.encoder, strict=True):
            x = chi_conv(levels[search.queries], levels[search.source], x, found)
            x = correlate("encoder", search.queries, x)
            skips.append(x)
        nodes = skips[-1]
        for chi_conv, merge, search, found in zip(
            self.decoder, self.merge, self.plan.decoder, pyramid.decoder, strict=True
        ):
            points = levels[search.source]
            nodes = chi_conv(levels[search.queries], points, _pad_with_zeros(nodes, points), found)
            nodes = merge(torch.cat([nodes, skips[search.queries]], dim=-1))
            nodes = correlate("decoder", search.queries, nodes)
        return nodes

    def macs(self, points: int) -> int:
        """Count the multiply-accumulates for one cloud of ``points`` points."""
        sizes = self.plan.sizes(points)
        total = 0 if self.input is None else self.input.macs(points)
        for chi_conv, search in zip(self.encoder, self.plan.encoder, strict=True):
            total += chi_conv.macs(sizes[search.queries])
        for chi_conv, merge, search in zip(self.decoder, self.merge, self.plan.decoder, strict=True):
            total += chi_conv.macs(sizes[search.queries]) + merge.macs(sizes[search.queries])
        for place, correlation in self.inner.items():
            assert isinstance(correlation, DynamicNodeCorrelation)
            total += correlation.macs(sizes[int(place.rpartition("_")[2])], self.graph[0])
        return total


def _pad_with_zeros(features: Tensor, points: Tensor) -> Tensor:
    """Pad features (B, M, C) of the first M of points (B, P, 3) with zeros to (B, P, C): levels are nested, so the
    points of a coarser level come first in every finer one.
    """
    missing = points.shape[1] - features.shape[1]
    return F.pad(features, (0, 0, 0, missing)) if missing else features
