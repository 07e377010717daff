"""The catalogue: every network size by name, and the one function that builds a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Literal

import torch

from point2node.core.errors import InputError, unknown_choice
from point2node.geometry.pyramid import Sampling
from point2node.models.layers import Head, count_parameters
from point2node.models.point2node.feature_extraction import DecoderLayer, EncoderLayer, FeatureExtraction
from point2node.models.point2node.network import Point2Node, Point2NodeClassifier, Point2NodeSegmenter
from point2node.models.point2node.stages import VARIANTS, DynamicNodeCorrelation, find_variant

Task = Literal["segmentation", "classification"]


@dataclass(frozen=True)
class Size:
    """Every number of one network; ``points`` is the cloud size it was made for."""

    task: Task
    points: int
    num_classes: int
    in_features: int
    sampling: Sampling
    encoder: tuple[EncoderLayer, ...]
    decoder: tuple[DecoderLayer, ...]
    head: tuple[int, ...]
    dropout: tuple[float, ...]
    graph: tuple[int, int] = (16, 2)  # K, d of the local graph
    reduction: int = 8  # r


def segmentation_size(width: int, *, num_classes: int, in_features: int) -> Size:
    """PointCNN's S3DIS network (its width is 8), with 2048 points."""
    x = width
    return Size(
        task="segmentation",
        points=2048,
        num_classes=num_classes,
        in_features=in_features,
        sampling="farthest",
        encoder=(
            EncoderLayer(8, 1, None, 32 * x),
            EncoderLayer(12, 2, 768, 64 * x),
            EncoderLayer(16, 2, 384, 96 * x),
            EncoderLayer(16, 4, 128, 128 * x),
        ),
        decoder=(
            DecoderLayer(16, 4, 3, 3),
            DecoderLayer(16, 2, 2, 2),
            DecoderLayer(12, 2, 2, 1),
            DecoderLayer(8, 2, 1, 0),
        ),
        head=(32 * x, 32 * x),
        dropout=(0.0, 0.5),
    )


def classification_size(width: int, *, num_classes: int, in_features: int) -> Size:
    """PointCNN's ModelNet40 network (its width is 3), with 1024 points."""
    x = width
    return Size(
        task="classification",
        points=1024,
        num_classes=num_classes,
        in_features=in_features,
        sampling="random",
        encoder=(
            EncoderLayer(8, 1, None, 16 * x),
            EncoderLayer(12, 2, 384, 32 * x),
            EncoderLayer(16, 2, 128, 64 * x),
            EncoderLayer(16, 3, 128, 128 * x),
        ),
        decoder=(),
        head=(128 * x, 64 * x),
        dropout=(0.0, 0.8),
    )


TINY = replace(
    segmentation_size(1, num_classes=13, in_features=3),
    points=512,
    encoder=(
        EncoderLayer(8, 1, None, 32),
        EncoderLayer(8, 2, 192, 64),
        EncoderLayer(8, 2, 64, 96),
        EncoderLayer(8, 2, 32, 128),
    ),
    decoder=(
        DecoderLayer(8, 2, 3, 3),
        DecoderLayer(8, 2, 2, 2),
        DecoderLayer(8, 2, 2, 1),
        DecoderLayer(8, 2, 1, 0),
    ),
    graph=(8, 2),
)

PRESETS = MappingProxyType(
    {
        "s3dis": segmentation_size(8, num_classes=13, in_features=3),
        "scannet": segmentation_size(8, num_classes=21, in_features=0),
        "modelnet40": classification_size(3, num_classes=40, in_features=0),
        "modelnet10": classification_size(3, num_classes=10, in_features=0),
        "rooms": segmentation_size(2, num_classes=13, in_features=3),
        "tiny": TINY,
    }
)

MODELS = ("point2node",)


def build_point2node(size: Size, variant: str = "point2node") -> Point2Node:
    """A network of the given size; a ``Point2NodeClassifier`` where the size's task is classification."""
    extraction = FeatureExtraction(size.encoder, size.decoder, in_features=size.in_features, sampling=size.sampling)
    correlation = DynamicNodeCorrelation(variant, extraction.channels, size.reduction)
    head = Head(extraction.channels, size.head, size.dropout, size.num_classes)
    network = Point2NodeClassifier if size.task == "classification" else Point2NodeSegmenter
    return network(extraction, correlation, head, graph=size.graph)


def create_model(
    name: str = "point2node",
    *,
    preset: str = "s3dis",
    variant: str = "point2node",
    num_classes: int | None = None,
    in_features: int | None = None,
) -> Point2Node:
    """A network with fresh weights.

    Args:
        name: a name of ``MODELS``.
        preset: a name of ``PRESETS``, which fixes every size.
        variant: a name of ``VARIANTS``, a row of the paper's ablation; "baseline" is PointCNN.
        num_classes: the number of labels, if not the preset's.
        in_features: the width of the input features beside xyz, if not the preset's: 3 for rgb or normals,
            6 for both, 0 for none.
    """
    if name not in MODELS:
        raise unknown_choice("model", name, MODELS)
    size = find_size(preset)
    find_variant(variant)
    if num_classes is not None:
        if num_classes < 1:
            raise InputError("num_classes", expected="1 or more", found=str(num_classes))
        size = replace(size, num_classes=num_classes)
    if in_features is not None:
        if in_features < 0:
            raise InputError("in_features", expected="0 (xyz only) or more", found=str(in_features))
        size = replace(size, in_features=in_features)
    return build_point2node(size, variant)


def find_size(preset: str) -> Size:
    """The sizes of a preset by its name."""
    if preset not in PRESETS:
        raise unknown_choice("preset", preset, PRESETS)
    return PRESETS[preset]


@dataclass(frozen=True)
class Entry:
    """One line of ``point2node models``."""

    name: str
    task: Task
    preset: str
    variant: str
    parameters: int
    parameters_mi: float
    macs: int

    def as_dict(self) -> dict[str, str | int | float]:
        """The entry as JSON takes it."""
        return asdict(self)


def list_models() -> Iterator[Entry]:
    """Every preset × variant with its size; networks are built on the meta device, so nothing is allocated."""
    for preset, size in PRESETS.items():
        for variant in VARIANTS:
            with torch.device("meta"):
                model = build_point2node(size, variant)
            parameters = count_parameters(model)
            yield Entry(
                name="point2node",
                task=size.task,
                preset=preset,
                variant=variant,
                parameters=parameters,
                parameters_mi=round(parameters / 2**20, 3),
                macs=model.macs(size.points),
            )
