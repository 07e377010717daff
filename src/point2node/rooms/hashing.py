"""Random numbers as a function of keys, so that no result depends on the number of threads."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from point2node.kernels.compiling import kernel


@kernel()
def mix(key: np.uint64, number: int) -> np.uint64:
    """Return a new key from a key and a number (splitmix64)."""
    x = np.uint64(key) + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel()
def uniform(key: np.uint64) -> float:
    """Return a random number in [0, 1) for the key."""
    return np.float64(key >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel()
def normal(key: np.uint64) -> float:
    """Return a nearly normal random number of variance 1 for the key: a sum of four uniform ones, its 16-bit words."""
    word = np.uint64(0xFFFF)
    total = (key & word) + (key >> np.uint64(16) & word) + (key >> np.uint64(32) & word) + (key >> np.uint64(48))
    return (np.float64(total) / 65536.0 - 2.0) * 1.7320508075688772
