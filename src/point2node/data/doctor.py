"""Checks of a copy of a data set: findings with their places, counts, and corrected copies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from point2node.core.errors import InputError
from point2node.core.writing import replacing
from point2node.data.modelnet import find_modelnet
from point2node.data.number_lines import XYZ_RGB, parse_lines, read_bytes, repair_file, show_bytes
from point2node.data.parallel import map_unordered
from point2node.data.s3dis import find_base, find_rooms, find_s3dis, object_class
from point2node.data.scannet import find_scannet, find_scene_folders, read_splits
from point2node.data.sources import Damage, Dataset, Shapes, Source, relative_name, visible_files

LINE = re.compile(r"(?P<path>.*), line (?P<line>\d+)")


@dataclass(frozen=True)
class Finding:
    """One problem in a data set."""

    path: str
    """Relative to the root, with forward slashes."""
    line: int | None
    problem: str

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.problem}"


@dataclass(frozen=True)
class Diagnosis:
    """The result of checking one data set."""

    dataset: str
    release: str
    unit: str
    """What the counts are of: rooms, scenes or shapes."""
    counts: Mapping[str, int]
    expected: Mapping[str, int]
    findings: tuple[Finding, ...]
    repaired: tuple[str, ...] = ()
    """Files written by ``--repair``, relative to its folder."""

    def as_dict(self) -> dict[str, Any]:
        """Convert to a dict for ``--json``."""
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
    """Return a finding for every split with an unexpected count."""
    differing = [split for split, number in expected.items() if counts.get(split, 0) != number]
    return [Finding(split, None, f"{counts.get(split, 0)} {unit}, expected {expected[split]}") for split in differing]


def examine_sources(dataset: Dataset, root: Path, workers: int | None) -> tuple[dict[str, int], list[Finding]]:
    """Read everything as ``prepare`` would; returns counts by split, and findings of what is damaged or mapped."""
    counts: dict[str, int] = {}
    findings: dict[int, list[Finding]] = {}
    units = [unit for source in dataset.sources for unit in source.units()]
    for place, (sizes, found) in map_unordered(partial(_examine_source, root), units, workers):
        findings[place] = found
        for split, size in sizes.items():
            counts[split] = counts.get(split, 0) + size
    return counts, [finding for place in sorted(findings) for finding in findings[place]]


def from_error(error: InputError, root: Path) -> Finding:
    """Convert an error to a finding."""
    match = LINE.fullmatch(error.where)
    place, line = (match["path"], int(match["line"])) if match else (error.where, None)
    shown = Path(place).relative_to(root).as_posix() if Path(place).is_relative_to(root) else place
    return Finding(shown, line, f"expected {error.expected}, found {error.found}")


def from_damage(lost: Damage) -> Finding:
    """Convert a damaged line or file to a finding."""
    return Finding(lost.path, lost.line, lost.bytes if lost.line is None else f"damaged: {lost.bytes}")


def from_note(note: str) -> Finding:
    """Convert a note of the form ``path: what was done`` to a finding."""
    path, _, problem = note.partition(": ")
    return Finding(path, None, problem)


def _examine_source(root: Path, source: Source) -> tuple[dict[str, int], list[Finding]]:
    sizes: dict[str, int] = {}
    findings: list[Finding] = []
    try:
        for scene in source.read(True):  # lists all damage, not only the first line
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


ROOMS = {"Area_1": 44, "Area_2": 40, "Area_3": 23, "Area_4": 49, "Area_5": 68, "Area_6": 48}


def examine_s3dis(root: Path, repair: Path | None = None, *, workers: int | None = None) -> Diagnosis:
    """Check S3DIS: which release it is, what is missing, and every damaged line."""
    dataset = find_s3dis(root)
    findings: list[Finding] = []
    repaired: list[str] = []
    if dataset.release.startswith("raw"):
        rooms = find_rooms(find_base(root))
        counts: dict[str, int] = Counter(room.parent.name for room in rooms)
        results = dict(map_unordered(partial(_examine_room, root, repair), rooms, workers))
        for place in range(len(rooms)):
            findings += results[place][0]
            repaired += results[place][1]
    else:
        counts, findings = examine_sources(dataset, root, workers)
        findings += map(from_note, dataset.notes)
    findings += compare_counts(counts, ROOMS, "rooms")
    return Diagnosis("s3dis", dataset.release, "rooms", dict(counts), ROOMS, tuple(findings), tuple(repaired))


def _examine_room(root: Path, repair: Path | None, room: Path) -> tuple[list[Finding], list[str]]:
    annotations = room / "Annotations"
    files = visible_files(annotations) if annotations.is_dir() else []
    texts = [file for file in files if file.suffix.lower() == ".txt"]
    findings = [finding for file in files for finding in _examine_name(file, root)]
    if not texts:
        findings.append(Finding(relative_name(annotations, root), None, "empty room: no <class>_<number>.txt"))
    room_file, name_findings = _find_room_file(room, root)
    findings += name_findings
    repaired = []
    for file in (*texts, *([room_file] if room_file else ())):
        found, was_repaired = _examine_lines(file, root, repair)
        findings += found
        repaired += [relative_name(file, root)] if was_repaired else []
    return findings, repaired


def _examine_name(file: Path, root: Path) -> list[Finding]:
    known = object_class(file)
    shown = relative_name(file, root)
    if known is None:
        return [Finding(shown, None, "wrong name: expected <class>_<number>.txt; left out")]
    return (
        []
        if known[1]
        else [Finding(shown, None, f"unknown class {file.name.rpartition('_')[0]!r}, counted as clutter")]
    )


def _find_room_file(room: Path, root: Path) -> tuple[Path | None, list[Finding]]:
    """Find the text file of the whole room, under any name; ``prepare`` does not need it."""
    texts = [file for file in visible_files(room) if file.suffix.lower() == ".txt"]
    expected = room / f"{room.name}.txt"
    if expected in texts:
        return expected, []
    if not texts:
        return None, [Finding(relative_name(expected, root), None, "missing file")]
    return texts[0], [Finding(relative_name(texts[0], root), None, f"wrong name: expected {expected.name}")]


def _examine_lines(file: Path, root: Path, repair: Path | None) -> tuple[list[Finding], bool]:
    """Return a finding for every damaged line of a file, and whether a corrected copy was written."""
    shown = relative_name(file, root)
    try:
        data = read_bytes(file)
    except InputError as error:
        return [from_error(error, root)], False
    rows, damaged = parse_lines(data, XYZ_RGB)
    if not damaged:
        return ([] if len(rows) else [Finding(shown, None, "no points")]), False
    corrected, new_lines = repair_file(data, XYZ_RGB)
    findings = []
    for number, line in damaged.items():
        text = new_lines[number]
        outcome = f"repairable as {show_bytes(text)}" if text is not None else "not repairable without guessing"
        found = f"expected {XYZ_RGB.expected}, found {show_bytes(line)}; {outcome}"
        findings.append(Finding(shown, number, found))
    if repair is None or corrected == data:
        return findings, False
    copy = repair / file.relative_to(root)
    copy.parent.mkdir(parents=True, exist_ok=True)
    with replacing(copy) as stream:
        stream.write(corrected)
    return findings, True


SCENES = {"train": 1201, "test": 312}


def examine_scannet(root: Path, *, workers: int | None = None) -> Diagnosis:
    """Check ScanNet: which release it is, what is missing, and every unreadable scene."""
    dataset = find_scannet(root)
    counts, findings = examine_sources(dataset, root, workers)
    findings += map(from_note, dataset.notes)
    splits = read_splits(root)
    present = {folder.name for folder in find_scene_folders(root)}
    if present:
        findings += [Finding(name, None, "missing scene") for name in sorted(splits) if name not in present]
    expected = {"all": sum(SCENES.values())} if present and not splits else SCENES
    findings += compare_counts(counts, expected, "scenes")
    return Diagnosis("scannet", dataset.release, "scenes", counts, expected, tuple(findings))


SHAPES = {40: {"train": 9843, "test": 2468}, 10: {"train": 3991, "test": 908}}  # by the number of classes
H5_TRAIN = 9840  # the h5 release of ModelNet40 has three shapes fewer than the meshes


def examine_modelnet(root: Path, *, workers: int | None = None) -> Diagnosis:
    """Check ModelNet: which release it is, what is missing, and every unreadable file."""
    dataset = find_modelnet(root)
    counts, findings = examine_sources(dataset, root, workers)
    findings += map(from_note, dataset.notes)
    expected = SHAPES.get(len(dataset.classes), {})
    differing = compare_counts(counts, expected, "shapes")
    if dataset.release.startswith("h5") and counts.get("train") == H5_TRAIN:
        differing = [finding for finding in differing if finding.path != "train"]
    if not expected:
        differing.append(Finding("classes", None, f"{len(dataset.classes)} classes, expected 10 or 40"))
    up = dataset.settings["up"]
    release = f"{dataset.release}, {len(dataset.classes)} classes, {up} up"
    return Diagnosis("modelnet", release, "shapes", counts, expected, (*findings, *differing))
