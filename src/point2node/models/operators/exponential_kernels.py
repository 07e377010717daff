"""e^x and e^x − 1 for x ≤ 0 inside a kernel's loop, in a form that LLVM vectorises, unlike calls of the C library.

In float32 x = n·ln 2 + r with |r| ≤ ln 2 / 2; then e^x = 2^n · (1 + p(r)), with Cephes' polynomial p. Results are
accurate to two units in the last place. In float64, which only tests use, the C library is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

EXACT = {"contract", "nsz"}
"""Sums must not be reordered here, because adding and subtracting MAGIC does the rounding."""

MAGIC = np.float32(3 << 22)
"""1.5 · 2²³: the last bits of x + MAGIC are x rounded to an integer."""
ONE_BITS = np.int32(0x3F800000)
"""The bits of 1.0; adding n << 23 gives those of 2^n."""
LOWEST = np.float32(-87)
"""Below this, 2^n would not be a normal number; e^−87 ≈ 2·10⁻³⁸ is returned instead."""

LOG2_E = np.float32(1.44269504088896341)
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
P0, P1, P2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
P3, P4, P5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)


@njit(fastmath=EXACT)
def _power_and_rest(x: Any) -> tuple[Any, Any]:
    """2^n and p(r); NaN stays NaN."""
    x = LOWEST if x < LOWEST else x
    rounded = x * LOG2_E + MAGIC
    n = rounded - MAGIC
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = P0
    p = p * r + P1
    p = p * r + P2
    p = p * r + P3
    p = p * r + P4
    p = p * r + P5
    power = np.int32((np.float32(rounded).view(np.int32) << np.int32(23)) + ONE_BITS).view(np.float32)
    return power, p * (r * r) + r


def exp(x: Any) -> Any:
    """e^x for x ≤ 0."""
    return math.exp(x)


def elu(x: Any) -> Any:
    """x above 0, e^x − 1 elsewhere."""
    return x if x > 0 else math.expm1(x)


def _exp_single(x: Any) -> Any:
    power, rest = _power_and_rest(x)
    return power * rest + power


def _elu_single(x: Any) -> Any:
    power, rest = _power_and_rest(x)
    below = power * rest + (power - np.float32(1))
    return x if x > 0 else below


@overload(exp, jit_options={"fastmath": EXACT})
def _compiled_exp(x: Any) -> Callable[[Any], Any]:
    return _exp_single if x == types.float32 else exp


@overload(elu, jit_options={"fastmath": EXACT})
def _compiled_elu(x: Any) -> Callable[[Any], Any]:
    return _elu_single if x == types.float32 else elu
