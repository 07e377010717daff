"""Words that settings, files and code share."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Literal

Feature = Literal["rgb", "relative_rgb", "normals", "height", "shape", "column", "boundary", "segment"]
"""What a network may be given of a point next to xyz."""
WIDTHS: MappingProxyType[Feature, int] = MappingProxyType(
    {"rgb": 3, "relative_rgb": 3, "normals": 3, "height": 1, "shape": 24, "column": 6, "boundary": 1, "segment": 14}
)
COLOURS: tuple[Feature, ...] = ("rgb", "relative_rgb")
SURROUNDINGS: tuple[Feature, ...] = ("shape", "column", "boundary", "segment")
"""Those that are made of a whole scan, not of single points."""

Report = Callable[[int, int, str], None]
"""Told how far long work is: how much is done, how much there is, and the name of what is worked on."""


def unreported(done: int, total: int, name: str) -> None:
    """Nobody asked how far the work is."""


def as_text(name: str) -> str:
    """The name of a file as text that can be written anywhere: bytes of it that are no UTF-8 become escapes."""
    return name.encode(errors="backslashreplace").decode()
