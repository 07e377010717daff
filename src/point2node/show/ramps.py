"""The colours that stand for numbers, in the page and in stills alike."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from point2node.show.scene import Array

Colour = tuple[int, int, int]

RAMPS: MappingProxyType[str, tuple[Colour, ...]] = MappingProxyType({
    # from doubtful to sure: warm colours ask to be looked at
    "confidence": ((165, 0, 38), (244, 109, 67), (254, 224, 144), (116, 173, 209), (49, 84, 149)),
    "entropy": ((49, 84, 149), (116, 173, 209), (254, 224, 144), (244, 109, 67), (165, 0, 38)),
})  # fmt: skip
"""Colours at even distances from 0 to 1."""

RIGHT: Colour = (176, 186, 196)
WRONG: Colour = (222, 45, 38)
UNKNOWN: Colour = (120, 120, 128)
"""No label, no truth, no colour."""


def ramp(name: str, values: Array) -> Array:
    """(N, 3) uint8: the colours of numbers from 0 to 1."""
    stops = np.array(RAMPS[name], float)
    places = np.linspace(0, 1, len(stops))
    clipped = np.clip(np.nan_to_num(values), 0, 1)
    return np.stack([np.interp(clipped, places, stops[:, one]) for one in range(3)], axis=1).round().astype(np.uint8)
