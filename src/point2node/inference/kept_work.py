"""Work on one scan that is kept on disk until the scan is done, so that the same command resumes after a kill."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.point_cloud import Array
from point2node.core.writing import TEMPORARY, alone_in, refusals_named, remove_abandoned, replacing

WHAT = "what.json"
"""Says what the work in a folder is for."""
CHECKSUM = hashlib.sha256().digest_size
"""Bytes at the start of every other file, of all that follows: arrays as in NPY files, one behind the other."""


class KeptWork:
    """Finished parts of the work on a scan, in a folder that nobody else writes to.

    Args:
        folder: where they are.
        name: of the scan.
        say: takes lines about what is found there.
    """

    def __init__(self, folder: Path, name: str, say: Callable[[str], None]) -> None:
        self._folder, self._name, self._say = folder, name, say

    def save(self, part: str, arrays: Sequence[Array]) -> None:
        """Keep the arrays that are a finished part."""
        with replacing(self._folder / part) as stream:
            stream.write(bytes(CHECKSUM))
            for array in arrays:
                np.save(stream, array, allow_pickle=False)
            stream.seek(CHECKSUM)
            checksum = hashlib.file_digest(stream, "sha256").digest()  # type: ignore[arg-type]  # it is a buffered file
            stream.seek(0)
            stream.write(checksum)

    def load(self, part: str) -> list[Array] | None:
        """The arrays of a part; None where it is not there, or damaged, which is said."""
        path, arrays = self._folder / part, []
        if not path.exists():
            return None
        with path.open("rb") as stream:
            checksum = stream.read(CHECKSUM)
            if hashlib.file_digest(stream, "sha256").digest() != checksum:
                self._say(f"note: {path}: damaged: this part of the work is done again")
                return None
            end = stream.tell()
            stream.seek(CHECKSUM)
            while stream.tell() < end:
                arrays.append(np.load(stream, allow_pickle=False))
        return arrays

    def say_resumed(self, where: str) -> None:
        """Tell from where on there is work to do."""
        self._say(f"{self._name}: resumes {where}")


class KeptStrips:
    """The probabilities of a scan's strips; those that are kept need not be computed.

    Args:
        kept: where they are kept; None for nowhere.
        count: how many strips there are.
    """

    def __init__(self, kept: KeptWork | None, count: int) -> None:
        self._kept, self._count, self._before = kept, count, 0

    def get(
        self, number: int, points: NDArray[np.int64], compute: Callable[[], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        """The probabilities of a strip, counted from 1, whose own points have these numbers."""
        if self._kept is None:
            return compute()
        part = f"strip_{number}_of_{self._count}"
        found = self._kept.load(part)
        if found is not None and np.array_equal(found[0], points):
            self._before += 1
            if self._before == self._count:
                self._kept.say_resumed("when all strips are labelled")
            return found[1]
        if self._before:
            self._kept.say_resumed(f"at strip {number} of {self._count}")
            self._before = 0
        probabilities = compute()
        self._kept.save(part, [points, probabilities])
        return probabilities


@contextmanager
def kept_work(target: Path, what: dict[str, Any], name: str, say: Callable[[str], None]) -> Iterator[KeptWork]:
    """The finished parts of the work on ``target``; what is there of other work than ``what``, a JSON object, goes.

    All are removed at the end. After an error or a kill they stay for the next run.
    """
    folder = _folder_of(target)
    with alone_in(folder, wait=False, command="predict"):
        with refusals_named(folder):
            remove_abandoned(folder)
            if _read(folder / WHAT) != what:
                for path in folder.iterdir():
                    path.unlink()
                with replacing(folder / WHAT) as stream:
                    stream.write(json.dumps(what).encode())
        try:
            yield KeptWork(folder, name, say)
        except BaseException:
            if [path.name for path in folder.iterdir()] == [WHAT]:  # nothing is finished
                shutil.rmtree(folder)
            raise
        with refusals_named(folder):
            shutil.rmtree(folder)


def remove_kept_work(target: Path) -> None:
    """Remove what a killed process kept of work that was finished otherwise."""
    folder = _folder_of(target)
    if folder.is_dir():
        with suppress(InputError), alone_in(folder, wait=False), refusals_named(folder):  # or somebody is at work there
            shutil.rmtree(folder)


def _folder_of(target: Path) -> Path:
    return target.with_name(f"{TEMPORARY}{target.name}")


def _read(path: Path) -> object:
    try:
        return parse_json(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
