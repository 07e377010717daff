"""An opening in a wall: what fills it, in the frame of the wall.

x runs along the wall around the middle of the opening, the wall's face is y = 0, the room lies at -y,
and z = 0 is the bottom of the opening.
"""

from __future__ import annotations

from dataclasses import dataclass

from point2node.rooms.materials import Material
from point2node.rooms.pieces import Piece
from point2node.rooms.surfaces import Surfaces, box, join


@dataclass(frozen=True)
class Surroundings:
    """What an opening has to match: how the wall is finished, its length and its height."""

    finish: Material
    length: float
    height: float


@dataclass(frozen=True)
class Leaf:
    """The leaf of a door on hinges."""

    side: str
    """Where its hinges are, seen from inside the room: "left" or "right"."""
    angle: float
    """Radians that it is open; less than 0 out of the room."""


@dataclass(frozen=True)
class Opening:
    """A hole of this width and height, the piece in it, and what has to stay free around it."""

    width: float
    height: float
    filling: Piece
    bottom: float = 0.0
    clearance: float = 0.0
    """Metres of floor in front."""
    beside: float = 0.0
    """Metres of wall at either side, which an open leaf covers."""
    leaves: tuple[Leaf, ...] = ()


def frame(
    width: float, height: float, edge: float, depth: float, y: float, material: Material, *, sill: bool
) -> Surfaces:
    """Posts and a head, and a bar at the bottom for windows; ``y`` is where the frame's depth is centred."""
    parts = [box((edge, depth, height), (x * (width - edge) / 2, y, 0), material) for x in (-1, 1)]
    parts.append(box((width, depth, edge), (0, y, height - edge), material))
    if sill:
        parts.append(box((width, depth, edge), (0, y, 0), material))
    return join(parts)
