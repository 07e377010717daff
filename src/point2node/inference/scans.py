"""Find the scans that the user names, and the paths of their results."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from point2node.core.errors import InputError
from point2node.core.words import as_text
from point2node.data.own_files import split_pattern
from point2node.data.remote import WILD, Place, RemotePath, place_of
from point2node.data.sources import is_hidden
from point2node.formats import READABLE

MARK = "_labelled"
LONGEST_STEM = 220
"""Bytes: file systems allow names of 255, and up to 32 are added."""


@dataclass(frozen=True)
class Job:
    """One scan to label."""

    scan: Place
    target: Place
    """The path of the labelled scan, if its format can hold labels."""

    @property
    def name(self) -> str:
        """The name of the scan in files and messages."""
        return as_text(self.scan.name)

    @property
    def is_local(self) -> bool:
        """Whether both files are on a local or mounted disk."""
        return isinstance(self.scan, Path) and isinstance(self.target, Path)


def find_jobs(words: Iterable[str], out: Place, suffix: str | None = None) -> list[Job]:
    """Find the scans named by files, folders and patterns, each with the path of its result under ``out``.

    Files below a folder or pattern keep their relative paths. ``suffix`` is the format of the results, by default that
    of the scan.
    """
    jobs: list[Job] = []
    for word in words:
        folder, files = _find_scans(word)
        for file in files:
            relative = file.relative_to(folder).as_posix()  # type: ignore[arg-type]  # both are local, or neither
            jobs.append(Job(file, _target(out / relative, suffix)))
    jobs = _separate_formats(jobs)
    _check_clashes(jobs)
    return jobs


def find_local_scans(words: Iterable[str]) -> tuple[Path, ...]:
    """Find the scans named by files, folders and patterns on this machine."""
    scans = []
    for job in find_jobs(words, Path()):
        if not isinstance(job.scan, Path):
            raise InputError(job.scan, expected="a local file", found="a URL", remedy="Copy it here first.")
        scans.append(job.scan)
    return tuple(scans)


def _find_scans(word: str) -> tuple[Place, Sequence[Place]]:
    """Return the folder and the scans that a word names; a scan named by its path need not exist."""
    place = place_of(word)
    folder: Place
    files: Sequence[Place]
    if isinstance(place, RemotePath):
        if place.suffix.lower() in READABLE and not WILD & set(place.name):
            return place.parent, [place]  # asking whether it is a folder makes a web server send the whole file
        folder, found = place.find()
        files = [file for file in found if _is_named_as_scan(file)]
    else:
        folder, pattern = split_pattern(place)
        if not place.is_dir() and pattern == "**/*":
            return place.parent, [place]
        files = sorted(file for file in folder.glob(pattern) if _is_named_as_scan(file) and file.is_file())
    if not files:
        raise InputError(place, expected="point clouds", found="no file of a readable format")
    return folder, files


def _is_named_as_scan(file: Place) -> bool:
    is_result = file.stem.endswith(MARK)  # of an earlier run that wrote into the same folder
    return file.suffix.lower() in READABLE and not is_hidden(file) and not is_result


def _target(path: Place, suffix: str | None) -> Place:
    return path.with_name(f"{_shortened(path.stem)}{MARK}{suffix or path.suffix}")


def _shortened(stem: str) -> str:
    """Shorten a name so that suffixes can be added; the end of a long one is replaced by its checksum."""
    name = os.fsencode(stem)
    if len(name) <= LONGEST_STEM:
        return stem
    checksum = hashlib.sha256(name).hexdigest()[:8]
    start = name[: LONGEST_STEM - len(checksum) - 1].decode(errors="ignore")  # whole characters only
    return f"{start}~{checksum}"


def _separate_formats(jobs: list[Job]) -> list[Job]:
    """Rename targets so that ``a.las`` and ``a.laz`` become ``a_las_labelled`` and ``a_laz_labelled``."""
    scans: dict[Place, set[Place]] = {}
    for job in jobs:
        scans.setdefault(job.target.with_suffix(""), set()).add(job.scan)
    apart = []
    for job in jobs:
        alike = {scan.with_suffix("") for scan in scans[job.target.with_suffix("")]}
        if len(scans[job.target.with_suffix("")]) > 1 and len(alike) == 1:  # in the same folder
            stem = f"{job.target.stem.removesuffix(MARK)}_{job.scan.suffix[1:].lower()}"
            job = replace(job, target=_target(job.target.with_name(stem + job.target.suffix), None))
        apart.append(job)
    return apart


def _check_clashes(jobs: list[Job]) -> None:
    """Raise InputError if two results have the same name, or names that only differ in a suffix that may change."""
    taken: dict[Place, Place] = {}
    for job in jobs:
        key = job.target.with_suffix("")
        if key in taken and taken[key] != job.scan:
            raise InputError(
                job.scan,
                expected="scans with different names for their results",
                found=f"the same name as {taken[key]}",
                remedy="Label them into different --out folders.",
            )
        taken[key] = job.scan


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of the scans, for array jobs that do not communicate."""

    number: int
    """From 1."""
    count: int

    def take(self, jobs: Sequence[Job]) -> list[Job]:
        """Return every ``count``-th job."""
        return list(jobs[self.number - 1 :: self.count])


def read_shard(text: str, environment: Mapping[str, str] = os.environ) -> Shard:
    """Parse a shard such as ``3/8``; ``auto`` and ``auto/8`` take the number from the current array job."""
    number_text, slash, count_text = text.partition("/")
    if number_text == "auto":
        number_text, count_here = _place_in_array(environment)
        count_text = count_text if slash else count_here
    if not (number_text.isdecimal() and count_text.isdecimal() and 1 <= int(number_text) <= int(count_text)):
        expected = "a part and the number of parts, such as 1/8 to 8/8, auto or auto/8"
        raise InputError("--shard", expected=expected, found=f"{text} ({number_text}/{count_text})")
    return Shard(int(number_text), int(count_text))


def _place_in_array(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the number of this array job, from 1, and the number of array jobs, "" if unknown."""
    try:
        if "SLURM_ARRAY_TASK_ID" in environment:
            first = int(environment.get("SLURM_ARRAY_TASK_MIN", "0"))
            step = int(environment.get("SLURM_ARRAY_TASK_STEP", "1"))
            place = (int(environment["SLURM_ARRAY_TASK_ID"]) - first) // step
            return str(place + 1), environment.get("SLURM_ARRAY_TASK_COUNT", "")
        return str(int(environment["JOB_COMPLETION_INDEX"]) + 1), ""
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise InputError(
            "--shard",
            expected="SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX in the environment, for auto",
            found=str(error),
            remedy="Give the part: --shard 1/8.",
        ) from error
