"""A furnished box to show: floor, ceiling, four walls and a chair, with a prediction that is wrong in one corner."""

import re
import zlib
from base64 import b64decode
from dataclasses import replace
from json import loads

import numpy as np

from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.inference.labelled import LabelledCloud

CEILING, FLOOR, WALL, CHAIR = 0, 1, 2, 8
SIZE = np.array([4.0, 6.0, 3.0])


def scene(name, xyz, classes, labels, rgb=None, confidence=None, entropy=None, **further):
    """A labelled scan of these parts."""
    unknown = np.full(len(xyz), np.nan, np.float32)
    sure, unsure = (unknown if values is None else values for values in (confidence, entropy))
    return LabelledCloud(PointCloud(xyz, rgb=rgb), labels, sure, unsure, classes, "", name=name, **further)


def box_room(points=2000, seed=0, **changes):
    random = np.random.default_rng(seed)
    parts = []
    for side, label in enumerate((WALL, WALL, WALL, WALL, FLOOR, CEILING)):
        part = random.random((points // 7, 3)) * SIZE
        part[:, side // 2] = SIZE[side // 2] * (side % 2)
        parts.append((part, label))
    parts.append((random.random((points - 6 * (points // 7), 3)) * 0.5 + [2, 3, 0], CHAIR))
    xyz = np.concatenate([part for part, _ in parts])
    truth = np.concatenate([np.full(len(part), label) for part, label in parts])
    wrong = np.linalg.norm(xyz - SIZE * [1, 1, 0], axis=1) < 1.5
    given = {
        "name": "box",
        "xyz": xyz,
        "classes": S3DIS,
        "labels": np.where(wrong, CHAIR, truth),
        "rgb": random.integers(0, 256, xyz.shape, np.uint8),
        "confidence": np.where(wrong, 0.4, 0.9),
        "entropy": np.where(wrong, 0.8, 0.1),
        "truth": truth,
        "notes": {"weights": "rooms", "votes": "1"},
    }
    return scene(**(given | changes))


def labelled_box(**changes):
    """The room as the network labels it, without a mistake."""
    room = box_room(20000)
    cloud, sure = PointCloud(room.xyz), np.full(len(room), 0.9, np.float32)
    labelled = LabelledCloud(cloud, room.truth.astype(np.int32), sure, 1 - sure, S3DIS, "none")
    return replace(labelled, **changes)


def embedded(page):
    """What a page carries: the description, and the columns of its points by name."""
    described = loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.S)[1])
    packed = re.search(r'<script type="text/plain" id="points">(.*?)</script>', page, re.S)[1]
    return described, unpack(packed, described["columns"], described["points"])


def unpack(data, columns, points):
    inflated = np.frombuffer(zlib.decompress(b64decode(data)), np.uint8)
    assert len(inflated) == len(columns) * points
    return dict(zip(columns, inflated.reshape(len(columns), points), strict=True))


def coordinates(described, columns):
    numbers = np.stack([columns[f"{a} low"] + 256.0 * columns[f"{a} high"] for a in "xyz"], axis=1)
    return described["lower"] + numbers * described["step"]
