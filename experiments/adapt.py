"""What adapting to unlabelled scans does on real rooms: ``make adapt-rooms REAL=FOLDER [WEIGHTS=rooms] [MINUTES=20]``.

The rooms of each scanner kind (the folder of ``real_rooms``) are treated as the unlabelled scans of one user; their
labels are only used to score. Measured are the weights as they are, batch-norm statistics of each room mixed in by
the shares below (``predict --adapt bn`` uses ½), and, where minutes are given, ``point2node adapt`` on all rooms of
the kind. Weights that are adapted here are for this table alone.

The figures go to experiments/results/adapt.md and .json, one entry for each set of weights; what is measured anew takes
the place of what was there, the rest stays.
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


def make_table(weights: str, real: Path, runs: Path, minutes: float | None = None, split: str = "test") -> None:
    """Score every way of adapting on every kind of scanner."""
    labeller = SceneLabeller(load_trained(weights))
    checksum = checksum_of(labeller)
    folders = kind_folders(real, split)
    ways: dict[str, list[Kind]] = {}
    for way, share in SHARES.items():
        print(f"{labeller.name}, {way}", flush=True)
        options = Options(norm_share=share)
        ways[way] = [label_rooms(labeller, folder, real / CLASS_FILE, split, options) for folder in folders]
    if minutes is not None:
        ways[SELF_TRAINING] = [
            label_rooms(
                adapt_once(weights, folder / split, runs / f"{labeller.name}-{checksum[:6]}" / folder.name, minutes),
                folder,
                real / CLASS_FILE,
                split,
            )
            for folder in folders
        ]
    names = [one.name for one in labeller.classes]
    entry = {"weights": labeller.name, "checksum": checksum, "classes": names}
    write_results(entry, {way: describe(kinds, names) for way, kinds in ways.items()})


def adapt_once(weights: str, scans: Path, run: Path, minutes: float) -> SceneLabeller:
    """The weights adapted to the scans of a folder; a run that was stopped is resumed."""
    running.point2node("adapt", scans, "--weights", weights, "--out", run, "--minutes", f"{minutes:g}")
    return SceneLabeller(load_trained(str(run)))


def describe(kinds: Sequence[Kind], names: Sequence[str]) -> dict[str, Any]:
    """The figures of one way."""
    figures = {kind.name: {key: kind.as_dict(names)[key] for key in KEPT} for kind in kinds}
    described: dict[str, Any] = without_nan({"kinds": figures, "mean": mean_of(figures)})
    return described


def write_results(entry: Mapping[str, Any], ways: Mapping[str, Any]) -> None:
    """Put the ways into the entry of the same weights, if there is one, and write the table."""
    file = running.RESULTS / "adapt.json"
    earlier = json.loads(file.read_text(encoding="utf-8"))["figures"] if file.is_file() else []
    same = [one for one in earlier if one["checksum"] == entry["checksum"]]
    found = {**(same[0]["ways"] if same else {}), **ways}
    joined = {**entry, "ways": {way: found[way] for way in (*SHARES, SELF_TRAINING) if way in found}}
    results = [one for one in earlier if one not in same] + [joined]
    file.parent.mkdir(parents=True, exist_ok=True)
    command = "python -m experiments adapt --weights WEIGHTS --real FOLDER [--minutes M]"
    file.write_text(json.dumps({"command": command, "figures": results}, indent=1) + "\n", encoding="utf-8")
    text = "\n\n".join([score_table(results), room_table(results)]) + "\n"
    file.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def score_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Every way's figures by scanner kind, and what it changes."""
    rows = []
    for result in results:
        for way, found in result["ways"].items():
            original = result["ways"][ORIGINAL]
            for name, kind in (*found["kinds"].items(), ("mean", found["mean"])):
                before = original["mean"] if name == "mean" else original["kinds"][name]
                gains = [f"{100 * (kind[key] - before[key]):+.1f}" for key in ("oa", "miou")]
                rows.append([_named(result), f"{name}, {way}", *(percent(kind[key]) for key in FIGURES), *gains])
    columns = ["weights", "scanner, adapted by", *(f"{name}, %" for name in FIGURES.values()), "Δ OA", "Δ mIoU"]
    return markdown_table(columns, rows)


def room_table(results: Sequence[Mapping[str, Any]]) -> str:
    """OA and mIoU of every room, in the order of the ways."""
    ways = list(dict.fromkeys(way for result in results for way in result["ways"]))
    rows = []
    for result in results:
        for kind, found in result["ways"][ORIGINAL]["kinds"].items():
            for room in found["rooms"]:
                cells = [_room_figures(result["ways"].get(way), kind, room) for way in ways]
                rows.append([_named(result), f"{kind}, {room}", *cells])
    return markdown_table(["OA / mIoU, %", "room", *ways], rows)


def _room_figures(way: Mapping[str, Any] | None, kind: str, room: str) -> str:
    if way is None:
        return "–"
    found = way["kinds"][kind]["rooms"][room]
    return f"{percent(found['oa'])} / {percent(found['miou'])}"


def _named(result: Mapping[str, Any]) -> str:
    return f"{result['weights']} ({result['checksum'][:6]})"
