"""Networks small enough for property tests, with every parameter away from 0, and clouds for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor, nn

from point2node.geometry.pyramid import Pyramid, PyramidPlan, build_pyramid
from point2node.models.catalogue import REFERENCE_MODELS, build_point2node
from point2node.models.network import Network
from point2node.models.point2node.feature_extraction import DecoderLayer, EncoderLayer
from point2node.models.point2node.network import Point2Node
from point2node.models.point2node.stages import DynamicNodeCorrelation
from point2node.models.sizes import Size

M = TypeVar("M", bound=nn.Module)

SEGMENTATION = Size(
    task="segmentation",
    points=40,
    num_classes=5,
    in_features=3,
    sampling="farthest",
    encoder=(EncoderLayer(4, 1, None, 16), EncoderLayer(4, 2, 20, 24), EncoderLayer(4, 3, 8, 32)),
    decoder=(DecoderLayer(4, 2, 2, 2), DecoderLayer(4, 2, 1, 1), DecoderLayer(4, 2, 1, 0)),
    head=(16, 16),
    dropout=(0.0, 0.5),
    graph=(6, 2),
    reduction=4,
)
CLASSIFICATION = replace(SEGMENTATION, task="classification", sampling="random", decoder=(), in_features=0)
SIZES = {"segmentation": SEGMENTATION, "classification": CLASSIFICATION}


def small_network(task: str, variant: str, seed: int = 0) -> Point2Node:
    """A small Point2Node in double precision, in evaluation mode, no parameter or statistic at its starting value."""
    torch.manual_seed(seed)
    return leave_start(build_point2node(SIZES[task], variant))


def small_reference_model(name: str, task: str, variant: str | None = None, seed: int = 0) -> Network:
    """Build a reference model with the layer widths of its paper and the levels of a cloud of 128 points.

    GACNet's levels are those of 256 points: it weights by differences, and a level of one point has none.
    """
    torch.manual_seed(seed)
    size = replace(SIZES[task], points=256 if name == "gacnet" else 128)
    network = REFERENCE_MODELS[name](size)
    if variant is not None:
        network.correlate(DynamicNodeCorrelation(variant, network.node_channels, size.reduction), size.graph)
    return leave_start(network)


def leave_start(model: M, by: float = 0.1) -> M:
    """The model in double precision and evaluation mode, every parameter and statistic moved at random.

    The softmax of a correlation is almost even at the start: an error in its weights would go unnoticed there.
    """
    model.double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += by * torch.randn_like(parameter)
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer += 0.1 * torch.randn_like(buffer)
            elif name.endswith("running_var"):
                buffer *= torch.rand_like(buffer) + 0.5
    return model


def random_input(
    model: Network, clouds: int = 2, points: int = 40, seed: int = 0, side: float = 1.0
) -> tuple[Tensor | None, Pyramid]:
    """Features, if the network takes any, and the pyramid of random clouds in a cube, in double precision."""
    generator = torch.Generator().manual_seed(seed)
    xyz = side * torch.rand(clouds, points, 3, generator=generator, dtype=torch.float64)
    width = model.in_features
    features = torch.randn(clouds, points, width, generator=generator, dtype=torch.float64) if width else None
    return features, build_pyramid(xyz, model.plan)


def renumber(pyramid: Pyramid, plan: PyramidPlan, orders: list[Tensor]) -> Pyramid:
    """The same pyramid with the points of each level l renumbered: its new point i is its old point orders[l][i]."""
    new_number = [torch.argsort(order) for order in orders]

    def follow(indices: Tensor, source: int, queries: int) -> Tensor:
        return new_number[source][indices[:, orders[queries]]]

    return Pyramid(
        levels=tuple(level[:, order] for level, order in zip(pyramid.levels, orders, strict=True)),
        numbers=tuple(new_number[0][numbers[:, order]] for numbers, order in zip(pyramid.numbers, orders, strict=True)),
        encoder=tuple(follow(i, s.source, s.queries) for i, s in zip(pyramid.encoder, plan.encoder, strict=True)),
        decoder=tuple(follow(i, s.source, s.queries) for i, s in zip(pyramid.decoder, plan.decoder, strict=True)),
        correlation=None
        if pyramid.correlation is None or plan.correlation is None
        else follow(pyramid.correlation, plan.correlation.source, plan.correlation.queries),
        inner=tuple(follow(i, s.source, s.queries) for i, s in zip(pyramid.inner, plan.inner, strict=True)),
    )
