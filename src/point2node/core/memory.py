"""The memory of this process: what it may take, how it keeps what it frees, and the most that it ever had."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import psutil

from point2node.core.errors import InputError

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's <malloc.h>
KEPT = 2**30
LARGEST = 2**27
FREE_SHARE = 0.6
CONTAINER = Path("/sys/fs/cgroup")
"""Where Linux tells a process in a container what it may use."""
COPIES = 2
"""Of what a file holds, while it becomes a point cloud."""

_limit: ContextVar[int | None] = ContextVar("limit", default=None)


@contextmanager
def memory_limited(limit: int | None) -> Iterator[None]:
    """Inside, the process may hold ``limit`` bytes, or fewer if an outer limit says so; None changes nothing."""
    token = _limit.set(_tighter(limit, _limit.get()))
    try:
        yield
    finally:
        _limit.reset(token)


def check_unpacked(where: str | Path, size: int) -> None:
    """Refuse to unpack ``size`` bytes that there is no memory for: a few compressed ones can stand for very many."""
    limit = memory_limit()
    if held_memory() + COPIES * size > limit:
        raise InputError(
            where,
            expected=f"a file that fits into {in_gigabytes(limit)} of memory",
            found=f"{in_gigabytes(size)} when unpacked",
            remedy="Allow more with --memory, or cut it into parts.",
        )


def memory_limit(limit: int | None = None) -> int:
    """Bytes that the whole process may hold: ``limit`` or that of ``memory_limited``, whichever is smaller.

    Without either, what it holds plus 60 % of what is free.
    """
    tightest = _tighter(limit, _limit.get())
    return held_memory() + int(FREE_SHARE * free_memory()) if tightest is None else tightest


def _tighter(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether there was no memory to be had; torch raises a RuntimeError that says so."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error).lower()
    )


def held_memory() -> int:
    """Bytes that this process holds."""
    return int(psutil.Process().memory_info().rss)


def free_memory(container: Path = CONTAINER) -> int:
    """Bytes that can still be taken: of the machine, or of the container that we are in, whichever has fewer."""
    free = psutil.virtual_memory().available
    try:
        allowed = int((container / "memory.max").read_text(encoding="ascii"))  # "max": as much as the machine has
        used = int((container / "memory.current").read_text(encoding="ascii"))
        counted = dict(line.split() for line in (container / "memory.stat").read_text(encoding="ascii").splitlines())
        idle = int(counted["inactive_file"])  # files kept in memory until something else needs it
    except (OSError, ValueError, KeyError):  # no container, or one without a limit
        return free
    return min(free, max(0, allowed - used + idle))


def in_gigabytes(size: int) -> str:
    """A size as people read it."""
    return f"{size / 1e9:.1f} GB"


def keep_freed_memory() -> None:
    """Let freed arrays of up to 128 MB stay with the process, for the next array of that size; 1 GB at most.

    glibc gives them back to Linux at once, which hands out other pages, filled with zeros, a moment later, again and
    again for the temporary tensors of a training step. Without glibc nothing changes.
    It is for programs, not for importing: the whole process is meant.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # musl, another C library, has none
        mallopt(M_MMAP_THRESHOLD, LARGEST)
        mallopt(M_TRIM_THRESHOLD, KEPT)


def own_peak_megabytes() -> float | None:
    """The peak of this process from Linux's own record, elsewhere None: ``ru_maxrss`` begins at its parent's peak."""
    status = Path("/proc/self/status")
    words = status.read_text().partition("VmHWM:")[2].split() if status.is_file() else []
    return int(words[0]) * 1024 / 1e6 if words else None  # Linux counts in KiB
