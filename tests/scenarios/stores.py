"""Small stores for whole runs: rooms that a tiny network can learn something from in a few steps."""

from functools import partial

import numpy as np

from point2node.core.classes import S3DIS, SemanticClass
from point2node.core.point_cloud import PointCloud
from point2node.data.preparation import prepare
from point2node.data.sources import Dataset, Scene, Shapes, Source
from point2node.formats import write

QUICK = (
    "points=256", "block_points=512", "batch_size=2", "steps=6", "validate_every=3", "log_every=2", "num_workers=0",
    "checkpoint_seconds=0.001", "accelerator=cpu",
)  # fmt: skip
"""Settings of a run that takes seconds and has a checkpoint after every step."""

SHAPE_CLASSES = (SemanticClass("ball", 0, (200, 0, 0)), SemanticClass("cube", 1, (0, 0, 200)))


def toy_cloud(seed, points=1500):
    """A floor, a ceiling and a wall, coloured by what they are."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, points)
    xyz = random.uniform(0, [2.4, 2.0, 2.5], (points, 3))
    xyz[labels == 0, 2], xyz[labels == 1, 2], xyz[labels == 2, 0] = 2.5, 0, 0
    rgb = np.clip(
        np.array([[220, 220, 220], [90, 60, 30], [180, 170, 90]])[labels] + random.integers(-20, 20, 3), 0, 255
    )
    return PointCloud(xyz, rgb=rgb, labels=labels)


def read_toy(name, split, seed, points, colour, skip_damaged):
    cloud = toy_cloud(seed, points)
    yield Scene(name, split, cloud if colour else cloud.with_(rgb=None))


def write_room_store(
    folder, splits=("train", "train", "train", "val", "test"), points=1500, dataset="rooms", colour=True
):
    sources = tuple(
        Source(f"room {number}", split, (), partial(read_toy, f"room {number}", split, number, points, colour))
        for number, split in enumerate(splits)
    )
    prepare(Dataset(dataset, "toy", S3DIS, sources), folder, workers=1)
    return folder


def write_area_store(folder):
    """Two rooms in each of the six areas of S3DIS."""
    return write_room_store(folder, [f"Area_{area}" for area in range(1, 7) for _ in range(2)], 600, "s3dis")


def write_real_rooms(folder):
    """A labelled room of each of two kinds of scanner, in the layout that ``--real`` takes."""
    lines = [f"  - {{name: {one.name}, value: {one.value}}}" for one in S3DIS]
    (folder / "classes.yaml").write_text("\n".join(["classes:", *lines]) + "\n")
    for number, kind in enumerate(("handheld", "panoramic")):
        (folder / kind / "test").mkdir(parents=True)
        write(folder / kind / "test" / "room.npz", toy_cloud(number, 500))
    return folder


def read_toy_shapes(split, count, skip_damaged):
    random = np.random.default_rng(count)
    labels = np.arange(count, dtype=np.int32) % 2
    directions = random.normal(size=(count, 600, 3))
    balls = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    cubes = directions / np.abs(directions).max(axis=-1, keepdims=True) / np.sqrt(3)
    xyz = np.where(labels[:, None, None] == 0, balls, cubes).astype(np.float32)
    yield Scene(split, split, Shapes(xyz, labels, np.array([f"{split} {i}" for i in range(count)])))


def write_shape_store(folder):
    sources = tuple(
        Source(split, split, (), partial(read_toy_shapes, split, count))
        for split, count in (("train", 20), ("test", 8))
    )
    prepare(Dataset("modelnet", "toy", SHAPE_CLASSES, sources, task="classification"), folder, workers=1)
    return folder
