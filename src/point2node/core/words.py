"""Words that settings, files and code share."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

Feature = Literal["rgb", "relative_rgb", "normals", "height"]
"""What a network may be given of a point next to xyz."""
WIDTHS: MappingProxyType[Feature, int] = MappingProxyType({"rgb": 3, "relative_rgb": 3, "normals": 3, "height": 1})
COLOURS: tuple[Feature, ...] = ("rgb", "relative_rgb")


def as_text(name: str) -> str:
    """The name of a file as text that can be written anywhere: bytes of it that are no UTF-8 become escapes."""
    return name.encode(errors="backslashreplace").decode()
