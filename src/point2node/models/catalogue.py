"""The catalogue: every network by name, every size by preset, and the one function that builds a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Literal, overload

import torch

from point2node.core.errors import InputError, unknown_choice
from point2node.models.layers import Head, count_parameters
from point2node.models.network import Network, Task
from point2node.models.point2node.design import DEFAULT, Design
from point2node.models.point2node.feature_extraction import FeatureExtraction
from point2node.models.point2node.network import Point2Node, Point2NodeClassifier, Point2NodeSegmenter
from point2node.models.point2node.stages import JOINT, VARIANTS, DynamicNodeCorrelation, check_variant
from point2node.models.pretrained import NetworkCard
from point2node.models.reference.acnn import build_acnn
from point2node.models.reference.dgcnn import build_dgcnn
from point2node.models.reference.gacnet import build_gacnet
from point2node.models.reference.kcnet import build_kcnet
from point2node.models.reference.pointconv import build_pointconv
from point2node.models.reference.pointnet import build_pointnet
from point2node.models.reference.pointnet2_ssg import build_pointnet2_ssg
from point2node.models.reference.pointnext_s import build_pointnext_s
from point2node.models.reference.pointweb import build_pointweb
from point2node.models.reference.spidercnn import build_spidercnn
from point2node.models.sizes import Size, classification_size, segmentation_size, tiny_size, wide_size

SIZES = MappingProxyType(
    {
        "s3dis": segmentation_size(8, num_classes=13, in_features=3),
        "scannet": segmentation_size(8, num_classes=21, in_features=0),
        "modelnet40": classification_size(3, num_classes=40, in_features=0),
        "modelnet10": classification_size(3, num_classes=10, in_features=0),
        "rooms": segmentation_size(2, num_classes=13, in_features=3),
        "rooms_wide": wide_size(2, num_classes=13, in_features=7),
        "tiny": tiny_size(1, num_classes=13, in_features=3),
    }
)


def build_point2node(size: Size, variant: str = "point2node", design: Design = DEFAULT) -> Point2Node:
    """Build a network of the given size; a ``Point2NodeClassifier`` if the size's task is classification."""
    extraction = FeatureExtraction(
        size.encoder, size.decoder, in_features=size.in_features, sampling=size.sampling, design=design
    )
    joint = JOINT.get(variant)
    if joint is not None:
        variant = joint.behind
        design = replace(
            design,
            correlation_scale=design.correlation_scale or joint.scaled,
            correlation_norm=design.correlation_norm or joint.normalised,
        )
        extraction.correlate_inside(joint, size.graph, size.reduction, design)
    correlation = DynamicNodeCorrelation(variant, extraction.channels, size.reduction, design)
    head = Head(extraction.channels, size.head, size.dropout, size.num_classes)
    if size.task == "segmentation":
        return Point2NodeSegmenter(extraction, correlation, head, graph=size.graph)
    network = Point2NodeClassifier(extraction, correlation, head, graph=size.graph)
    network.loss = design.loss
    return network


REFERENCE_MODELS: Mapping[str, Callable[[Size], Network]] = MappingProxyType(
    {
        "pointnet": build_pointnet,
        "pointnet2_ssg": build_pointnet2_ssg,
        "dgcnn": build_dgcnn,
        "pointweb": build_pointweb,
        "pointconv": build_pointconv,
        "gacnet": build_gacnet,
        "acnn": build_acnn,
        "spidercnn": build_spidercnn,
        "kcnet": build_kcnet,
        "pointnext_s": build_pointnext_s,
    }
)
"""The reference models, each with the layers and the width of its own paper."""

ONE_TASK: Mapping[str, Task] = MappingProxyType({"gacnet": "segmentation"})
"""Networks whose paper has only one task."""

MODELS: Mapping[str, Callable[[Size], Network]] = MappingProxyType({"point2node": build_point2node, **REFERENCE_MODELS})


@overload
def create_model(
    name: Literal["point2node"] = "point2node",
    *,
    preset: str = "s3dis",
    variant: str | None = None,
    num_classes: int | None = None,
    in_features: int | None = None,
    width: int | None = None,
    dropout: float | None = None,
    design: Design = DEFAULT,
) -> Point2Node: ...


@overload
def create_model(
    name: str,
    *,
    preset: str = "s3dis",
    variant: str | None = None,
    num_classes: int | None = None,
    in_features: int | None = None,
    width: int | None = None,
    dropout: float | None = None,
    design: Design = DEFAULT,
) -> Network: ...


