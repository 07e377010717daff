"""An opening in a wall and the door or window in it, in the frame of the wall.

x runs along the wall from the middle of the opening, the wall's face is y = 0, the room is at -y, and z = 0 is the
bottom of the opening.
"""

from __future__ import annotations

from dataclasses import dataclass

from point2node.rooms.materials import Material
from point2node.rooms.pieces import Piece
from point2node.rooms.surfaces import Surfaces, box, join


@dataclass(frozen=True)
class Surroundings:
    """What an opening has to match: the wall's finish, length and height."""

    finish: Material
    length: float
    height: float


@dataclass(frozen=True)
class Leaf:
    """The leaf of a door on hinges."""

    side: str
    """The side of its hinges, seen from inside the room: "left" or "right"."""
    angle: float
    """The angle by which it is open, in radians; less than 0 opens out of the room."""


@dataclass(frozen=True)
class Opening:
    """A hole of this width and height, the piece in it, and the space that must stay free around it."""

    width: float
    height: float
    filling: Piece
    bottom: float = 0.0
    clearance: float = 0.0
    """Metres of floor in front."""
    side_clearance: float = 0.0
    """Metres of wall on each side that an open leaf covers."""
    leaves: tuple[Leaf, ...] = ()


def frame(
    width: float, height: float, edge: float, depth: float, y: float, material: Material, *, sill: bool
) -> Surfaces:
    """Build posts and a head, and a bar at the bottom for windows; ``y`` is the middle of the frame's depth."""
    parts = [box((edge, depth, height), (x * (width - edge) / 2, y, 0), material) for x in (-1, 1)]
    parts.append(box((width, depth, edge), (0, y, height - edge), material))
    if sill:
        parts.append(box((width, depth, edge), (0, y, 0), material))
    return join(parts)
