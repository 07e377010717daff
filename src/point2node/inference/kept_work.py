"""Keep work on one scan on disk until the scan is done, so that the same command resumes after a kill."""

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
"""Describes what the work in a folder belongs to."""
CHECKSUM = hashlib.sha256().digest_size
"""Bytes of the checksum at the start of every other file; consecutive arrays as in NPY files follow."""


class KeptWork:
    """Finished parts of the work on a scan, in a folder that no other process writes to.

    Args:
        folder: the folder of the parts.
        name: the name of the scan.
        say: called with messages about resumed and damaged parts.
    """

    def __init__(self, folder: Path, name: str, say: Callable[[str], None]) -> None:
        self._folder, self._name, self._say = folder, name, say

    def save(self, part: str, arrays: Sequence[Array]) -> None:
        """Save the arrays of a finished part."""
        with replacing(self._folder / part) as stream:
            stream.write(bytes(CHECKSUM))
            for array in arrays:
                np.save(stream, array, allow_pickle=False)
            stream.seek(CHECKSUM)
            checksum = hashlib.file_digest(stream, "sha256").digest()  # type: ignore[arg-type]  # it is a buffered file
            stream.seek(0)
            stream.write(checksum)

    def load(self, part: str) -> list[Array] | None:
        """Load the arrays of a part; None if it is missing, or if it is damaged, which is reported."""
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

    def report_resumed(self, where: str) -> None:
        """Report where work resumes."""
        self._say(f"{self._name}: resumes {where}")


class KeptStrips:
    """The probabilities of a scan's strips; those that were kept are not computed again.

    Args:
        kept: the store for them; None to keep nothing.
        count: the number of strips.
    """

    def __init__(self, kept: KeptWork | None, count: int) -> None:
        self._kept, self._count, self._before = kept, count, 0

    def get(
        self, number: int, points: NDArray[np.int64], compute: Callable[[], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        """Return the probabilities of a strip, counted from 1, with these points inside it."""
        if self._kept is None:
            return compute()
        part = f"strip_{number}_of_{self._count}"
        found = self._kept.load(part)
        if found is not None and np.array_equal(found[0], points):
            self._before += 1
            if self._before == self._count:
                self._kept.report_resumed("when all strips are labelled")
            return found[1]
        if self._before:
            self._kept.report_resumed(f"at strip {number} of {self._count}")
            self._before = 0
        probabilities = compute()
        self._kept.save(part, [points, probabilities])
        return probabilities


@contextmanager
def kept_work(target: Path, what: dict[str, Any], name: str, say: Callable[[str], None]) -> Iterator[KeptWork]:
    """Open the finished parts of the work on ``target``; parts of work other than ``what``, a JSON object, are removed.

    All parts are removed at the end. After an error or a kill they stay for the next run.
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
    """Remove what a killed process kept of work that has been finished in another way."""
    folder = _folder_of(target)
    if folder.is_dir():
        with suppress(InputError), alone_in(folder, wait=False), refusals_named(folder):  # or it is in use
            shutil.rmtree(folder)


def _folder_of(target: Path) -> Path:
    return target.with_name(f"{TEMPORARY}{target.name}")


def _read(path: Path) -> object:
    try:
        return parse_json(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
