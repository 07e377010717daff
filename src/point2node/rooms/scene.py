"""A finished room as one set of surfaces, each with the piece it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from point2node.core.classes import S3DIS
from point2node.rooms.building.openings import Leaf
from point2node.rooms.building.shell import build_ceiling, build_floor, build_walls
from point2node.rooms.floor_plan import FloorPlan
from point2node.rooms.layouts import LAYOUTS, SCANNER_SHARES
from point2node.rooms.pieces import Piece, Styles, choose_style
from point2node.rooms.room import Room
from point2node.rooms.scanners import choose_scanner
from point2node.rooms.settings import RoomSettings
from point2node.rooms.surfaces import Floats, Surfaces, join

LABELS = {entry.name: entry.value for entry in S3DIS}


@dataclass(frozen=True)
class PlacedOpening:
    """A door or window of a room."""

    kind: str
    instance: int
    """The instance number of its points."""
    width: float
    height: float
    bottom: float
    """Metres above the floor."""
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True)
class Scene:
    """Everything that the scanner and the lamps need to know about a room, in the room's own frame."""

    layout: str
    scanner: str
    styles: tuple[str, ...]
    """The style of each piece that has one, in the order in which they were placed."""
    outline: Floats
    """(V, 2): corners counter-clockwise."""
    height: float
    plan: FloorPlan
    surfaces: Surfaces
    piece: NDArray[np.int32]
    """(P,): the index of the piece that each surface belongs to."""
    labels: NDArray[np.int32]
    """The class of each piece."""
    openings: tuple[PlacedOpening, ...]
    lamps: Floats
    """(L, 4): x, y, z and strength."""


def build_scene(rng: Generator, styles: Styles, settings: RoomSettings) -> Scene:
    """Build a furnished room with one of the allowed layouts."""
    choices = [layout for layout in LAYOUTS if not settings.layouts or layout.name in settings.layouts]
    layout = choose_style(choices, styles, rng)
    scanner = choose_scanner(rng, SCANNER_SHARES[layout.name], settings.scanners)
    room = layout.build(rng, styles)
    shell = [
        build_floor(rng, room.outline, room.openings),
        build_ceiling(rng, room.outline, room.height, room.rise, room.holes, room.openings),
        *build_walls(rng, room.walls, room.openings, room.height + room.rise, room.finish),
    ]
    return assemble(layout.name, scanner, room, [*shell, *room.pieces], _place_lamps(rng, room))


def assemble(layout: str, scanner: str, room: Room, pieces: list[Piece], lamps: Floats) -> Scene:
    """Assemble the scene from these pieces; those of the room come last."""
    before = len(pieces) - len(room.pieces)
    return Scene(
        layout=layout,
        scanner=scanner,
        styles=tuple(piece.style for piece in pieces if piece.style),
        outline=room.outline,
        height=room.height + room.rise,
        plan=room.plan,
        surfaces=join([piece.surfaces for piece in pieces]),
        piece=np.repeat(np.arange(len(pieces), dtype=np.int32), [len(piece.surfaces) for piece in pieces]),
        labels=np.array([LABELS[piece.label] for piece in pieces], np.int32),
        openings=tuple(
            PlacedOpening(one.filling.label, before + number, one.width, one.height, one.bottom, one.leaves)
            for number, (_, _, one) in zip(room.fillings, room.openings, strict=True)
        ),
        lamps=lamps,
    )


def _place_lamps(rng: Generator, room: Room) -> Floats:
    """Place one to four lamps below the ceiling, and daylight at up to three windows (L, 4)."""
    low, high = room.outline.min(axis=0), room.outline.max(axis=0)
    count = int(rng.integers(1, 5))
    places = np.column_stack([rng.uniform(low, high, (count, 2)), np.full(count, room.height - 0.3)])
    lamps = np.column_stack([places, rng.uniform(0.3, 1.2, count) / np.sqrt(count)])
    windows = [(wall.at(at, 0.2), opening) for wall, at, opening in room.openings if opening.bottom > 0]
    daylight = rng.uniform(0, 1.0)
    panes = [[*place, opening.bottom + opening.height / 2, daylight] for place, opening in windows[:3]]
    return rng.permutation(np.concatenate([lamps, np.array(panes).reshape(-1, 4)]))
