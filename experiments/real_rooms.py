"""Accuracy on real labelled rooms, pooled by scanner kind: ``make real-rooms REAL=FOLDER [WEIGHTS=rooms]``.

``FOLDER`` contains a class file ``classes.yaml`` and a folder for each scanner kind, with a folder of labelled clouds
for each split: ``panoramic/test/*.npz``, ``handheld/test/*.ply``, with or without colour. Rooms are labelled like scans
of users, by ``point2node predict`` without options unless some are given. All scores of a kind come from one confusion
matrix of all its points. "Groups" is the number of groups of points that went through the network: the cost on any
machine. With ``--store`` the rooms of a prepared store are a further kind, called generated; with ``--in-pieces`` rooms
are labelled like scans that do not fit into memory.

"mIoU, eleven" leaves out board and clutter, as the literature on training with synthetic rooms does: points whose true
class is one of these are not counted, but points of other classes that are labelled as one of them are wrong. The mean
is taken over those of the other eleven classes that occur.

The figures are written to experiments/results/real_rooms.md and .json, with one entry for each set of weights; pictures
of every room, with true and predicted labels side by side, to ``--pictures``. No points of rooms are stored.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments import running
from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.core.words import Report, unreported
from point2node.data.own_files import find_own_files
from point2node.data.store import open_store
from point2node.evaluation.evaluate import without_nan
from point2node.evaluation.metrics import Calibration, Counts, Labels, Scores, count_confusion, score
from point2node.formats import Pieces
from point2node.inference.jobs import checksum_of
from point2node.inference.kept_work import KeptWork
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.large_scans import FINER, LargeScan, survey
from point2node.show.qualitative_grid import GridRow, draw_grid
from point2node.weights.trained import load_trained

CLASS_FILE = "classes.yaml"
LEFT_OUT = ("board", "clutter")
FIGURES = {"oa": "OA", "macc": "mAcc", "miou": "mIoU", "miou_eleven": "mIoU, eleven", "ece": "ECE"}
PER_CENT = tuple(f"{name}, %" for name in FIGURES.values())


@dataclass(eq=False)
class Kind:
    """The rooms of one scanner kind, and their counts."""

    name: str
    confusion: Counts
    calibration: Calibration = field(default_factory=Calibration)
    rooms: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: float = 0.0
    groups: int = 0
    """The number of groups of points that went through the network."""

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the figures as JSON values: fractions, null for what was absent."""
        scores = score(self.confusion, names)
        return {
            **figures_of(self.confusion, names, self.calibration),
            "seconds": round(self.seconds, 1),
            "groups": self.groups,
            "points": int(self.confusion.sum()),
            "iou": scores.iou,
            "accuracy": scores.accuracy,
            "confusion": self.confusion.tolist(),
            "rooms": self.rooms,
        }


class InPieces(SceneLabeller):
    """Labels a cloud like ``predict`` labels a file that is larger than memory."""

    def label(
        self,
        cloud: PointCloud,
        options: Options | None = None,
        report: Report = unreported,
        name: str = "cloud",
        kept: KeptWork | None = None,
    ) -> LabelledCloud:
        """Label the cloud's cubes, and give each point the label of its cube."""
        options = options or Options()
        pieces = Pieces(len(cloud), 0, lambda: iter([cloud]))
        side = self.cube(options) / FINER / options.scale_of(cloud)
        large = LargeScan(pieces, survey(pieces, side, name, None))
        labelled = super().label(large.cubes.cloud, options, report, name, kept)
        return next(large.spread(large.describe(labelled), None))


def make_table(
    weights: str,
    real: Path,
    pictures: Path,
    options: Options | None = None,
    store: Path | None = None,
    *,
    in_pieces: bool = False,
) -> None:
    """Label, score and draw every room of the split "test", and add the figures to those of other weights."""
    labeller = (InPieces if in_pieces else SceneLabeller)(load_trained(weights))
    split = "test"
    names = [one.name for one in labeller.classes]
    protocol: dict[str, Any] = {}

    def draw(kind: Kind, room: str, labelled: LabelledCloud, truth: Labels) -> None:
        draw_room(labelled, truth, f"{kind.name}, {room}", pictures / f"{kind.name}_{room}.png")
        protocol.update(labelled.protocol)

    folders = kind_folders(real, split)
    kinds = [label_rooms(labeller, folder, real / CLASS_FILE, split, options, draw) for folder in folders]
    if store is not None:
        kinds.append(label_kind(labeller, "generated", read_stored_rooms(store, split), options, draw))
    of_room = ("points_without_position", "colour", "block_side", "offsets")
    figures = {kind.name: kind.as_dict(names) for kind in kinds}
    result = {
        "weights": labeller.name,
        "checksum": checksum_of(labeller),
        "protocol": {key: value for key, value in protocol.items() if key not in of_room},
        "classes": names,
        "kinds": figures,
        "mean": mean_of({folder.name: figures[folder.name] for folder in folders}),
    }
    write_results(without_nan(result))
    print(f"pictures in {pictures}")


