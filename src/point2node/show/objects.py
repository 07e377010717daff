"""Objects instead of points: every chair, table, door … of a labelled scan with its box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass
from point2node.geometry.boxes import UprightBox, upright_box
from point2node.geometry.components import connected_components
from point2node.geometry.neighbours import k_nearest_neighbours
from point2node.show.scene import LabelledScene

Numbers = NDArray[np.int64]
SURFACES = ("wall", "floor", "ceiling")
"""Classes that are planes, not objects."""
LEFT_OUT = ("clutter", "unannotated", "otherprop", "unclassified")
"""Classes whose points are of many things."""

FEWEST = 5
"""Points of a part that is looked at."""
NEIGHBOURS_WITHIN = 2.5
"""Points within so many times the usual distance are neighbours, however thin the scan is."""
ASKED = 1000


@dataclass(frozen=True)
class ObjectRule:
    """How points of one class become objects; lengths in metres."""

    gap: float
    """Points nearer than this belong to one object."""
    longest: float
    """An object must be at least this long in one direction, …"""
    points: int = 40
    """… and have at least this many points."""


DEFAULT = ObjectRule(gap=0.06, longest=0.25)
RULES = MappingProxyType(
    {
        "beam": ObjectRule(gap=0.20, longest=0.5),
        "column": ObjectRule(gap=0.10, longest=0.5),
        "window": ObjectRule(gap=0.08, longest=0.4),
        "door": ObjectRule(gap=0.10, longest=1.0),
        "table": ObjectRule(gap=0.05, longest=0.4),
        "desk": ObjectRule(gap=0.05, longest=0.4),
        "chair": ObjectRule(gap=0.05, longest=0.35),
        "sofa": ObjectRule(gap=0.08, longest=0.5),
        "bed": ObjectRule(gap=0.08, longest=0.8),
        "bookcase": ObjectRule(gap=0.06, longest=0.4),
        "board": ObjectRule(gap=0.10, longest=0.4),
    }
)
"""Chosen on true labels of eight generated rooms; the rooms of the benchmark are others."""


@dataclass(frozen=True, eq=False)
class FoundObject:
    """One object of a scan."""

    number: int
    kind: SemanticClass
    points: Numbers
    """The numbers of its points in the scan."""
    box: UprightBox
    confidence: float | None
    """The mean confidence of its points; None where the scan has none."""

    @property
    def name(self) -> str:
        """``chair_03``."""
        return f"{self.kind.name.replace(' ', '_')}_{self.number:02}"


def find_objects(scene: LabelledScene) -> list[FoundObject]:
    """The objects of a scene in metres, class by class, the largest first."""
    found: list[FoundObject] = []
    nearest = NEIGHBOURS_WITHIN * _spacing(scene.xyz[scene.placed])
    for place, kind in enumerate(scene.classes):
        if kind.name in (*SURFACES, *LEFT_OUT):
            continue
        rule = RULES.get(kind.name, DEFAULT)
        numbers = np.flatnonzero((scene.labels == place) & scene.placed)
        number = 0
        for points, box in _split(scene.xyz[numbers], max(rule.gap, nearest)):
            if len(points) >= rule.points and max(box.size) >= rule.longest:
                number += 1
                group = numbers[points]
                confidence = None if scene.confidence is None else float(scene.confidence[group].mean())
                found.append(FoundObject(number, kind, group, box, confidence))
    return found


def _split(xyz: NDArray[np.floating], gap: float) -> list[tuple[Numbers, UprightBox]]:
    """The parts of a cloud of one class with their boxes, the largest first.

    A part above or below a larger one belongs to it: a scanner often sees the seat of a chair and its feet, but not
    what is between.
    """
    parts = connected_components(xyz, gap)
    order = np.argsort(parts, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(parts[order])) + 1)
    groups = sorted((group for group in groups if len(group) >= FEWEST), key=lambda group: (-len(group), group[0]))
    hosts: list[tuple[list[Numbers], UprightBox]] = []
    for group in groups:
        middle = np.median(xyz[group], axis=0)
        host = next((members for members, box in hosts if box.is_over(middle)), None)
        if host is None:
            hosts.append(([group], upright_box(xyz[group])))
        else:
            host.append(group)
    joined = ((np.sort(np.concatenate(members)), len(members), box) for members, box in hosts)
    return [(points, box if count == 1 else upright_box(xyz[points])) for points, count, box in joined]


def _spacing(xyz: NDArray[np.floating]) -> float:
    """The usual distance of a point to the next, from a few of them."""
    if len(xyz) < 2:
        return 0.0
    local = torch.from_numpy((xyz - xyz.min(axis=0)).astype(np.float32))[None]
    distances, _ = k_nearest_neighbours(local[:, :: max(1, len(xyz) // ASKED)], local, 2)
    return float(distances[0, :, 1].median())


@dataclass(frozen=True)
class Match:
    """How the objects of one class compare with the true ones, at an IoU of their points of 0.5."""

    true: int
    found: int
    both: int

    @property
    def precision(self) -> float:
        """The share of the found ones that are true; NaN without any."""
        return self.both / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        """The share of the true ones that were found; NaN without any."""
        return self.both / self.true if self.true else float("nan")


def match_objects(
    objects: Sequence[FoundObject], classes: Sequence[SemanticClass], true_labels: Numbers, instances: Numbers
) -> dict[str, Match]:
    """Found objects against true ones, by class; ``true_labels`` are places in ``classes``, −1 for none.

    A true object counts if the scanner saw as much of it as the rule of its class asks for. Above an IoU of 0.5 an
    object has one partner at most.
    """
    result = {}
    for place, kind in enumerate(classes):
        if kind.name in (*SURFACES, *LEFT_OUT):
            continue
        fewest = RULES.get(kind.name, DEFAULT).points
        here = true_labels == place
        numbers, counts = np.unique(instances[here], return_counts=True)
        size_of = {int(n): int(c) for n, c in zip(numbers, counts, strict=True) if c >= fewest}
        of_class = [one for one in objects if one.kind.value == kind.value]
        both = 0
        for one in of_class:
            inside, shared = np.unique(instances[one.points][here[one.points]], return_counts=True)
            both += any(
                2 * common > len(one.points) + size_of[int(n)] - common
                for n, common in zip(inside, shared.tolist(), strict=True)
                if int(n) in size_of
            )
        result[kind.name] = Match(len(size_of), len(of_class), both)
    return result
