"""One thread count for the numba kernels and for torch."""

from __future__ import annotations

import numba
import torch


def match_torch_threads() -> None:
    """Let numba's parallel loops use as many threads as torch does; call it before a parallel kernel."""
    available: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set when numba is imported
    wanted = torch.get_num_threads()
    numba.set_num_threads(min(wanted, available))
    if torch.get_num_threads() != wanted:  # numba's first call starts its threads and sets OpenMP's count for all
        torch.set_num_threads(wanted)
