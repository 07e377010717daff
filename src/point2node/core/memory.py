"""The memory of this process: its limit, its peak, and whether freed memory is kept."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import psutil

from point2node.core.errors import InputError

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # from glibc's <malloc.h>
KEPT = 2**30
LARGEST = 2**27
FREE_SHARE = 0.6
CONTAINER = Path("/sys/fs/cgroup")
"""Where Linux shows a process in a container its limits."""
COPIES = 2
"""Copies of a file's content in memory while it becomes a point cloud."""

_limit: ContextVar[int | None] = ContextVar("limit", default=None)


@contextmanager
def memory_limited(limit: int | None) -> Iterator[None]:
    """Limit the process to ``limit`` bytes in this context, or to a smaller outer limit; None changes nothing."""
    token = _limit.set(_tighter(limit, _limit.get()))
    try:
        yield
    finally:
        _limit.reset(token)


def check_unpacked(where: str | Path, size: int) -> None:
    """Raise InputError if there is no memory to unpack ``size`` bytes: small compressed files can expand a lot."""
    limit = memory_limit()
    if held_memory() + COPIES * size > limit:
        raise InputError(
            where,
            expected=f"a file that fits into {in_gigabytes(limit)} of memory",
            found=f"{in_gigabytes(size)} when unpacked",
            remedy="Allow more with --memory, or cut it into parts.",
        )


def memory_limit(limit: int | None = None) -> int:
    """Return the limit of the process in bytes: the smaller of ``limit`` and that of ``memory_limited``.

    Without either: the memory in use plus 60 % of free memory.
    """
    tightest = _tighter(limit, _limit.get())
    return held_memory() + int(FREE_SHARE * free_memory()) if tightest is None else tightest


def _tighter(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def ran_out_of_memory(error: BaseException) -> bool:
    """Return whether an allocation failed; torch raises a RuntimeError for that."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error).lower()
    )


def held_memory() -> int:
    """Return the bytes that this process uses."""
    return int(psutil.Process().memory_info().rss)


def free_memory(container: Path = CONTAINER) -> int:
    """Return the free bytes of the machine, or of the container if that has fewer."""
    free = psutil.virtual_memory().available
    try:
        allowed = int((container / "memory.max").read_text(encoding="ascii"))  # "max" means no limit
        used = int((container / "memory.current").read_text(encoding="ascii"))
        counted = dict(line.split() for line in (container / "memory.stat").read_text(encoding="ascii").splitlines())
        idle = int(counted["inactive_file"])  # cached files, which can be evicted
    except (OSError, ValueError, KeyError):  # not in a container, or no limit
        return free
    return min(free, max(0, allowed - used + idle))


def in_gigabytes(size: int) -> str:
    """Format a size."""
    return f"{size / 1e9:.1f} GB"


def keep_freed_memory() -> None:
    """Keep freed arrays of up to 128 MB in the process for reuse, 1 GB at most.

    By default glibc returns them to Linux at once, and then gets other pages filled with zeros, again and again for
    the temporary tensors of a training step. Without glibc, nothing changes.
    It affects the whole process, so programs call it, never an import.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # missing in musl, another C library
        mallopt(M_MMAP_THRESHOLD, LARGEST)
        mallopt(M_TRIM_THRESHOLD, KEPT)


def own_peak_megabytes() -> float | None:
    """Return the peak from Linux's own record, None elsewhere: ``ru_maxrss`` starts at the parent's peak."""
    status = Path("/proc/self/status")
    words = status.read_text().partition("VmHWM:")[2].split() if status.is_file() else []
    return int(words[0]) * 1024 / 1e6 if words else None  # Linux counts in KiB
