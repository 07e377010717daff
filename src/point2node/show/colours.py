"""The colours of the page, the pictures and the viewer."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Colour = tuple[int, int, int]

RAMPS: MappingProxyType[str, tuple[Colour, ...]] = MappingProxyType({
    # from uncertain to certain: warm colours draw attention
    "confidence": ((165, 0, 38), (244, 109, 67), (254, 224, 144), (116, 173, 209), (49, 84, 149)),
    "entropy": ((49, 84, 149), (116, 173, 209), (254, 224, 144), (244, 109, 67), (165, 0, 38)),
    "height": ((0, 34, 78), (67, 78, 108), (125, 124, 120), (188, 174, 108), (254, 232, 56)),
    # explanations of a point: its row of non-local weights, and the edges of its local graph
    "row": ((255, 255, 204), (254, 217, 118), (253, 141, 60), (227, 26, 28), (128, 0, 38)),
    "graph": ((0, 255, 255), (255, 0, 255)),
})  # fmt: skip
"""Colours at even distances from 0 to 1."""

RIGHT: Colour = (176, 186, 196)
WRONG: Colour = (222, 45, 38)
UNKNOWN: Colour = (120, 120, 128)
"""No label, no truth, no colour."""


def ramp(name: str, values: Array) -> Array:
    """Return the colours (…, 3) uint8 of numbers, clipped to the range from 0 to 1."""
    stops = np.array(RAMPS[name], float)
    places = np.linspace(0, 1, len(stops))
    clipped = np.clip(np.nan_to_num(values), 0, 1)
    return np.stack([np.interp(clipped, places, stops[:, one]) for one in range(3)], axis=-1).round().astype(np.uint8)


def css_colour(colour: Colour) -> str:
    """Return a colour in CSS: ``rgb(255 0 0)``."""
    return f"rgb({colour[0]} {colour[1]} {colour[2]})"


def class_colours(places: Array, palette: Array) -> Array:
    """Return the colours (N, 3) uint8 of indices into the class colours ``palette`` (classes, 3); −1 is grey."""
    return np.concatenate([palette, [UNKNOWN]]).astype(np.uint8)[places]
