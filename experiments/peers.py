"""Five networks on the same data for the same number of steps: ``make table-peers``."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from experiments.running import score_once, train_once, write_table
from point2node.data.batches import Sample, make_batch
from point2node.engine.asking import ask
from point2node.engine.history import typical_speed
from point2node.engine.run_folder import RunFolder
from point2node.engine.trained import load_trained

NETWORKS = {
    "PointNet": ("model=pointnet", "variant=null", "width=null"),
    "PointNet++": ("model=pointnet2_ssg", "variant=null", "width=null"),
    "DGCNN": ("model=dgcnn", "variant=null", "width=null"),
    "PointCNN (baseline)": ("variant=baseline",),
    "Point2Node": (),
}
ROUNDS = 5


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
    """Seconds of a training epoch, milliseconds a cloud, geometry included, and the peak of the training process."""
    settings, card = run.read_settings(), run.read_card()
    epoch = card.training if card.task == "classification" else 1000  # of scenes a thousand blocks stand for an epoch
    seconds = epoch * settings.points / typical_speed(run.history)
    summary = json.loads(run.summary.read_text(encoding="utf-8"))
    peak = None if summary["resumed_at"] else summary["peak_megabytes"]  # which is that of the last sitting
    return {"epoch_seconds": seconds, "inference_ms": inference_ms(run), "peak_megabytes": peak}


def inference_ms(run: RunFolder) -> float:
    """Median milliseconds of one cloud, a random one, by itself, on all cores."""
    trained = load_trained(str(run.path))
    random = torch.Generator().manual_seed(0)
    xyz = torch.rand(trained.card.points, 3, generator=random).numpy()
    features = torch.rand(len(xyz), 3, generator=random).numpy() if trained.card.features else None
    one = partial(make_batch, [Sample(xyz, features, torch.empty(0).long().numpy(), "random")], trained.network.plan)
    times = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        ask(trained.network, one(seed=0))
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[1:])
