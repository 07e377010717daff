"""The sizes of Point2Node's networks: PointCNN's two tables, for any width."""

from __future__ import annotations

from dataclasses import dataclass, replace

from point2node.geometry.pyramid import Sampling
from point2node.models.network import Task
from point2node.models.point2node.feature_extraction import DecoderLayer, EncoderLayer


@dataclass(frozen=True)
class Size:
    """All sizes of one network; ``points`` is the cloud size it was designed for.

    The reference models use only the task, points, classes and features; their layers are those of their own papers.
    """

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
    width: int = 1  # x, of which every number of channels is a multiple

    def with_width(self, width: int) -> Size:
        """Return the same network with another width x."""

        def scale(channels: int) -> int:
            return channels // self.width * width

        return replace(
            self,
            encoder=tuple(replace(layer, channels=scale(layer.channels)) for layer in self.encoder),
            head=tuple(map(scale, self.head)),
            width=width,
        )


def segmentation_size(width: int, *, num_classes: int, in_features: int) -> Size:
    """Return the size of PointCNN's S3DIS network (its width is 8), with 2048 points."""
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
        width=x,
    )


def wide_size(width: int, *, num_classes: int, in_features: int) -> Size:
    """Return the size of a segmentation network for 4096 points: levels twice as large, for blocks of 3 to 4 metres."""
    size = segmentation_size(width, num_classes=num_classes, in_features=in_features)
    encoder = tuple(replace(layer, points=layer.points and 2 * layer.points) for layer in size.encoder)
    return replace(size, points=2 * size.points, encoder=encoder)


def classification_size(width: int, *, num_classes: int, in_features: int) -> Size:
    """Return the size of PointCNN's ModelNet40 network (its width is 3), with 1024 points."""
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
        width=x,
    )


def tiny_size(width: int, *, num_classes: int, in_features: int) -> Size:
    """Return the size of a small segmentation network for 512 points, for tests and first steps."""
    x = width
    return replace(
        segmentation_size(x, num_classes=num_classes, in_features=in_features),
        points=512,
        encoder=(
            EncoderLayer(8, 1, None, 32 * x),
            EncoderLayer(8, 2, 192, 64 * x),
            EncoderLayer(8, 2, 64, 96 * x),
            EncoderLayer(8, 2, 32, 128 * x),
        ),
        decoder=(
            DecoderLayer(8, 2, 3, 3),
            DecoderLayer(8, 2, 2, 2),
            DecoderLayer(8, 2, 2, 1),
            DecoderLayer(8, 2, 1, 0),
        ),
        graph=(8, 2),
    )
