"""Atomic writing: a file is either completely new or unchanged."""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from point2node.core.errors import InputError

try:
    import fcntl
except ModuleNotFoundError:  # Windows cannot lock folders: two writers are not detected there
    fcntl = None  # type: ignore[assignment]

TEMPORARY = ".point2node-"
"""Prefix of the names of unfinished files."""
SURELY_ABANDONED = 86_400.0
"""Seconds since the last change after which a file counts as abandoned; used only without locks."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file next to ``path``, renamed to it at the end and removed on any failure."""
    try:
        temporary, stream = _open_locked(path)
        try:
            with stream:
                yield stream
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(path, expected="a file that can be written", found=reason(error)) from error


def remove_abandoned(folder: Path) -> None:
    """Remove unfinished files of killed processes from a folder; files of running ones are locked and stay."""
    for path in folder.glob(f"{TEMPORARY}*"):
        with suppress(OSError), path.open("rb+") as stream:  # it may be finished by now, or belong to another user
            old = time.time() - os.fstat(stream.fileno()).st_mtime > SURELY_ABANDONED
            if lock(stream) or old:
                path.unlink()


def _open_locked(path: Path) -> tuple[Path, BinaryIO]:
    """Open a new temporary file next to ``path``, locked until it is closed or the process dies."""
    while True:
        temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(6)}{path.suffix}")
        stream = temporary.open("xb+")
        lock(stream)
        if temporary.exists():  # not removed before it was locked
            return temporary, stream
        stream.close()


def lock(stream: BinaryIO) -> bool:
    """Lock a file; False if another process has the lock, or without locks (Windows, some network drives)."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def check_writable(path: Path) -> None:
    """Raise InputError, before hours of work, if a file's folder does not exist or is not writable."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(path, expected="a file in a folder that is there", found="no such folder")
    if not os.access(folder, os.W_OK):
        raise InputError(path, expected="a file that can be written", found="permission denied")


def reason(error: OSError) -> str:
    """Return the operating system's message."""
    return (error.strerror or str(error)).lower()


@contextmanager
def refusals_named(place: Path) -> Iterator[None]:
    """Convert OSErrors to InputErrors that name the file, or ``place`` if the error does not."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of our output is gone
    except OSError as error:
        where = str(error.filename or place)
        found = (error.strerror or str(error)).lower()
        raise InputError(where, expected="a place that can be read and written", found=found) from error


@contextmanager
def alone_in(folder: Path, *, wait: bool, command: str = "prepare") -> Iterator[None]:
    """Make and lock ``folder``; if another ``command`` has the lock, wait or raise InputError. A kill releases it."""
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
                raise  # some network file systems have no locks: two writers are not detected there
        yield
    finally:
        os.close(lock)
