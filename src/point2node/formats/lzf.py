"""LZF, the compression in PCD files: every read and write of the decoder is bounds-checked.

A control byte below 32 is followed by that many literal bytes plus one. Otherwise its upper three bits are the length
of a match minus 2 (7: the next byte is added), and its lower five with one more byte how far back it starts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel

HIGHEST_RATIO = 88  # a match of at most 264 bytes takes 3: no LZF data expands further


def decompress(compressed: bytes, size: int) -> bytes | None:
    """Decompress to exactly ``size`` bytes; None if ``compressed`` does not give that."""
    if size > HIGHEST_RATIO * len(compressed):
        return None
    out = np.zeros(size, np.uint8)
    return out.tobytes() if _decompress(np.frombuffer(compressed, np.uint8), out) else None


@kernel()
def _decompress(data: NDArray[np.uint8], out: NDArray[np.uint8]) -> bool:
    """Fill ``out``; returns whether ``data`` filled it exactly."""
    length: Any  # np.int64 throughout: numba converts mixed signed and unsigned integers to float
    place = filled = 0
    while place < len(data):
        control = np.int64(data[place])
        place += 1
        if control < 32:
            length = control + 1
            if place + length > len(data) or filled + length > len(out):
                return False
            out[filled : filled + length] = data[place : place + length]
            place += length
        else:
            length = control >> 5
            if length == 7 and place < len(data):
                length += np.int64(data[place])
                place += 1
            if place >= len(data):
                return False
            start = filled - ((control & 31) << 8) - np.int64(data[place]) - 1
            place += 1
            length += 2
            if start < 0 or filled + length > len(out):
                return False
            for step in range(length):  # one by one: a match can overlap its own output
                out[filled + step] = out[start + step]
        filled += length
    return filled == len(out)
