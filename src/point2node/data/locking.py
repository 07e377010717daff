"""One process at a time in a store that is being written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from point2node.core.errors import InputError

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where folders cannot be locked: two writers there are not noticed
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone_in(folder: Path, *, wait: bool) -> Iterator[None]:
    """Make ``folder`` and lock it; while another process has it, wait or refuse. A killed process loses its lock."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        raise InputError(folder, expected="a folder that can be made", found=found) from error
    if fcntl is None:
        yield
        return
    lock = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise InputError(
                folder,
                expected="a store that nothing else writes to",
                found="another 'point2node prepare' at work in it",
                remedy="Wait until it has finished, or choose another --out.",
            ) from error
        yield
    finally:
        os.close(lock)
