"""Rooms where people work or meet."""

from __future__ import annotations

import math

from numpy.random import Generator

from point2node.rooms.arrangements import (
    equip_desk,
    maybe_board,
    seat_around,
    seating_group,
    shelves,
    spare_chairs,
    table_with_chairs,
    work_place,
    worktop_along_wall,
)
from point2node.rooms.fittings import finish_room, start_room
from point2node.rooms.floor_plan import rectangle, vary
from point2node.rooms.pieces import Styles
from point2node.rooms.room import Room


def office(rng: Generator, styles: Styles) -> Room:
    """One to four work places, bookcases, often a board."""
    room = start_room(
        rng,
        styles,
        vary(rng, rng.uniform(2.6, 7.0), rng.uniform(2.4, 5.5)),
        doors=int(rng.integers(1, 4)),
        windows=int(rng.integers(1, 5)),
    )
    maybe_board(room, 0.85)
    maybe_board(room, 0.25)
    if rng.uniform() < 0.45:  # placed before the desks, which would leave no space for it
        seating_group(room)
    for _ in range(rng.integers(0, 3)):
        worktop_along_wall(room)
    for _ in range(rng.integers(1, 6)):
        work_place(room)
    if rng.uniform() < 0.6:
        table_with_chairs(room, room.pick("small_table"), "meeting_chair")
    for _ in range(rng.integers(0, 3)):
        room.stand_somewhere(room.pick("easy_chair"))
    shelves(room, "bookcase", int(rng.integers(4, 12)))
    if rng.uniform() < 0.35:
        room.hang(room.pick("wall_shelf"), rng.uniform(0.9, 1.4))
    spare_chairs(room, int(rng.integers(2, 9)))
    return finish_room(room, wall_items=int(rng.integers(1, 10)), floor_items=int(rng.integers(6, 20)))


def open_office(rng: Generator, styles: Styles) -> Room:
    """Blocks of desks face to face, partitions between them, columns."""
    width, depth = rng.uniform(7, 13), rng.uniform(5.5, 9)
    room = start_room(
        rng, styles, vary(rng, width, depth), doors=int(rng.integers(1, 4)), windows=int(rng.integers(2, 7))
    )
    maybe_board(room, 0.7)
    desk_width, desk_depth = rng.uniform(1.2, 1.6), rng.uniform(0.65, 0.8)
    for y in _steps(1.9, depth - 1.6, rng.uniform(2.9, 3.6)):
        for x in _steps(1.6, width - 1.2, desk_width + 0.04):
            if rng.uniform() < 0.12:
                continue
            for side, yaw in ((-1, 0.0), (1, math.pi)):
                desk = room.pick("row_desk", width=desk_width, depth=desk_depth)
                if room.stand(desk, x, y + side * (desk_depth / 2 + 0.04), yaw, gap=0.0):
                    equip_desk(room, desk, (x, y + side * (desk_depth / 2 + 0.04), yaw))
    for _ in range(rng.integers(0, 3)):
        room.stand_somewhere(room.pick("partition"), aligned=True)
    shelves(room, "bookcase", int(rng.integers(6, 18)))
    spare_chairs(room, int(rng.integers(2, 10)))
    return finish_room(room, wall_items=int(rng.integers(2, 9)), floor_items=int(rng.integers(8, 24)))


def conference_room(rng: Generator, styles: Styles) -> Room:
    """One long table with chairs all around it, boards and a projector."""
    width, depth = rng.uniform(4.2, 8.5), rng.uniform(3.6, 5.5)
    room = start_room(rng, styles, vary(rng, width, depth), windows=int(rng.integers(1, 4)))
    maybe_board(room, 0.9)
    maybe_board(room, 0.3)
    for spare in (1.6, 2.2, 3.0, 3.6, 4.5):  # metres left next to the table: the largest table that fits
        table = room.pick("meeting_table", width=max(1.4, width - spare), depth=rng.uniform(0.9, 1.5))
        if table_with_chairs(room, table, "meeting_chair", ends=bool(rng.uniform() < 0.5), gap=0.65):
            break
    shelves(room, "bookcase", int(rng.integers(1, 7)))
    spare_chairs(room, int(rng.integers(2, 11)))
    if rng.uniform() < 0.3:
        room.stand_somewhere(room.pick("standing_board"))
    return finish_room(room, wall_items=int(rng.integers(1, 6)), floor_items=int(rng.integers(3, 11)))


def auditorium(rng: Generator, styles: Styles) -> Room:
    """Rows of chairs facing one wall, with an aisle."""
    width, depth = rng.uniform(5, 11), rng.uniform(5, 10)
    room = start_room(rng, styles, rectangle(width, depth), doors=2, windows=int(rng.integers(0, 4)))
    maybe_board(room, 0.8)
    chair = room.pick("meeting_chair")
    each, aisle = chair.size[0] + rng.uniform(0.03, 0.15), rng.uniform(1.5, width - 1.5)
    for y in _steps(0.9, depth - 2.0, chair.size[1] + rng.uniform(0.35, 0.6)):
        for x in _steps(0.6, width - 0.6, each):
            if abs(x - aisle) > 0.6 and rng.uniform() < 0.95:
                room.stand(chair, x, y, math.pi + rng.normal(0, 0.04), gap=0.0)
    work_place(room)
    return finish_room(room, wall_items=int(rng.integers(1, 5)), floor_items=int(rng.integers(1, 6)))


def seminar_room(rng: Generator, styles: Styles) -> Room:
    """Rows of tables facing one wall, with a board on it."""
    width, depth = rng.uniform(5, 8.5), rng.uniform(5, 9)
    room = start_room(rng, styles, rectangle(width, depth), windows=int(rng.integers(1, 4)))
    maybe_board(room, 1.0)
    room.stand_at_wall(room.pick("standing_board"))
    table_width, gap = rng.uniform(1.2, 1.8), rng.uniform(1.25, 1.6)
    for y in _steps(1.4, depth - 2.2, gap):
        for x in _steps(table_width / 2 + 0.5, width - table_width / 2 - 0.4, table_width + rng.uniform(0.02, 0.5)):
            table = room.pick("row_desk", width=table_width, depth=0.55)
            if room.stand(table, x, y, 0.0, gap=0.0):
                seat_around(room, table, (x, y, 0.0), "meeting_chair", ends=False, sides=1)
    return finish_room(room, wall_items=int(rng.integers(0, 4)), floor_items=int(rng.integers(1, 5)))


def _steps(start: float, end: float, step: float) -> list[float]:
    """Return start, start + step, … up to ``end``."""
    return [start + number * step for number in range(max(0, int((end - start) / step) + 1))]
