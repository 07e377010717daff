"""Colours of any type and scale, as the uint8 that a point cloud holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array


def to_bytes(path: Path, rgb: Array) -> Array:
    """Colours (N, 3) as uint8; the file does not say the scale, so the values decide it.

    - Whole numbers up to 255 are kept, in a 16-bit field too; up to 65535 they are 16-bit colours, and their
      high byte is kept.
    - Fractions up to 1 are spread over 0 to 255; larger ones up to 255 are rounded.
    """
    if rgb.dtype == np.uint8:
        return rgb
    lowest, highest = (float(rgb.min()), float(rgb.max())) if rgb.size else (0.0, 0.0)
    fraction = rgb.dtype.kind == "f"
    in_range = lowest >= 0 and highest <= (255 if fraction else 65535)  # false for NaN too
    if not in_range:
        raise InputError(
            f"{path}, colours",
            expected="0 to 1, 0 to 255, or whole numbers up to 65535",
            found=f"{lowest:g} to {highest:g}",
        )
    if fraction:
        return np.rint(rgb * 255.0 if highest <= 1 else rgb).astype(np.uint8)
    return (rgb if highest <= 255 else rgb >> 8).astype(np.uint8)