def label_rooms(
    labeller: SceneLabeller,
    folder: Path,
    class_file: Path,
    split: str,
    options: Options | None = None,
    on_room: Callable[[Kind, str, LabelledCloud, Labels], None] = lambda kind, room, labelled, truth: None,
) -> Kind:
    """Label and count every room of one kind and split; ``on_room`` is called for each."""
    return label_kind(labeller, folder.name, read_rooms(folder, class_file, split, labeller.classes), options, on_room)


def label_kind(
    labeller: SceneLabeller,
    name: str,
    rooms: Iterator[tuple[str, PointCloud, Labels]],
    options: Options | None = None,
    on_room: Callable[[Kind, str, LabelledCloud, Labels], None] = lambda kind, room, labelled, truth: None,
) -> Kind:
    """Label and count rooms that are read one after the other; ``on_room`` is called for each."""
    names = [one.name for one in labeller.classes]
    kind = Kind(name, np.zeros((len(names), len(names)), np.int64))
    group_counts: list[int] = []
    counting = labeller.network.register_forward_pre_hook(lambda network, given: group_counts.append(len(given[0])))
    for room, cloud, truth in rooms:
        start = time.monotonic()
        labelled = labeller.label(cloud, options, name=room)
        kind.seconds += time.monotonic() - start
        kind.groups = sum(group_counts)
        add_room(kind, room, labelled, truth)
        on_room(kind, room, labelled, truth)
        found = kind.rooms[room]
        print(f"{kind.name}, {room}: OA {percent(found['oa'])}, mIoU {percent(found['miou'])}", flush=True)
    counting.remove()
    return kind


