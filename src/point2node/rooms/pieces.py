"""A piece: one labelled thing in its own frame, before or after it is put into a room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from point2node.rooms.surfaces import Floats, Surfaces, join


@dataclass(frozen=True)
class Top:
    """A level rectangle on which things can stand: two of its corners and its height."""

    low: tuple[float, float]
    high: tuple[float, float]
    height: float


@dataclass(frozen=True)
class Piece:
    """Surfaces of one class. In its own frame it stands on z = 0 around the origin, its back to +y, its front to -y."""

    label: str
    surfaces: Surfaces
    tops: tuple[Top, ...] = ()
    style: str = ""

    @cached_property
    def extent(self) -> tuple[Floats, Floats]:
        """Lower and upper corner."""
        return self.surfaces.bounds()

    @property
    def size(self) -> Floats:
        """Width, depth and height."""
        low, high = self.extent
        return high - low

    def placed(self, x: float, y: float, z: float = 0.0, yaw: float = 0.0) -> Piece:
        """Turned about the vertical, then moved; the tops stay in the piece's own frame."""
        return replace(self, surfaces=self.surfaces.turned(yaw).moved((x, y, z)))


def piece(label: str, parts: Sequence[Surfaces], tops: Sequence[Top] = ()) -> Piece:
    """A piece from its parts."""
    return Piece(label, join(parts), tuple(tops))
