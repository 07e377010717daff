"""The memory of this process: how it keeps what it frees, and the most that it ever had."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's <malloc.h>
KEPT = 2**30
LARGEST = 2**27


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
