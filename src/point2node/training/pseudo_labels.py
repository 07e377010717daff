"""Pseudo-labels: what weights say of unlabelled scans, and the surest part of it as labels to learn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.core.words import Report
from point2node.core.writing import replacing
from point2node.data.features import QUANTA, compact_normals
from point2node.data.preparation import prepare
from point2node.data.sources import Dataset, Scene, Source
from point2node.data.store import Store, open_store
from point2node.formats import read
from point2node.geometry.frames import place
from point2node.inference.labelled import UNLABELLED
from point2node.inference.labeller import Options, SceneLabeller, thin_out
from point2node.inference.scan_check import examine_cloud

Labels = NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)
SPLIT = "train"


@dataclass(frozen=True, eq=False)
class Predictions:
    """What weights say of every point of some scans, one scan after the other."""

    labels: Labels
    """(N,) places in the class list; −1 for none."""
    confidence: NDArray[np.float32]
    """(N,) the probability of the label."""
    lengths: tuple[int, ...]
    """Points of each scan."""

    def parts(self, values: NDArray[Scalar]) -> list[NDArray[Scalar]]:
        """Values (N,) of all points as those of each scan."""
        return np.split(values, np.cumsum(self.lengths)[:-1])


def no_predictions(like: Predictions) -> Predictions:
    """What broken weights say of the same points: nothing."""
    return Predictions(np.full_like(like.labels, -1), np.zeros_like(like.confidence), like.lengths)


def surest_of_each_class(labels: Labels, confidence: NDArray[np.floating], share: float) -> NDArray[np.bool_]:
    """(N,): which points are among the surest ``share`` of those with the same label, rounded up.

    Class by class: a common threshold would choose hardly anything but the classes that are easy. Among equally sure
    points chance decides, by a fixed seed. A label of −1 is none.
    """
    chance = np.random.default_rng(0).permutation(len(labels))
    chosen = np.zeros(len(labels), np.bool_)
    for label in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == label)
        order = np.lexsort((chance[members], -confidence[members]))
        chosen[members[order[: math.ceil(share * len(members))]]] = True
    return chosen


def store_scans(
    scans: Sequence[Path], labeller: SceneLabeller, options: Options, folder: Path, report: Report
) -> Store:
    """The scans as a store of scenes without labels: in metres, upright, one point in each cube of ``options.thin``.

    What is doubtful about a scan is among the store's notes. Files that are there already are not read again.
    """
    sources = []
    for number, scan in enumerate(scans, start=1):
        name = f"{number:03d} {scan.name}"
        sources.append(Source(name, SPLIT, (scan,), partial(_read_scan, scan, name, labeller, options)))
    card = labeller.trained.card
    settings: dict[str, object] = {
        "scale": options.scale,
        "up": options.up,
        "color": options.color,
        "thin": labeller.cube(options),
    }
    settings |= {"features": list(card.features), "points": card.points}
    # the network is not sent to other processes: reading is quick next to labelling
    prepare(
        Dataset("scans", "unlabelled", labeller.classes, tuple(sources), settings=settings),
        folder,
        workers=1,
        report=report,
    )
    return open_store(folder)


def _read_scan(path: Path, name: str, labeller: SceneLabeller, options: Options, skip_damaged: bool) -> Iterator[Scene]:
    cloud, card = read(path), labeller.trained.card
    placement = place(cloud, options.scale_of(cloud), options.up, str(path))
    chosen = thin_out(placement, labeller.cube(options))
    if len(chosen) < card.points:
        raise InputError(path, expected=f"at least {card.points:,} points to adapt to", found=f"{len(chosen):,}")
    numbers = placement.numbers[chosen]
    normals = None
    if "normals" in card.features and cloud.normals is None:
        normals = compact_normals(placement.xyz)[chosen] / QUANTA
    elif "normals" in card.features and cloud.normals is not None:
        normals = cloud.normals[numbers] @ placement.rotation.T
    rgb = cloud.rgb[numbers] if cloud.rgb is not None and options.color and labeller.takes_colour else None
    doubts = examine_cloud(cloud, labeller, options, str(path)).doubts
    content = PointCloud(placement.xyz[chosen], rgb=rgb, normals=normals)
    yield Scene(name, SPLIT, content, notes=tuple(f"{path}: {doubt}" for doubt in doubts))


def predict_scans(labeller: SceneLabeller, store: Store, folder: Path, report: Report) -> Predictions:
    """What the weights say of every scan of the store; kept in ``folder``, so that no scan is labelled twice."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = store.manifest.scenes
    total, done = sum(entry.points for entry in entries), 0
    found = []
    for number, entry in enumerate(entries):
        file = folder / f"{number:04d}.npz"
        if not file.is_file():
            told = _of_total(report, done, total)
            labelled = labeller.label(store.load(entry.name), Options(votes=1), told, entry.name)
            with replacing(file) as stream:
                np.savez(stream, labels=labelled.places.astype(np.int16), confidence=labelled.confidence)
        with np.load(file) as arrays:
            found.append((arrays["labels"].astype(np.int64), arrays["confidence"]))
        done += entry.points
    labels, confidence = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Predictions(labels, confidence, tuple(entry.points for entry in entries))


def _of_total(report: Report, before: int, total: int) -> Report:
    """Tells of the points of one scan as of those of all."""
    return lambda done, _, name: report(before + done, total, name)


def store_pseudo_labels(scans: Store, predictions: Predictions, share: float, teacher: str, folder: Path) -> Store:
    """The scans with the surest ``share`` of each class' predictions as labels; all other points have none.

    ``teacher`` stands for the weights that the predictions are of: what was stored for others is replaced.
    """
    values = np.array([one.value for one in scans.classes])
    unlabelled = UNLABELLED if UNLABELLED not in values else int(values.max()) + 1
    chosen = surest_of_each_class(predictions.labels, predictions.confidence, share)
    labels = predictions.parts(np.where(chosen, values[predictions.labels], unlabelled))
    sources = tuple(
        Source(name, SPLIT, (), partial(_with_labels, scans, name, of_scan))
        for name, of_scan in zip(scans.scenes(), labels, strict=True)
    )
    settings = {"share": share, "teacher": teacher, "scans": scans.checksum}
    dataset = Dataset("scans", "pseudo-labels", scans.classes, sources, ignored=(unlabelled,), settings=settings)
    prepare(dataset, folder, workers=1)
    return open_store(folder)


def _with_labels(store: Store, name: str, labels: Labels, skip_damaged: bool) -> Iterator[Scene]:
    yield Scene(name, SPLIT, store.load(name).with_(labels=labels))