def mean_of(kinds: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the unweighted mean of the kinds' figures."""
    return {key: float(np.mean([kind[key] for kind in kinds.values()])) for key in FIGURES}


def kind_folders(real: Path, split: str) -> list[Path]:
    """Return the folders of the scanner kinds: those that contain the split."""
    found = sorted(path for path in real.iterdir() if (path / split).is_dir()) if real.is_dir() else []
    if not found:
        raise InputError(
            real,
            expected=f"folders of scanner kinds with a folder {split!r} of labelled clouds in each",
            found="none" if real.is_dir() else "no folder",
            remedy="For example panoramic/test/office_1.npz.",
        )
    return found


def read_rooms(
    folder: Path, class_file: Path, split: str, classes: tuple[SemanticClass, ...]
) -> Iterator[tuple[str, PointCloud, Labels]]:
    """Yield name, cloud and true labels (indices into ``classes``, or −1) of every room of one kind and split."""
    dataset = find_own_files(folder, class_file)
    places = {one.name: place for place, one in enumerate(classes)}
    foreign = [one.name for one in dataset.classes if one.name not in places]
    if foreign:
        raise InputError(class_file, expected="classes of the weights: " + ", ".join(places), found=foreign[0])
    for source in dataset.sources:
        if source.split != split:
            continue
        for scene in source.read(False):
            assert isinstance(scene.content, PointCloud)
            assert scene.content.labels is not None
            truth = np.full(len(scene.content), -1, np.int64)
            for one in dataset.classes:
                if one.value not in dataset.ignored:
                    truth[scene.content.labels == one.value] = places[one.name]
            yield scene.name.removeprefix(f"{split}/"), scene.content.with_(labels=None), truth


def read_stored_rooms(path: Path, split: str) -> Iterator[tuple[str, PointCloud, Labels]]:
    """Yield the same for the scenes of a prepared store, which must have the classes of the weights."""
    store = open_store(path)
    for name in store.scenes(split):
        cloud = store.load(name)
        assert cloud.labels is not None
        yield name, cloud.with_(labels=None, instance=None), store.number_labels(cloud.labels)


def add_room(kind: Kind, room: str, labelled: LabelledCloud, truth: Labels) -> None:
    """Add one labelled room to the counts of its kind, and score it."""
    names = [one.name for one in labelled.classes]
    predicted = labelled.places
    confusion = count_confusion(truth, predicted, len(names))
    calibration = Calibration()
    calibration.add(truth, predicted, labelled.confidence)
    kind.confusion += confusion
    kind.calibration.counts += calibration.counts
    figures = figures_of(confusion, names, calibration)
    kind.rooms[room] = {**figures, "points": int(confusion.sum()), "coloured": labelled.cloud.rgb is not None}


def figures_of(confusion: Counts, names: Sequence[str], calibration: Calibration) -> dict[str, float]:
    """Return the figures of the table."""
    scores = score(confusion, names)
    return {
        "oa": scores.oa,
        "macc": scores.macc,
        "miou": scores.miou,
        "miou_eleven": score_without(confusion, names).miou,
        "ece": calibration.expected_error,
    }


def score_without(confusion: Counts, names: Sequence[str], left_out: Sequence[str] = LEFT_OUT) -> Scores:
    """Score without the true points of some classes; predicting these classes for other points is still wrong."""
    kept = np.array([name not in left_out for name in names])
    return score(np.where(kept[:, None], confusion, 0), names)


def draw_room(labelled: LabelledCloud, truth: Labels, title: str, path: Path) -> None:
    """Draw true and predicted labels side by side, with the colours of the scan if it has any."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {} if labelled.cloud.rgb is None else {"colour of the scan": labelled.cloud.rgb}
    columns |= {"true": truth, "predicted": labelled.places}
    draw_grid([GridRow(title, labelled.cloud.xyz, columns)], labelled.classes, path)


def write_results(result: dict[str, Any]) -> None:
    """Add the result to the results file, replacing an earlier one of the same weights, and write the table."""
    file = running.RESULTS / "real_rooms.json"
    earlier = json.loads(file.read_text(encoding="utf-8"))["figures"] if file.is_file() else []
    results = [one for one in earlier if _measurement_key(one) != _measurement_key(result)] + [result]
    file.parent.mkdir(parents=True, exist_ok=True)
    command = "python -m experiments real_rooms --weights WEIGHTS --real FOLDER"
    file.write_text(json.dumps({"command": command, "figures": results}, indent=1) + "\n", encoding="utf-8")
    text = tables(results)
    file.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def tables(results: Sequence[dict[str, Any]]) -> str:
    """Return the tables of the latest entry, the means of all entries, and the latest confusions."""
    newest = latest(results)
    parts = [score_table(newest), class_table(newest), mean_table(results), *confusion_tables(newest)]
    return "\n\n".join(parts) + "\n"


def latest(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the latest entry that was not labelled in pieces, which is unusual for rooms; if none, the latest."""
    whole = [one for one in results if "cubes" not in one["protocol"]]
    return (whole or results)[-1]


def score_table(result: dict[str, Any]) -> str:
    """Return a table of the figures by scanner kind, with the mean of the real kinds and the cost."""
    rows = []
    for name, kind in (*result["kinds"].items(), ("mean of the real kinds", result["mean"])):
        cost = [f"{kind[key]:,}" if key in kind else "" for key in ("points", "groups")]
        rows.append([_weights_name(result), name, *(percent(kind[key]) for key in FIGURES), *cost])
    return markdown_table(["weights", "scanner", *PER_CENT, "points", "groups"], rows)


def class_table(result: dict[str, Any]) -> str:
    """Return a table of the IoU of every class, in per cent, with one row for each class."""
    kinds = result["kinds"]
    rows = [[one, *(percent(kind["iou"][one]) for kind in kinds.values())] for one in result["classes"]]
    return markdown_table(["IoU, %", *kinds], rows, words=1)


def mean_table(results: Sequence[dict[str, Any]]) -> str:
    """Return a table of the mean over the real kinds of each entry, in the order of measuring."""
    rows = [[_weights_name(one), _usage(one), *(percent(one["mean"][key]) for key in FIGURES)] for one in results]
    return markdown_table(["mean of the kinds", "labelled", *PER_CENT], rows)


def confusion_tables(result: dict[str, Any]) -> Iterator[str]:
    """Yield a table for each scanner kind: predicted classes of the points of each true class (rows), in per cent."""
    for name, kind in result["kinds"].items():
        rows = []
        for true, counts in zip(result["classes"], kind["confusion"], strict=True):
            if sum(counts):
                rows.append([true, f"{sum(counts):,}", *(f"{100 * count / sum(counts):.0f}" for count in counts)])
        yield markdown_table([f"{_weights_name(result)}, {name}: true class", "points", *result["classes"]], rows)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int = 2) -> str:
    """Return a Markdown table with ``words`` columns of words, then columns of numbers."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * words + "---:|" * (len(columns) - words)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _measurement_key(result: dict[str, Any]) -> tuple[Any, ...]:
    """Return the key of a measurement: the same weights, used in the same way, have one entry."""
    return result["checksum"], result["protocol"]


def _weights_name(result: dict[str, Any]) -> str:
    return f"{result['weights']} ({result['checksum'][:6]})"


def _usage(result: dict[str, Any]) -> str:
    """Describe how the weights were used."""
    protocol = result["protocol"]
    words = [f"{100 * protocol['thin']:g} cm cubes" if protocol["thin"] else "every point"]
    if "quality" in protocol:
        words.append(protocol["quality"])
    elif protocol["votes"] > 1:
        words.append(f"{protocol['votes']} votes")
    words += ["smoothed"] * protocol["smooth"] + ["in pieces"] * ("cubes" in protocol)
    return ", ".join(words)


def percent(value: float | None) -> str:
    """Format a fraction in per cent, or a dash if it is absent."""
    return "–" if value is None or np.isnan(value) else f"{100 * value:.1f}"
