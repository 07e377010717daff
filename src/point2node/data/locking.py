"""One process at a time in a store, or a run folder, that is being written."""

from __future__ import annotations

import errno
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
def alone_in(folder: Path, *, wait: bool, command: str = "prepare") -> Iterator[None]:
    """Make ``folder`` and lock it; while another ``command`` has it, wait or refuse. A killed process loses it."""
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
                expected="a folder that nothing else writes to",
                found=f"another 'point2node {command}' at work in it",
                remedy="Wait until it has finished, or choose another --out.",
            ) from error
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):
                raise  # some network file systems have no locks: two writers there are not noticed
        yield
    finally:
        os.close(lock)