def create_model(
    name: str = "point2node",
    *,
    preset: str = "s3dis",
    variant: str | None = None,
    num_classes: int | None = None,
    in_features: int | None = None,
    width: int | None = None,
    dropout: float | None = None,
    design: Design = DEFAULT,
) -> Network:
    """Build a network with randomly initialised weights.

    Args:
        name: a name of ``MODELS``.
        preset: a name of ``SIZES``, which sets the task and all sizes.
        variant: a name of ``VARIANTS``, a row of the paper's ablation; "baseline" is PointCNN. For Point2Node the
            default is "point2node", and the names of ``JOINT`` are also valid. For any other network the correlations
            of the variant are added after its nodes; None leaves the network as published.
        num_classes: the number of classes, if not the preset's.
        in_features: the width of the input features in addition to xyz, if not the preset's: 3 for rgb or normals,
            6 for both, 0 for none.
        width: x, the factor of Point2Node's channels, if not the preset's (8 for "s3dis"); None for other networks.
        dropout: the share of features dropped before the logits, if not the network's default.
        design: choices that the paper leaves open; for other networks only those of the correlations apply.
    """
    if name not in MODELS:
        raise unknown_choice("model", name, MODELS)
    size = find_size(preset)
    if num_classes is not None:
        size = replace(size, num_classes=_at_least("num_classes", num_classes, 1, "1 or more"))
    if in_features is not None:
        size = replace(size, in_features=_at_least("in_features", in_features, 0, "0 (xyz only) or more"))
    if dropout is not None and not 0 <= dropout < 1:
        raise InputError("dropout", expected="0 or more and below 1", found=str(dropout))
    model = (
        _build_reference(name, size, variant, width, design)
        if name in REFERENCE_MODELS
        else _build_own(size, variant, width, design)
    )
    if dropout is not None:
        model.head.set_last_dropout(dropout)
    model.card = NetworkCard(
        model=name,
        size=preset,
        variant=variant,
        width=width,
        dropout=dropout,
        design=design,
        num_classes=size.num_classes,
        in_features=size.in_features,
    ).note
    return model


def _build_own(size: Size, variant: str | None, width: int | None, design: Design) -> Point2Node:
    variant = "point2node" if variant is None else variant
    check_variant(variant)
    if width is not None:
        size = size.with_width(_at_least("width", width, 1, "1 or more"))
    return build_point2node(size, variant, design)


def _build_reference(name: str, size: Size, variant: str | None, width: int | None, design: Design) -> Network:
    if width is not None:
        raise InputError("width", expected=f"none: {name} has the one width of its paper", found=str(width))
    network = REFERENCE_MODELS[name](size)
    if variant is not None:
        correlation = DynamicNodeCorrelation(variant, network.node_channels, size.reduction, design)
        network.correlate(correlation, size.graph)
    return network


def _at_least(name: str, value: int, lowest: int, expected: str) -> int:
    if value < lowest:
        raise InputError(name, expected=expected, found=str(value))
    return value


def find_size(preset: str) -> Size:
    """Return the sizes of a preset by name."""
    if preset not in SIZES:
        raise unknown_choice("preset", preset, SIZES)
    return SIZES[preset]


@dataclass(frozen=True)
class Entry:
    """One line of ``point2node models``."""

    name: str
    task: Task
    preset: str
    variant: str | None
    """None for another network as published."""
    parameters: int
    parameters_mi: float
    macs: int

    def as_dict(self) -> dict[str, str | int | float | None]:
        """Return the entry as JSON values."""
        return asdict(self)


def list_models() -> Iterator[Entry]:
    """Yield every preset with each variant of Point2Node, then the other networks without and with its correlations.

    The networks are built on the meta device, so no weights are allocated.
    """
    choices: list[tuple[str, str | None]] = [("point2node", variant) for variant in (*VARIANTS, *JOINT)]
    choices += [(name, variant) for name in REFERENCE_MODELS for variant in (None, "point2node")]
    for preset, size in SIZES.items():
        for name, variant in choices:
            if ONE_TASK.get(name, size.task) != size.task:
                continue
            with torch.device("meta"):
                model = create_model(name, preset=preset, variant=variant)
            parameters = count_parameters(model)
            yield Entry(
                name=name,
                task=size.task,
                preset=preset,
                variant=variant,
                parameters=parameters,
                parameters_mi=round(parameters / 2**20, 3),
                macs=model.macs(size.points),
            )
