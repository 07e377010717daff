"""Five networks on the same data for the same number of steps: ``make table-peers``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import alternate
from experiments.running import score_once, train_once, write_table
from point2node.core.memory import keep_freed_memory
from point2node.data.batches import Batch, Sample, make_batch
from point2node.inference.asking import ask
from point2node.training.recipe import build_optimiser, loss_and_weight
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import Settings
from point2node.weights.trained import Trained, load_trained

NETWORKS = {
    "PointNet": ("model=pointnet", "variant=null", "width=null"),
    "PointNet++": ("model=pointnet2_ssg", "variant=null", "width=null"),
    "DGCNN": ("model=dgcnn", "variant=null", "width=null"),
    "PointCNN (baseline)": ("variant=baseline",),
    "Point2Node": (),
}
BLOCKS = 1000
"""Of scenes so many blocks stand for an epoch."""


@dataclass(frozen=True)
class Task:
    """What the networks are compared on."""

    name: str
    preset: str
    words: tuple[str, ...]
    split: str


SHAPES = "steps=400 batch_size=16 warmup_steps=50 ema_decay=0.99 turn=10 point_drop=0.2 dropout=0.5 validate_every=400"
TASKS = (
    Task("ModelNet10", "modelnet10_modern", tuple(SHAPES.split()), "val"),
    Task("rooms", "rooms_small", ("width=null", "steps=300", "validate_every=300"), "test"),
)
SCORES = {"oa": "OA, %", "macc": "mAcc, %", "miou": "mIoU, %"}


def make_table(runs: Path, modelnet10: Path | None) -> None:
    """Train, score and time every network on both."""
    keep_freed_memory()  # as the command 'train' does
    rows, figures = [], []
    for task in TASKS:
        data = modelnet10 if task.name == "ModelNet10" else None
        for name, words in NETWORKS.items():
            folder = runs / f"{task.preset}-{name.split()[0].replace('++', '2').lower()}"
            run = train_once(folder, task.preset, (*task.words, *words), data)
            result = score_once(run, task.split, data)
            found = costs_once(run) | {"task": task.name, "network": name, "result": result}
            figures.append(found)
            rows.append(
                (
                    f"{task.name}, {task.split}",
                    name,
                    *("–" if result.get(score) is None else f"{100 * result[score]:.1f}" for score in SCORES),
                    f"{result['parameters']:,}",
                    f"{found['epoch_seconds']:,.0f}",
                    f"{found['inference_ms']:.0f}",
                    "not measured" if found["peak_megabytes"] is None else f"{found['peak_megabytes'] / 1e3:.1f}",
                )
            )
    columns = ("data", "network", *SCORES.values(), "parameters", "s an epoch", "ms a cloud", "GB in training")
    commands = "; ".join(f"train {task.preset} {' '.join(task.words)}" for task in TASKS)
    write_table("peers", commands, columns, rows, figures)


def costs_once(run: RunFolder) -> dict[str, Any]:
    """What the network costs, which is kept in the run folder."""
    file = run.path / "costs.json"
    if not file.is_file():
        run.write_json(file, costs(run))
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def costs(run: RunFolder) -> dict[str, Any]:
    """Seconds of a training epoch and milliseconds a cloud, here and now, and the peak of the training process.

    The trainings themselves may have shared the machine with something else.
    """
    trained, settings = load_trained(str(run.path)), run.read_settings()
    epoch = run.read_card().training if trained.card.task == "classification" else BLOCKS
    summary = json.loads(run.summary.read_text(encoding="utf-8"))
    seconds = alternate({"cloud": partial(answer, trained)})  # one after the other: a network is in one mode at a time
    seconds |= alternate({"step": training_step(trained, settings)})
    return {
        "inference_ms": 1e3 * seconds["cloud"],
        "epoch_seconds": seconds["step"] * epoch / settings.batch_size,
        "peak_megabytes": None if summary["resumed_at"] else summary["peak_megabytes"],  # that of the last sitting
    }


def answer(trained: Trained) -> None:
    """What the network says of one cloud, geometry included."""
    ask(trained.network, random_batch(trained, 1))


def training_step(trained: Trained, settings: Settings) -> Callable[[], None]:
    """A training step on a whole batch, geometry included."""
    network = trained.network.train()
    optimiser = build_optimiser(settings, network)

    def step() -> None:
        batch = random_batch(trained, settings.batch_size)
        total, weight = loss_and_weight(network(batch.features, batch.pyramid), batch.labels, None, 0.0)
        penalty = network.penalty()
        (total / weight + (0.0 if penalty is None else penalty)).backward()  # type: ignore[no-untyped-call, unused-ignore]
        optimiser.step()
        optimiser.zero_grad()

    return step


def random_batch(trained: Trained, clouds: int) -> Batch:
    """Clouds of the size and with the features that the network was trained on."""
    card = trained.card
    random = np.random.default_rng(0)
    labels = np.zeros(() if card.task == "classification" else card.points, np.int64)

    def sample() -> Sample:
        colours = random.random((card.points, 3), np.float32) if card.features else None
        return Sample(random.random((card.points, 3), np.float32), colours, labels, "random")

    return make_batch([sample() for _ in range(clouds)], trained.network.plan, seed=0)
