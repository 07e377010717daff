"""Which scans a person means, and where the labelled ones go."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from point2node.core.errors import InputError
from point2node.core.words import as_text
from point2node.data.files import READABLE
from point2node.data.own_files import split_pattern
from point2node.data.sources import is_hidden

MARK = "_labelled"
LONGEST_STEM = 220
"""Bytes: file systems allow 255 for a name, and up to 32 are added."""


@dataclass(frozen=True)
class Job:
    """One scan to be labelled."""

    scan: Path
    target: Path
    """Where the labelled scan goes, if its format can hold labels."""

    @property
    def name(self) -> str:
        """What the scan is called in files and in what is said."""
        return as_text(self.scan.name)


def find_jobs(words: Iterable[str], out: Path, suffix: str | None = None) -> list[Job]:
    """The scans named by files, folders and patterns, each with the place of its result under ``out``.

    What lies below a folder or pattern keeps its relative path. ``suffix`` is the format of the results, the scan's
    own if not given.
    """
    jobs: list[Job] = []
    for word in words:
        path = Path(word)
        folder, pattern = split_pattern(path)
        if path.is_dir() or pattern != "**/*":
            files = sorted(file for file in folder.glob(pattern) if _is_scan(file))
            if not files:
                raise InputError(word, expected="point clouds", found="no file of a readable format")
        else:
            files, folder = [path], path.parent
        jobs += [Job(file, _target(out / file.relative_to(folder), suffix)) for file in files]
    jobs = _tell_formats_apart(jobs)
    _refuse_clashes(jobs)
    return jobs


def _is_scan(file: Path) -> bool:
    is_result = file.stem.endswith(MARK)  # of an earlier run that wrote into the same folder
    return file.is_file() and file.suffix.lower() in READABLE and not is_hidden(file) and not is_result


def _target(path: Path, suffix: str | None) -> Path:
    return path.with_name(f"{_shortened(path.stem)}{MARK}{suffix or path.suffix}")


def _shortened(stem: str) -> str:
    """A name to which a mark and suffixes can be added; the end of a longer one becomes a checksum of it."""
    name = os.fsencode(stem)
    if len(name) <= LONGEST_STEM:
        return stem
    checksum = hashlib.sha256(name).hexdigest()[:8]
    start = name[: LONGEST_STEM - len(checksum) - 1].decode(errors="ignore")  # whole characters only
    return f"{start}~{checksum}"


def _tell_formats_apart(jobs: list[Job]) -> list[Job]:
    """Jobs in which ``a.las`` and ``a.laz`` become ``a_las_labelled`` and ``a_laz_labelled``."""
    scans: dict[Path, set[Path]] = {}
    for job in jobs:
        scans.setdefault(job.target.with_suffix(""), set()).add(job.scan)
    apart = []
    for job in jobs:
        alike = {scan.with_suffix("") for scan in scans[job.target.with_suffix("")]}
        if len(scans[job.target.with_suffix("")]) > 1 and len(alike) == 1:  # of one folder
            stem = f"{job.target.stem.removesuffix(MARK)}_{job.scan.suffix[1:].lower()}"
            job = replace(job, target=_target(job.target.with_name(stem + job.target.suffix), None))
        apart.append(job)
    return apart


def _refuse_clashes(jobs: list[Job]) -> None:
    """Two scans must not become one file, nor files that differ in nothing but a suffix that both may lose."""
    taken: dict[Path, Path] = {}
    for job in jobs:
        key = job.target.with_suffix("")
        if key in taken and taken[key] != job.scan:
            raise InputError(
                job.scan,
                expected="scans whose results have names of their own",
                found=f"the same name as {taken[key]}",
                remedy="Label them into different --out folders.",
            )
        taken[key] = job.scan
