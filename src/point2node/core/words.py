"""Names that settings, files and code share."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Literal

Feature = Literal["rgb", "relative_rgb", "normals", "height", "shape", "column", "boundary", "segment"]
"""The features of a point that a network can take next to xyz."""
WIDTHS: MappingProxyType[Feature, int] = MappingProxyType(
    {"rgb": 3, "relative_rgb": 3, "normals": 3, "height": 1, "shape": 24, "column": 6, "boundary": 1, "segment": 14}
)
COLOURS: tuple[Feature, ...] = ("rgb", "relative_rgb")
SURROUNDINGS: tuple[Feature, ...] = ("shape", "column", "boundary", "segment")
"""The features that are computed from the whole scan, not from single points."""

Report = Callable[[int, int, str], None]
"""Progress callback: the number done, the total, and the name of the current item."""


def unreported(done: int, total: int, name: str) -> None:
    """Ignore progress."""


def as_text(name: str) -> str:
    """Convert a file name to valid text: bytes that are not UTF-8 become escapes."""
    return name.encode(errors="backslashreplace").decode()
