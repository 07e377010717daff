"""Stores of a few small scenes or shapes, and settings for a network that trains on them in a moment."""

from functools import partial

import numpy as np

from point2node.core.classes import S3DIS, SemanticClass
from point2node.core.point_cloud import PointCloud
from point2node.data.preparation import prepare
from point2node.data.sources import Dataset, Scene, Shapes, Source
from point2node.data.store import open_store
from point2node.weights.settings import load_preset

SHAPE_CLASSES = tuple(SemanticClass(name, 10 * i, (i, i, i)) for i, name in enumerate(("bed", "chair", "desk")))
AREAS = tuple(f"Area_{number}" for number in range(1, 7))
TINY = ("points=192", "block_points=256", "batch_size=2", "num_workers=0", "steps=2", "validate_every=2", "log_every=1")


def ignore(done, total, name):
    """Nobody asks how far a preparation is."""


def quick(*words, preset="tiny"):
    """Settings of the smallest network, for the stores below."""
    return load_preset(preset, (*TINY, *words))


def random_cloud(points=300, seed=0, classes=S3DIS):
    """Points in a room of 3 m × 2 m whose label follows from their place."""
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, [3.0, 2.0, 2.5], (points, 3))
    values = np.array([one.value for one in classes])
    labels = values[(xyz[:, 2] / 2.5 * len(values)).astype(int)]
    return PointCloud(xyz, rgb=random.integers(0, 256, (points, 3)), labels=labels)


def write_scenes(folder, splits, *, dataset="rooms", classes=S3DIS, ignored=(), points=300, clouds=None):
    """A segmentation store; ``splits`` maps a split to its scenes' names, ``clouds`` a name to its cloud."""
    sources = []
    for split, names in splits.items():
        for name in names:
            cloud = (clouds or {}).get(name) or random_cloud(points, len(sources), classes)
            sources.append(Source(name, split, (), partial(_give, Scene(name, split, cloud))))
    prepare(Dataset(dataset, "test", classes, tuple(sources), ignored=ignored), folder, workers=1)
    return open_store(folder)


def write_areas(folder, rooms=2):
    """S3DIS in small: six areas of a few rooms."""
    splits = {area: tuple(f"{area}/room_{number}" for number in range(rooms)) for area in AREAS}
    return write_scenes(folder, splits, dataset="s3dis")


def write_shapes(folder, counts=None, *, points=64, ignored=(), classes=SHAPE_CLASSES):
    """A classification store; ``counts`` maps a split to how many shapes each class has there."""
    random = np.random.default_rng(0)
    sources = []
    for split, of_class in (counts or {"train": (6, 5, 1), "test": (2, 3, 2)}).items():
        labels = random.permutation(np.repeat([one.value for one in classes], of_class)).astype(np.int32)
        xyz = random.normal(size=(len(labels), points, 3)).astype(np.float32)
        names = np.array([f"{split}_{number}" for number in range(len(labels))])
        sources.append(Source(split, split, (), partial(_give, Scene(split, split, Shapes(xyz, labels, names)))))
    dataset = Dataset("modelnet", "test", classes, tuple(sources), task="classification", ignored=ignored)
    prepare(dataset, folder, workers=1)
    return open_store(folder)


def _give(scene, skip_damaged):
    return [scene]
