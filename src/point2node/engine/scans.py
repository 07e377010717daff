"""Which scans a person means, and where the labelled ones go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from point2node.core.errors import InputError
from point2node.data.files import READABLE
from point2node.data.own_files import split_pattern
from point2node.data.sources import is_hidden

MARK = "_labelled"


@dataclass(frozen=True)
class Job:
    """One scan to be labelled."""

    scan: Path
    target: Path
    """Where the labelled scan goes, if its format can hold labels."""


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
    _refuse_clashes(jobs)
    return jobs


def _is_scan(file: Path) -> bool:
    is_result = file.stem.endswith(MARK)  # of an earlier run that wrote into the same folder
    return file.is_file() and file.suffix.lower() in READABLE and not is_hidden(file) and not is_result


def _target(path: Path, suffix: str | None) -> Path:
    return path.with_name(f"{path.stem}{MARK}{suffix or path.suffix}")


def _refuse_clashes(jobs: list[Job]) -> None:
    """Two scans must not become one file, nor differ in nothing but a suffix that both may lose."""
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
