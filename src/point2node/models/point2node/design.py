"""Choices inside the network that the paper leaves open: one record, so that each can be set, stored and compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CorrelationStart = Literal["even", "glorot"]
ChiStart = Literal["dense", "convolution"]
DecoderSource = Literal["features", "named"]
Loss = Literal["nodes", "pooled"]


@dataclass(frozen=True)
class Design:
    """The defaults are the choices that docs/design-decisions.md gives reasons for; every other form can be set."""

    correlation_start: CorrelationStart = "even"
    """θ and φ start near 0, so that every node listens to all others nearly evenly, or by Glorot's rule like the rest
    of the network, where the unscaled softmax of Eqs. 6 and 11 falls on one node by chance."""
    correlation_norm: bool = False
    """Batch norm after θ and φ, instead of θ's bias."""
    correlation_scale: bool = False
    """Divide the correlations m by √(C/r) before the softmax, as attention does; Eqs. 6 and 11 print no scale."""
    decoder_source: DecoderSource = "features"
    """Where the decoder's second layer searches its neighbours: among the points that its input features live on, or
    on the level that PointCNN's table names, with zeros where a point has no features, as PointCNN's release does."""
    chi_start: ChiStart = "dense"
    """Fans of the first layer of the X-transformation at the start: of a dense layer, 3K → K², or of TensorFlow's
    convolution over K points, 3K → K³, which PointCNN draws from."""
    loss: Loss = "nodes"
    """What a classifier gives in training: logits of every node, as PointCNN, or of the nodes' averaged features, as
    in evaluation."""


DEFAULT = Design()
