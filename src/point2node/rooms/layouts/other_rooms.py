"""Rooms that people pass through, wait in or fetch things from."""

from __future__ import annotations

from numpy.random import Generator

from point2node.rooms.arrangements import (
    lay_things,
    maybe_board,
    seating_group,
    shelves,
    spare_chairs,
    table_with_chairs,
)
from point2node.rooms.fittings import finish_room, start_room
from point2node.rooms.floor_plan import l_shape, rectangle, vary
from point2node.rooms.pieces import Styles
from point2node.rooms.room import Room


def corridor(rng: Generator, styles: Styles) -> Room:
    """Long and narrow with many doors, sometimes with a bend; almost empty."""
    length = rng.uniform(2.0, 6.0) if rng.uniform() < 0.4 else rng.uniform(5, 24)
    width = rng.uniform(1.2, 3.0)
    outline = rectangle(length, width)
    if rng.uniform() < 0.3 and length > width + 1:
        arm = rng.uniform(3, 8)
        outline = l_shape(length, width + arm, length - width, arm)
    room = start_room(
        rng, styles, outline, doors=int(length / rng.uniform(1.6, 3.2)) + 1, windows=int(rng.integers(0, 4))
    )
    maybe_board(room, 0.5)
    if rng.uniform() < 0.5:
        shelves(room, "bookcase", int(rng.integers(1, 9)))
    if rng.uniform() < 0.1:
        room.stand_at_wall(room.pick("sofa"), front=0.5)
    for _ in range(rng.integers(0, 4)):
        room.stand_at_wall(room.pick("large_item"), front=0.5)
    spare_chairs(room, int(rng.integers(0, 8)))
    return finish_room(room, wall_items=int(rng.integers(2, 14)), floor_items=int(rng.integers(0, 9)))


def lobby(rng: Generator, styles: Styles) -> Room:
    """Wide and high, with columns, beams, doors and a few seats."""
    room = start_room(
        rng,
        styles,
        vary(rng, rng.uniform(5, 12), rng.uniform(4, 9)),
        doors=int(rng.integers(2, 6)),
        windows=int(rng.integers(2, 7)),
        height=rng.uniform(2.6, 4.2),
    )
    maybe_board(room, 0.3)
    if rng.uniform() < 0.35:
        room.stand_at_wall(room.pick("stairs"), front=0.6)
    for _ in range(rng.integers(0, 3)):
        seating_group(room)
    for _ in range(rng.integers(0, 3)):
        room.stand_somewhere(room.pick("easy_chair"))
    for _ in range(rng.integers(0, 3)):
        table_with_chairs(room, room.pick("small_table"), "spare_chair")
    shelves(room, "bookcase", int(rng.integers(1, 8)))
    spare_chairs(room, int(rng.integers(2, 10)))
    return finish_room(room, wall_items=int(rng.integers(2, 10)), floor_items=int(rng.integers(5, 18)))


def lounge(rng: Generator, styles: Styles) -> Room:
    """Sofas, low tables, round tables, plants."""
    room = start_room(
        rng, styles, vary(rng, rng.uniform(4, 9), rng.uniform(3.5, 7)), doors=int(rng.integers(1, 3)), windows=2
    )
    for _ in range(rng.integers(2, 6)):
        seating_group(room)
    for _ in range(rng.integers(0, 4)):
        table_with_chairs(room, room.pick("small_table"), "spare_chair")
    shelves(room, "bookcase", int(rng.integers(1, 8)))
    for _ in range(rng.integers(0, 4)):
        room.stand_at_wall(room.pick("large_item"))
    return finish_room(room, wall_items=int(rng.integers(2, 8)), floor_items=int(rng.integers(3, 10)))


def storage(rng: Generator, styles: Styles) -> Room:
    """Small or tiny and often high, rarely with a window, full of shelves and boxes."""
    size = (1.2, 2.4) if rng.uniform() < 0.5 else (2.0, 4.0)
    room = start_room(
        rng,
        styles,
        vary(rng, rng.uniform(*size), rng.uniform(*size)),
        windows=int(rng.uniform() < 0.15),
        height=float(rng.uniform(2.3, 3.7)),
    )
    shelves(room, "storage_shelf", int(rng.integers(1, 8)))
    for _ in range(rng.integers(0, 3)):
        room.hang(room.pick("wall_shelf"), rng.uniform(0.8, 1.5))
    for _ in range(rng.integers(1, 4)):
        room.stand_at_wall(room.pick("large_item"))
    for _ in range(rng.integers(2, 12)):
        room.stand_somewhere(room.pick("store_item"), aligned=bool(rng.uniform() < 0.5))
    return finish_room(room, wall_items=int(rng.integers(0, 4)), floor_items=int(rng.integers(0, 6)))


def copy_room(rng: Generator, styles: Styles) -> Room:
    """Copiers, cupboards and a counter; to a scanner, it looks like a kitchen."""
    room = start_room(rng, styles, vary(rng, rng.uniform(2.2, 5), rng.uniform(2, 4.5)), windows=int(rng.integers(0, 2)))
    table = room.pick("row_desk")
    place = room.stand_at_wall(table, front=0.4)
    if place:
        lay_things(room, table, place, "desk_item", int(rng.integers(1, 7)))
    for _ in range(rng.integers(2, 6)):
        room.stand_at_wall(room.pick("large_item"), front=0.5)
    shelves(room, "bookcase", int(rng.integers(1, 5)))
    return finish_room(room, wall_items=int(rng.integers(1, 6)), floor_items=int(rng.integers(4, 12)))
