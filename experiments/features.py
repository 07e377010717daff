"""Which features transfer to real rooms, tested with a network on single points: ``make feature-rooms REAL=FOLDER``.

A perceptron with two hidden layers sees only the features of one cell of 4 cm at a time. It is trained on generated
rooms and scored on the cells of real ones, so its score shows how informative a feature is before a network that sees
neighbours is trained for hours. The real rooms are only used for scoring.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from experiments.real_rooms import CLASS_FILE, figures_of, kind_folders, percent, read_rooms
from experiments.running import write_table
from point2node.core.classes import S3DIS
from point2node.core.words import SURROUNDINGS, WIDTHS, Feature
from point2node.evaluation.metrics import Calibration, count_confusion
from point2node.geometry.frames import floor_height
from point2node.geometry.surroundings import describe_surroundings
from point2node.rooms.generator import generate_room

ROOMS, SERIES, CELLS_EACH = 100, 21, 8000
SEEDS, STEPS, BATCH, RATE, HIDDEN = (0, 1), 1200, 2048, 3e-3, 96
EVERYTHING: tuple[Feature, ...] = ("height", *SURROUNDINGS)
SETS: tuple[tuple[Feature, ...], ...] = tuple(EVERYTHING[:count] for count in range(1, len(EVERYTHING) + 1))

Cells = tuple[NDArray[np.float32], NDArray[np.int64]]
"""The features (M, width) of cells, all of ``EVERYTHING`` concatenated, and their classes (M,), −1 for none."""


def make_table(real: Path) -> None:
    """Train with every set of features and every seed, and score on the real rooms."""
    names = [one.name for one in S3DIS]
    kinds = {
        folder.name: [
            describe(cloud.xyz, truth) for _, cloud, truth in read_rooms(folder, real / CLASS_FILE, "test", S3DIS)
        ]
        for folder in kind_folders(real, "test")
    }
    inputs, classes = generated_cells()
    rows, figures = [], []
    for wanted in SETS:
        columns = slice(0, sum(WIDTHS[name] for name in wanted))
        for seed in SEEDS:
            network, scale = train(inputs[:, columns], classes, seed)
            found = {}
            for kind, rooms in kinds.items():
                confusion = np.zeros((len(names), len(names)), np.int64)
                for cells, truth in rooms:
                    with torch.no_grad():
                        predicted = network(scale(cells[:, columns])).argmax(dim=1).numpy()
                    confusion += count_confusion(truth, predicted, len(names))
                found[kind] = figures_of(confusion, names, Calibration())
            figures.append({"features": list(wanted), "seed": seed, "kinds": found})
            rows.append((", ".join(wanted), str(seed), *(_score_cell(found[kind]) for kind in kinds)))
    headings = ("features", "seed", *(f"{kind}: OA / mIoU / eleven, %" for kind in kinds))
    write_table("features", "python -m experiments features --real FOLDER", headings, rows, figures)


def describe(xyz: NDArray[np.floating], labels: NDArray[np.integer]) -> Cells:
    """Return the cells of one cloud; each has the class of its first point."""
    around = describe_surroundings(xyz, SURROUNDINGS)
    first = np.unique(around.number, return_index=True)[1]
    heights = xyz[first, 2:] - floor_height(xyz[:, 2].astype(np.float32))
    return np.concatenate([heights, around.table], axis=1, dtype=np.float32), labels[first].astype(np.int64)


def generated_cells() -> Cells:
    """Return the cells of generated rooms, at most ``CELLS_EACH`` of each."""
    random, parts = np.random.default_rng(0), []
    for index in range(ROOMS):
        room = generate_room(SERIES, index)
        assert room.labels is not None
        features, classes = describe(room.xyz, room.labels)
        chosen = random.permutation(len(classes))[:CELLS_EACH]
        parts.append((features[chosen], classes[chosen]))
    features, classes = (np.concatenate(part) for part in zip(*parts, strict=True))
    known = (classes >= 0) & (classes < len(S3DIS))
    return features[known], classes[known]


def train(inputs: NDArray[np.float32], classes: NDArray[np.int64], seed: int) -> tuple[nn.Module, Any]:
    """Return the trained perceptron, and the function that scales its input."""
    torch.manual_seed(seed)
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6

    def scale(features: NDArray[np.float32]) -> torch.Tensor:
        return torch.from_numpy(np.clip((features - mean) / deviation, -5, 5))

    shares = np.bincount(classes, minlength=len(S3DIS)) / len(classes)
    weights = torch.from_numpy(np.maximum(shares, 1 / len(classes)) ** -0.5).float()
    network = nn.Sequential(
        nn.Linear(inputs.shape[1], HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(HIDDEN, len(S3DIS)),
    )
    optimiser = torch.optim.AdamW(network.parameters(), RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS)
    everything, labels = scale(inputs), torch.from_numpy(classes)
    for _ in range(STEPS):
        chosen = torch.randint(len(labels), (BATCH,))
        loss = nn.functional.cross_entropy(network(everything[chosen]), labels[chosen], weights, label_smoothing=0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return network.eval(), scale


def _score_cell(found: dict[str, float]) -> str:
    return " / ".join(percent(found[key]) for key in ("oa", "miou", "miou_eleven"))
