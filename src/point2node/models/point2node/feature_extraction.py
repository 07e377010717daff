"""Feature extraction: χ-conv encoder (classification) or encoder-decoder U-Net (segmentation)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from point2node.geometry.pyramid import Pyramid, PyramidPlan, Sampling, Search
from point2node.models.layers import Dense, Layers
from point2node.models.point2node.chi_conv import ChiConv
from point2node.models.point2node.design import DEFAULT, Design


@dataclass(frozen=True)
class EncoderLayer:
    """One row of the encoder's table; ``points=None`` keeps all points of the level above."""

    neighbours: int
    dilation: int
    points: int | None
    channels: int


@dataclass(frozen=True)
class DecoderLayer:
    """One row of the decoder's table, with levels counted from 0.

    ``named_source`` is the level that PointCNN's table names: it sets the lifted width. Where it differs from
    the level on which the previous layer's features live (PointCNN's second decoder layer), ``Design.decoder_source``
    says where neighbours are searched.
    """

    neighbours: int
    dilation: int
    named_source: int
    queries: int


class FeatureExtraction(nn.Module):
    """From N points to nodes: the encoder's last level, or with a decoder all N points again."""

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
        self.channels = in_channels
        self.node_level = source
        self.plan = PyramidPlan(
            level_sizes=tuple(layer.points for layer in encoder),
            sampling=sampling,
            encoder=tuple(searches),
            decoder=tuple(decoder_searches),
        )

    def forward(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Input features (B, N, in_features), or None, → nodes V⁽⁰⁾ (B, nodes, C)."""
        levels = pyramid.levels
        x = None if self.input is None else self.input(features)
        skips: list[Tensor] = []
        for chi_conv, search, found in zip(self.encoder, self.plan.encoder, pyramid.encoder, strict=True):
            x = chi_conv(levels[search.queries], levels[search.source], x, found)
            skips.append(x)
        nodes = skips[-1]
        for chi_conv, merge, search, found in zip(
            self.decoder, self.merge, self.plan.decoder, pyramid.decoder, strict=True
        ):
            points = levels[search.source]
            nodes = chi_conv(levels[search.queries], points, _spread(nodes, points), found)
            nodes = merge(torch.cat([nodes, skips[search.queries]], dim=-1))
        return nodes

    def macs(self, points: int) -> int:
        """Multiply-accumulates for one cloud of ``points`` points."""
        sizes = self.plan.sizes(points)
        total = 0 if self.input is None else self.input.macs(points)
        for chi_conv, search in zip(self.encoder, self.plan.encoder, strict=True):
            total += chi_conv.macs(sizes[search.queries])
        for chi_conv, merge, search in zip(self.decoder, self.merge, self.plan.decoder, strict=True):
            total += chi_conv.macs(sizes[search.queries]) + merge.macs(sizes[search.queries])
        return total


def _spread(features: Tensor, points: Tensor) -> Tensor:
    """Features (B, M, C) on the first M of points (B, P, 3), and zeros on the others: levels nest, so that a coarser
    level is the beginning of every finer one.
    """
    missing = points.shape[1] - features.shape[1]
    return F.pad(features, (0, 0, 0, missing)) if missing else features
