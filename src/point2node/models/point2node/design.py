"""Choices inside the network that the paper leaves open, as one record that can be set, stored and compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CorrelationStart = Literal["even", "glorot"]
ChiStart = Literal["dense", "convolution"]
DecoderSource = Literal["features", "named"]
Loss = Literal["nodes", "pooled"]


@dataclass(frozen=True)
class Design:
    """Design choices inside the network; docs/design-decisions.md gives the reasons for the defaults."""

    correlation_start: CorrelationStart = "even"
    """Initial values of θ and φ: near 0, so that every node attends to all others almost evenly, or by Glorot's rule
    like the rest of the network, where the unscaled softmax of Eqs. 6 and 11 picks a single node by chance."""
    correlation_norm: bool = False
    """Batch norm after θ and φ, instead of θ's bias."""
    correlation_scale: bool = False
    """Divide the correlations m by √(C/r) before the softmax, as in attention; Eqs. 6 and 11 have no scale."""
    decoder_source: DecoderSource = "features"
    """Where the decoder's second layer searches for neighbours: among the points that have its input features, or on
    the level that PointCNN's table names, with zeros for points without features, as in PointCNN's release."""
    chi_start: ChiStart = "dense"
    """The fans that initialise the first layer of the X-transformation: those of a dense layer, 3K → K², or those of
    TensorFlow's convolution over K points, 3K → K³, as in PointCNN."""
    loss: Loss = "nodes"
    """What a classifier returns in training: logits of every node, as in PointCNN, or logits of the nodes' averaged
    features, as in evaluation."""


DEFAULT = Design()
