"""A random forest on geometric features, in the environment of ``peers``: ``python -m benchmarks.forest [FOLDER]``.

CGAL's classification and OpenPointClass label points with a random forest on a CPU. This one is scikit-learn's, with
CGAL's number and depth of trees. Its features are the eigenvalues of a point's surroundings at four scales and its
height above the floor. They are computed with our neighbour search, so a slow substitute does not count against the
forest; points in the same 4 cm cell share features and label. It is trained on generated rooms of the series and styles
that the pretrained model was trained on. Both label the same generated rooms with styles that neither has seen and, if
given, the labelled rooms of FOLDER, in the layout of ``experiments real_rooms``. Unlabelled points are not counted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

import point2node
from benchmarks.measure import Row, write_rows
from experiments.real_rooms import CLASS_FILE, kind_folders, read_rooms
from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.core.words import Feature
from point2node.evaluation.metrics import Scores, count_confusion, score
from point2node.geometry.frames import place
from point2node.geometry.surroundings import describe_surroundings
from point2node.rooms import generate_room

TREES, DEPTH = 25, 20
TRAIN, TEST = range(40), range(1000, 1004)
CELLS_EACH = 10_000
"""Cells of each training room; more hardly improve the forest's accuracy."""
POINTS = 300_000
FEATURES: tuple[Feature, ...] = ("shape",)
Labels = NDArray[np.int64]
Rooms = Iterable[tuple[PointCloud, Labels]]


def describe(cloud: PointCloud) -> tuple[NDArray[np.float32], Labels]:
    """Compute the features (M, 25) of the cells of a cloud, and the cell of each point (N,)."""
    xyz = place(cloud).xyz
    found = describe_surroundings(xyz, FEATURES)
    count = np.bincount(found.number)
    heights = np.bincount(found.number, xyz[:, 2]) / count
    return np.column_stack([found.table, heights]).astype(np.float32), found.number


def train_forest() -> RandomForestClassifier:
    random = np.random.default_rng(0)
    features, labels = [], []
    for index in TRAIN:
        room = generate_room(0, index)
        assert room.labels is not None
        table, cell = describe(room)
        first = np.unique(cell, return_index=True)[1]
        chosen = random.permutation(len(first))[:CELLS_EACH]
        features.append(table[chosen])
        labels.append(room.labels[first[chosen]])
    forest = RandomForestClassifier(
        TREES, max_depth=DEPTH, class_weight="balanced", n_jobs=torch.get_num_threads(), random_state=0
    )
    return forest.fit(np.concatenate(features), np.concatenate(labels))


def generated_rooms() -> Iterator[tuple[PointCloud, Labels]]:
    for index in TEST:
        room = generate_room(0, index, points=POINTS, styles="held_out")
        yield room.with_(labels=None, instance=None), np.asarray(room.labels, np.int64)


def real_rooms(folder: Path, real: Path) -> Iterator[tuple[PointCloud, Labels]]:
    for _, cloud, truth in read_rooms(folder, real / CLASS_FILE, "test", S3DIS):
        yield cloud, truth


def measure(kind: str, rooms: Rooms, forest: RandomForestClassifier) -> list[Row]:
    """Measure points per second, accuracy and mIoU of both on the same rooms."""
    labeller = point2node.load("rooms")

    def by_forest(cloud: PointCloud) -> Any:
        table, cell = describe(cloud)
        return forest.predict(table)[cell]

    forms: dict[str, Callable[[PointCloud], Any]] = {
        "point2node": lambda cloud: labeller.label(cloud).labels,
        "random forest": by_forest,
    }
    seconds, points = dict.fromkeys(forms, 0.0), 0
    confusions = {name: np.zeros((len(S3DIS), len(S3DIS)), np.int64) for name in forms}
    for number, (cloud, truth) in enumerate(rooms):
        points += len(cloud)
        for name, form in forms.items():
            if number == 0:
                form(cloud[:5000])  # loads the kernels
            start = time.perf_counter()
            labels = form(cloud)
            seconds[name] += time.perf_counter() - start
            confusions[name] += count_confusion(truth, labels, len(S3DIS))
    rows = []
    for name in forms:
        scores: Scores = score(confusions[name], [one.name for one in S3DIS])
        rows += [
            Row(f"{name} on {kind} rooms", points / seconds[name] / 1e3, None, "thousand points a second"),
            Row(f"{name} on {kind} rooms: OA", 100 * scores.oa, None, "%"),
            Row(f"{name} on {kind} rooms: mIoU", 100 * scores.miou, None, "%"),
        ]
    return rows


def main(words: list[str]) -> None:
    forest = train_forest()
    rows = measure("generated", generated_rooms(), forest)
    for folder in kind_folders(Path(words[0]), "test") if words else []:
        rows += measure(folder.name, real_rooms(folder, Path(words[0])), forest)
    write_rows("forest", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
