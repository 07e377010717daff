"""What the doctor says: findings with a place, and counts beside what is expected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from point2node.core.errors import InputError
from point2node.data.parallel import map_unordered
from point2node.data.sources import Damage, Dataset, Shapes, Source

LINE = re.compile(r"(?P<path>.*), line (?P<line>\d+)")


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be."""

    path: str
    """Relative to the root, with forward slashes."""
    line: int | None
    problem: str

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.problem}"


@dataclass(frozen=True)
class Diagnosis:
    """All that was found in one data set."""

    dataset: str
    release: str
    unit: str
    """What is counted: rooms, scenes or shapes."""
    counts: Mapping[str, int]
    expected: Mapping[str, int]
    findings: tuple[Finding, ...]
    repaired: tuple[str, ...] = ()
    """Files written by ``--repair``, relative to its folder."""

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "dataset": self.dataset,
            "release": self.release,
            "unit": self.unit,
            "counts": dict(self.counts),
            "expected": dict(self.expected),
            "findings": [{"path": one.path, "line": one.line, "problem": one.problem} for one in self.findings],
            "repaired": list(self.repaired),
        }


def compare_counts(counts: Mapping[str, int], expected: Mapping[str, int], unit: str) -> list[Finding]:
    """A finding for every split whose count is not the expected one."""
    differing = [split for split, number in expected.items() if counts.get(split, 0) != number]
    return [Finding(split, None, f"{counts.get(split, 0)} {unit}, expected {expected[split]}") for split in differing]


def examine_sources(dataset: Dataset, root: Path, workers: int | None) -> tuple[dict[str, int], list[Finding]]:
    """Read everything as ``prepare`` would: how much each split holds, and what cannot be read or was mapped."""
    counts: dict[str, int] = {}
    findings: dict[int, list[Finding]] = {}
    units = [unit for source in dataset.sources for unit in source.units()]
    for place, (sizes, found) in map_unordered(partial(_examine_source, root), units, workers):
        findings[place] = found
        for split, size in sizes.items():
            counts[split] = counts.get(split, 0) + size
    return counts, [finding for place in sorted(findings) for finding in findings[place]]


def from_error(error: InputError, root: Path) -> Finding:
    """An error as a finding."""
    match = LINE.fullmatch(error.where)
    place, line = (match["path"], int(match["line"])) if match else (error.where, None)
    shown = Path(place).relative_to(root).as_posix() if Path(place).is_relative_to(root) else place
    return Finding(shown, line, f"expected {error.expected}, found {error.found}")


def from_damage(lost: Damage) -> Finding:
    """A damaged line with its bytes, or a file with what is wrong with it."""
    return Finding(lost.path, lost.line, lost.bytes if lost.line is None else f"damaged: {lost.bytes}")


def from_note(note: str) -> Finding:
    """A note of the form ``path: what was done`` as a finding."""
    path, _, problem = note.partition(": ")
    return Finding(path, None, problem)


def _examine_source(root: Path, source: Source) -> tuple[dict[str, int], list[Finding]]:
    sizes: dict[str, int] = {}
    findings: list[Finding] = []
    try:
        for scene in source.read(True):  # what is damaged is listed to the end, not only up to the first line
            findings += map(from_note, scene.notes)
            findings += map(from_damage, scene.lost)
            if len(scene.content):
                size = len(scene.content) if isinstance(scene.content, Shapes) else 1
                sizes[scene.split] = sizes.get(scene.split, 0) + size
            elif not scene.lost:
                findings.append(Finding(scene.name, None, "no points"))
    except InputError as error:
        findings.append(from_error(error, root))
    return sizes, findings
