"""One thread count for the numba kernels and for torch, and whether several threads may call kernels."""

from __future__ import annotations

import numba
import torch

SAFE_LAYERS = ("omp", "tbb")
"""numba's thread pools that several threads may use at a time; its own, "workqueue", ends the process if they do."""


def match_torch_threads() -> None:
    """Let numba's parallel loops use as many threads as torch does; call it before a parallel kernel."""
    available: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set when numba is imported
    wanted = torch.get_num_threads()
    numba.set_num_threads(min(wanted, available))
    if torch.get_num_threads() != wanted:  # numba's first call starts its threads and sets OpenMP's count for all
        torch.set_num_threads(wanted)


def kernels_bear_threads() -> bool:
    """Whether several threads may run parallel kernels at a time; known once one has run, so that is when to ask."""
    try:
        return numba.threading_layer() in SAFE_LAYERS  # type: ignore[attr-defined]
    except ValueError:  # none has
        return True
