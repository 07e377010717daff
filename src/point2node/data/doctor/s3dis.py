"""The state of a copy of S3DIS, line by line, and corrected copies of what can be repaired."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

from point2node.core.errors import InputError
from point2node.core.writing import replacing
from point2node.data.doctor.findings import Diagnosis, Finding, compare_counts, examine_sources, from_error, from_note
from point2node.data.number_lines import XYZ_RGB, parse_lines, read_bytes, show_bytes
from point2node.data.parallel import map_unordered
from point2node.data.repairs import repair_file
from point2node.data.s3dis import find_base, find_rooms, find_s3dis
from point2node.data.s3dis_rooms import object_class
from point2node.data.sources import relative_name, visible_files

ROOMS = {"Area_1": 44, "Area_2": 40, "Area_3": 23, "Area_4": 49, "Area_5": 68, "Area_6": 48}


def examine_s3dis(root: Path, repair: Path | None = None, *, workers: int | None = None) -> Diagnosis:
    """Which release it is, what is missing, and every line that is damaged."""
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
    """The text of the whole room, which ``prepare`` does not need, whatever it is called."""
    texts = [file for file in visible_files(room) if file.suffix.lower() == ".txt"]
    expected = room / f"{room.name}.txt"
    if expected in texts:
        return expected, []
    if not texts:
        return None, [Finding(relative_name(expected, root), None, "missing file")]
    return texts[0], [Finding(relative_name(texts[0], root), None, f"wrong name: expected {expected.name}")]


def _examine_lines(file: Path, root: Path, repair: Path | None) -> tuple[list[Finding], bool]:
    """Every damaged line of a file; True if a corrected copy was written."""
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
