"""The accuracy gained by corrections: ``make table-clicks [REAL=FOLDER] [WEIGHTS=rooms] [ROOMS=4]``.

An oracle corrects rooms that training never saw: generated rooms in held-out styles and, if given, real labelled rooms
(the folder of ``real_rooms``). Each click assigns the true class to the whole segment under it. If less than nine
tenths of the segment are of one class, which a person would see, the click uses the brush instead, with the class of
the clicked point and the largest radius that satisfies the same rule. If the class is unknown, the click has no effect.
Clicks are placed where ``next`` leads, at random points, or in the segment with the most wrong points, which a person
would see. The network learns after 5, 20 and 50 clicks, each time from the pretrained weights.

Every room is treated as a person's only scan. All of its points are scored, by the labels shown (corrections over
labels), by the labels of the taught weights alone (the result of ``predict``), and by the corrections over the original
labels without any learning. The figures are written to experiments/results/clicks.md and .json; no points are stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import running
from experiments.real_rooms import CLASS_FILE, kind_folders, percent, read_rooms
from point2node.core.point_cloud import PointCloud
from point2node.evaluation.metrics import count_confusion, score
from point2node.inference.jobs import checksum_of
from point2node.inference.labeller import Options, SceneLabeller
from point2node.rooms.generator import generate_room
from point2node.teaching.corrections import no_corrections
from point2node.teaching.learning import Recipe, Taught, teach
from point2node.teaching.observing import Observed, TaughtScan, label_observed, observe, tail_of
from point2node.teaching.selecting import find_segments, select_brush, select_segment
from point2node.teaching.spots import best_spot
from point2node.weights.trained import load_trained

CLICKS = (5, 20, 50)
"""The numbers of clicks after which the network learns."""
SEED = 77
"""The seed of the generated rooms; the recipe was chosen on others."""
ROOMS = 4
PURE = 0.9
"""The share of the selected points that must be of one class."""
BRUSHES = (0.2, 0.1, 0.05)
"""Radii in metres of the brushes to try if a segment is not pure; the last is used in any case."""
FIGURES = MappingProxyType(
    {"shown": "shown", "learnt": "taught weights alone", "unlearnt": "corrections without learning"}
)
Indices = NDArray[np.int64]


@dataclass(eq=False)
class Room:
    """A room and what the oracle knows about it; arrays are by placed point."""

    name: str
    scan: TaughtScan
    observed: Observed
    truth: Indices
    segments: Indices
    labels: Indices
    """The labels of the current weights."""
    entropy: NDArray[np.float32]
    corrected: Indices
    """The class that each point was corrected to; −1 for none."""
    passed: set[int] = field(default_factory=set)
    """Segments that ``next`` has led to."""


Place = Callable[[Room, np.random.Generator], int | None]
"""Chooses the placed point for the next click; None if there is nothing left to click on."""


def click_next(room: Room, random: np.random.Generator) -> int | None:
    """Return the point that ``next`` leads to."""
    xyz = room.observed.placement.xyz
    spot = best_spot(xyz, room.segments, room.entropy, room.labels, room.corrected >= 0, room.passed)
    if spot is None:
        return None
    room.passed.add(spot.segment)
    return spot.point


def click_anywhere(room: Room, random: np.random.Generator) -> int | None:
    """Return a random point that has not been corrected yet."""
    left = np.flatnonzero(room.corrected < 0)
    return int(random.choice(left)) if len(left) else None


def click_mistake(room: Room, random: np.random.Generator) -> int | None:
    """Return a wrong point of the segment with the most wrong points."""
    shown = np.where(room.corrected >= 0, room.corrected, room.labels)
    wrong = (shown != room.truth) & (room.truth >= 0) & (room.corrected < 0)
    counts = np.bincount(room.segments, wrong)
    if not counts.any():
        return None
    return int(np.flatnonzero(wrong & (room.segments == counts.argmax()))[0])


WAYS: Mapping[str, Place] = MappingProxyType(
    {"next": click_next, "random": click_anywhere, "largest mistake": click_mistake}
)


def make_table(weights: str, real: Path | None, rooms: int = ROOMS, recipe: Recipe | None = None) -> None:
    """Let the oracle correct every room in every way, and write the results."""
    labeller = SceneLabeller(load_trained(weights))
    command = f"python -m experiments clicks --weights {weights} --rooms {rooms}" + (" --real FOLDER" if real else "")
    columns = ["rooms", "clicks", "placed by", *(f"{one}, mIoU %" for one in FIGURES.values()), "seconds a round"]
    figures: dict[str, Any] = {"weights": labeller.name, "checksum": checksum_of(labeller), "rooms": []}
    found = figures["rooms"]
    for kind, name, cloud, truth in rooms_to_correct(labeller, real, rooms):
        for entry in correct_room(labeller, name, cloud, truth, recipe or Recipe()):
            found.append({"kind": kind, "room": name, **entry})
            print(f"{kind}, {name}, {entry['way']}, {entry['clicks']} clicks: {percent(entry['shown'])}", flush=True)
        running.write_table("clicks", command, columns, table_rows(found), figures)  # keeps finished rooms if it stops


def rooms_to_correct(
    labeller: SceneLabeller, real: Path | None, rooms: int
) -> Iterator[tuple[str, str, PointCloud, Indices]]:
    """Yield the kind, name, cloud and truth of each room."""
    for index in range(rooms):
        cloud = generate_room(SEED, index, styles="held_out")
        assert cloud.labels is not None
        yield "generated", f"room_{index}", cloud.with_(labels=None), np.asarray(cloud.labels, np.int64)
    for folder in [] if real is None else kind_folders(real, "test"):
        for name, cloud, truth in read_rooms(folder, Path(real or "") / CLASS_FILE, "test", labeller.classes):
            yield folder.name, name, cloud, truth


def correct_room(
    labeller: SceneLabeller, name: str, cloud: PointCloud, truth: Indices, recipe: Recipe
) -> Iterator[dict[str, Any]]:
    """Yield the figures of one room before any click, and after each round in every way."""
    scan = TaughtScan(name, cloud, no_corrections(cloud, labeller.classes), Options())
    started = time.monotonic()
    observed = observe(labeller, scan, most=10**9)
    seconds = time.monotonic() - started
    numbers = observed.placement.numbers
    segments, truth = find_segments(observed.placement.xyz), truth[numbers]
    labels, entropy = label_observed(observed, tail_of(labeller.network), len(labeller.classes))
    start = Room(name, scan, observed, truth, segments, labels, entropy, np.full(len(numbers), -1, np.int64))
    miou = _miou(truth, labels, labeller)
    yield {"way": "", "clicks": 0, **dict.fromkeys(FIGURES, miou), "seconds": round(seconds, 1)}
    for way, place in WAYS.items():
        yield from _click(labeller, start, way, place, recipe)


def _click(labeller: SceneLabeller, start: Room, way: str, place: Place, recipe: Recipe) -> Iterator[dict[str, Any]]:
    room = replace(start, corrected=start.corrected.copy(), passed=set())
    random = np.random.default_rng(0)
    corrections, numbers = room.scan.corrections, room.observed.placement.numbers
    names = [one.name for one in labeller.classes]
    for click in range(1, max(CLICKS) + 1):
        point = place(room, random)
        if point is not None:
            selected, true = _answer(room, point)
            if true >= 0:
                corrections = corrections.add(names[true], numbers[selected])
                room.corrected[selected] = true
        if click in CLICKS:
            taught = teach(labeller, [(room.observed, corrections)], recipe)
            yield {"way": way, "clicks": click, **_score(labeller, start, room, taught)}


def _answer(room: Room, point: int) -> tuple[Indices, int]:
    """Return the points that the oracle corrects with a click, and their class; −1 if unknown."""
    segment = select_segment(room.segments, point)
    known = room.truth[segment][room.truth[segment] >= 0]
    counts = np.bincount(known, minlength=1)
    if len(known) and counts.max() >= PURE * len(segment):
        return segment, int(counts.argmax())
    true = int(room.truth[point])
    for radius in BRUSHES:
        brushed = select_brush(room.observed.placement.xyz, point, radius)
        if (room.truth[brushed] == true).mean() >= PURE:
            break
    return brushed, true


def _score(labeller: SceneLabeller, start: Room, room: Room, taught: Taught) -> dict[str, Any]:
    """Relabel the room with the taught weights, and score it."""
    started = time.monotonic()
    tail = tail_of(taught.network).eval()
    room.labels, room.entropy = label_observed(room.observed, tail, len(taught.card.classes))
    seconds = taught.seconds + time.monotonic() - started
    known = room.corrected >= 0
    given = {
        "shown": np.where(known, room.corrected, room.labels),
        "learnt": room.labels,
        "unlearnt": np.where(known, room.corrected, start.labels),
    }
    scores = {name: _miou(room.truth, labels, labeller) for name, labels in given.items()}
    return {**scores, "seconds": round(seconds, 1), "corrected": round(float(known.mean()), 4)}


def _miou(truth: Indices, labels: Indices, labeller: SceneLabeller) -> float:
    names = [one.name for one in labeller.classes]
    return round(score(count_confusion(truth, labels, len(names)), names).miou, 4)


def table_rows(found: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the rows of the table: means over the rooms of each kind."""
    rows = []
    for kind in dict.fromkeys(one["kind"] for one in found):
        for clicks in (0, *CLICKS):
            for way in ("", *WAYS):
                same = [one for one in found if (one["kind"], one["clicks"], one["way"]) == (kind, clicks, way)]
                if same:
                    means = [percent(float(np.mean([one[key] for one in same]))) for key in FIGURES]
                    seconds = f"{np.mean([one['seconds'] for one in same]):.1f}"
                    rows.append([f"{len(same)} {kind}", str(clicks), way or "–", *means, seconds])
    return rows
