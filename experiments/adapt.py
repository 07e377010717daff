"""The effect of adapting to unlabelled scans: ``make adapt-rooms REAL=FOLDER [WEIGHTS=rooms] [STEPS=130]``.

The rooms of each scanner kind (the folder of ``real_rooms``) are treated as the unlabelled scans of one user; their
labels are only used for scoring. Three ways are measured: the original weights, the weights with batch-norm statistics
of each room mixed in by the shares below (``predict --adapt bn`` uses ½), and, if steps are given, the result of
``point2node adapt`` on all rooms of the kind, with this many steps in each round (a number of minutes would mean a
different number of steps on each machine). The adapted weights are only used for this table.

The figures are written to experiments/results/adapt.json, with one entry for each set of weights. New figures replace
earlier ones of the same entry. The tables of the latest entry are written to adapt.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments import running
from experiments.real_rooms import (
    CLASS_FILE,
    FIGURES,
    PER_CENT,
    Kind,
    kind_folders,
    label_rooms,
    markdown_table,
    mean_of,
    percent,
)
from point2node.evaluation.evaluate import without_nan
from point2node.inference.jobs import checksum_of
from point2node.inference.labeller import Options, SceneLabeller
from point2node.weights.trained import load_trained

ORIGINAL, SELF_TRAINING = "original", "self-training"
SHARES = {ORIGINAL: 0.0, "batch norm, ¼": 0.25, "batch norm, ½": 0.5, "batch norm, 1": 1.0}
KEPT = (*FIGURES, "points", "seconds", "iou", "rooms")


def make_table(weights: str, real: Path, runs: Path, steps: int | None = None, split: str = "test") -> None:
    """Score every way of adapting on every kind of scanner."""
    labeller = SceneLabeller(load_trained(weights))
    checksum = checksum_of(labeller)
    folders = kind_folders(real, split)
    ways: dict[str, list[Kind]] = {}
    for way, share in SHARES.items():
        print(f"{labeller.name}, {way}", flush=True)
        options = Options(norm_share=share)
        ways[way] = [label_rooms(labeller, folder, real / CLASS_FILE, split, options) for folder in folders]
    if steps is not None:
        ways[SELF_TRAINING] = [
            label_rooms(
                adapt_once(weights, folder / split, runs / f"{labeller.name}-{checksum[:6]}" / folder.name, steps),
                folder,
                real / CLASS_FILE,
                split,
            )
            for folder in folders
        ]
    names = [one.name for one in labeller.classes]
    entry = {"weights": labeller.name, "checksum": checksum, "classes": names}
    described = {way: describe(kinds, names) for way, kinds in ways.items()}
    if steps is not None:
        described[SELF_TRAINING]["steps"] = steps
    write_results(entry, described)


def adapt_once(weights: str, scans: Path, run: Path, steps: int) -> SceneLabeller:
    """Adapt the weights to the scans of a folder; a stopped run is resumed."""
    running.point2node("adapt", scans, "--weights", weights, "--out", run, f"steps={steps}")
    return SceneLabeller(load_trained(str(run)))


def describe(kinds: Sequence[Kind], names: Sequence[str]) -> dict[str, Any]:
    """Return the figures of one way of adapting."""
    figures = {kind.name: {key: kind.as_dict(names)[key] for key in KEPT} for kind in kinds}
    described: dict[str, Any] = without_nan({"kinds": figures, "mean": mean_of(figures)})
    return described


def write_results(entry: Mapping[str, Any], ways: Mapping[str, Any]) -> None:
    """Add the figures to the entry of the same weights, or make one, and write the table."""
    file = running.RESULTS / "adapt.json"
    earlier = json.loads(file.read_text(encoding="utf-8"))["figures"] if file.is_file() else []
    same = [one for one in earlier if one["checksum"] == entry["checksum"]]
    found = {**(same[0]["ways"] if same else {}), **ways}
    joined = {**entry, "ways": {way: found[way] for way in (*SHARES, SELF_TRAINING) if way in found}}
    results = [one for one in earlier if one not in same] + [joined]
    file.parent.mkdir(parents=True, exist_ok=True)
    command = "python -m experiments adapt --weights WEIGHTS --real FOLDER [--steps N]"
    file.write_text(json.dumps({"command": command, "figures": results}, indent=1) + "\n", encoding="utf-8")
    text = "\n\n".join([score_table(joined), room_table(joined)]) + "\n"
    file.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def score_table(result: Mapping[str, Any]) -> str:
    """Return a table of every way's figures by scanner kind, and the changes."""
    original, rows = result["ways"][ORIGINAL], []
    for way, found in result["ways"].items():
        for name, kind in (*found["kinds"].items(), ("mean", found["mean"])):
            before = original["mean"] if name == "mean" else original["kinds"][name]
            gains = [f"{100 * (kind[key] - before[key]):+.1f}" for key in ("oa", "miou")]
            rows.append([_weights_name(result), f"{name}, {way}", *(percent(kind[key]) for key in FIGURES), *gains])
    return markdown_table(["weights", "scanner, adapted by", *PER_CENT, "Δ OA", "Δ mIoU"], rows)


def room_table(result: Mapping[str, Any]) -> str:
    """Return a table of the OA and mIoU of every room, with one column for each way."""
    rows = []
    for kind, found in result["ways"][ORIGINAL]["kinds"].items():
        for room in found["rooms"]:
            every = [way["kinds"][kind]["rooms"][room] for way in result["ways"].values()]
            rows.append([kind, room, *(f"{percent(one['oa'])} / {percent(one['miou'])}" for one in every)])
    return markdown_table(["OA / mIoU, %", "room", *result["ways"]], rows)


def _weights_name(result: Mapping[str, Any]) -> str:
    return f"{result['weights']} ({result['checksum'][:6]})"
