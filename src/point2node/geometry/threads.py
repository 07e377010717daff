"""One thread count for the numba kernels and for torch."""

from __future__ import annotations

import numba
import torch


def match_torch_threads() -> None:
    """Let numba's parallel loops use as many threads as torch does; call it before a parallel kernel."""
    available: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set when numba is imported
    numba.set_num_threads(min(torch.get_num_threads(), available))
