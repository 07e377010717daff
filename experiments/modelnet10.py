"""ModelNet10 from the weights of ModelNet40: ``make table-modelnet10``.

The ten classes are among the forty, so their network starts from the twin of the pretrained one and learns from both
samplings of each shape. The fold that the twin never saw is also held back here, for both samplings of a shape; it is
used for the validation figures and the temperature. The official test split is never used.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from experiments.modelnet40 import HOLDING_BACK, PRESET
from experiments.running import calibrate_once, point2node, score_once, train_once, write_table
from point2node.core.errors import InputError
from point2node.data.raw_roots import cache_folder, open_data
from point2node.data.store import Store
from point2node.evaluation.splits import divide
from point2node.geometry.frames import UPWARDS
from point2node.training.history import training_seconds
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import load_preset

START = Path(__file__).parent / "runs/modelnet40/point2node-seed0-fold"
"""The run with the calibrated weights that the network starts from."""
WORDS: tuple[str, ...] = ("classes=10", "seed=0", "epochs=10", "learning_rate=0.002", "class_weights=balanced")
"""Classes are weighted: there are 889 chairs and 106 bathtubs for training, 100 and 50 for testing."""
VOTES = 10
COLUMNS = ("network", "steps", "hours", "trained on", "held back", "votes", "OA, held back, %", "mAcc, held back, %")


def make_table(runs: Path, modelnet10: Path, modelnet40: Path) -> None:
    """Join the samplings, train, calibrate, and score the network and the one it started from on the same shapes."""
    data = join_samplings(modelnet10, modelnet40, cache_folder() / "modelnet10_both_samplings")
    run = train_once(runs / "point2node-seed0", PRESET, (*WORDS, f"start={RunFolder(START).calibrated}"), data)
    calibrate_once(run, "--votes", str(VOTES), "--weights", "last")
    result = score_once(run, "val", data, "--weights", "calibrated")
    before = runs / "modelnet40-before.json"
    if not before.is_file():
        how = ("--weights", "calibrated", "--data", data, "--split", "val", "--votes", str(VOTES))
        point2node("evaluate", START, *how, "--out", before)
    settings, card = run.read_settings(), run.read_card()
    hours = training_seconds(run.history, settings.batch_size * settings.points) / 3600
    start: dict[str, Any] = json.loads(before.read_text(encoding="utf-8"))
    told = (f"{result['trained_steps']:,}", f"{hours:.2f}", f"{card.training:,}")
    rows = [
        (name, *cost, f"{scored['units']:,}", str(votes), f"{100 * scores['oa']:.2f}", f"{100 * scores['macc']:.2f}")
        for name, cost, scored in (
            ("modelnet40, asked for ten classes", ("", "", ""), start),
            ("modelnet10", told, result),
        )
        for votes, scores in ((1, scored["single_vote"]), (VOTES, scored))
    ]
    command = f"train {PRESET} {' '.join(WORDS)} start=TWIN"
    write_table("modelnet10", command, COLUMNS, rows, {"start": start, "hours": hours, "result": result})


def join_samplings(modelnet10: Path, modelnet40: Path, out: Path) -> Path:
    """Write a folder of h5 files with the ten classes of both: the training shapes, and the held-back fold.

    Held-back shapes are scored only in the sampling of ModelNet10, which is also that of its test split.
    """
    ten, forty = (open_data("modelnet", path) for path in (modelnet10, modelnet40))
    for store in (ten, forty):
        if "train" not in store.splits:
            raise InputError(store.path, expected="a split 'train'", found=", ".join(store.splits))
    held = divide(load_preset(PRESET, HOLDING_BACK), forty).validation.shapes
    held_names = set(np.asarray(forty.shapes("train").names)[held])
    names = [one.name for one in ten.classes]
    parts = [_take(store, names) for store in (ten, forty)]
    chosen = [np.isin(shape_names, sorted(held_names)) for _, _, shape_names in parts]
    out.mkdir(parents=True, exist_ok=True)
    (out / "shape_names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    splits = {
        "train": [tuple(array[~left_out] for array in part) for part, left_out in zip(parts, chosen, strict=True)],
        "val": [tuple(array[chosen[0]] for array in parts[0])],
    }
    for split, taken in splits.items():
        files = [f"ply_data_{split}{number}.h5" for number in range(len(taken))]
        for file, (xyz, labels, shape_names) in zip(files, taken, strict=True):
            with h5py.File(out / file, "w") as opened:
                opened["data"], opened["label"] = xyz, labels[:, None]
                opened["name"] = shape_names.astype("S")
        (out / f"{split}_files.txt").write_text("\n".join(files) + "\n", encoding="utf-8")
    return out


def _take(store: Store, names: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return upright clouds, labels and names of the training shapes of the classes ``names``."""
    shapes = store.shapes("train")
    places = {one.value: names.index(one.name) for one in store.classes if one.name in names}
    if len(places) != len(names):
        raise InputError(store.path, expected=f"the classes {', '.join(names)}", found=f"{len(places)} of them")
    labels = np.asarray(shapes.labels)
    chosen = np.flatnonzero(np.isin(labels, sorted(places)))
    upright = np.asarray(shapes.xyz)[chosen] @ UPWARDS[store.manifest.settings.get("up", "z")].T
    numbers = np.array([places[label] for label in labels[chosen]], np.uint8)
    return upright.astype(np.float32), numbers, np.asarray(shapes.names)[chosen]
