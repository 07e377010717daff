"""Rooms that people live in."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from point2node.rooms.arrangements import (
    lay_things,
    seating_group,
    shelves,
    spare_chairs,
    table_with_chairs,
    work_place,
)
from point2node.rooms.fittings import finish_room, start_room
from point2node.rooms.floor_plan import vary
from point2node.rooms.pieces import Piece, Styles
from point2node.rooms.room import Place, Room

FEW_COLUMNS = 0.25  # factor on the frequency of columns and beams in offices
CURTAINED = 0.5  # share of the rooms
SIZES_TRIED = 4  # for the piece that a room is named after


def living_room(rng: Generator, styles: Styles) -> Room:
    """Sofas around a low table, a television, shelves, often a dining table."""
    room = _start(rng, styles, (3.2, 7.0), (3.0, 5.5), doors=(1, 4), windows=(1, 4))
    for _ in range(rng.integers(1, 4)):
        seating_group(room)
    for _ in range(rng.integers(0, 3)):
        room.stand_somewhere(room.pick("easy_chair"))
    if rng.uniform() < 0.7:
        room.stand_at_wall(room.pick("television_stand"), front=0.5)
    for _ in range(rng.integers(0, 3)):
        table_with_chairs(room, room.pick("small_table"), "dining_chair", gap=0.55)
    for _ in range(rng.integers(0, 4)):
        room.stand_at_wall(room.pick("side_table"))
    if rng.uniform() < 0.25:
        work_place(room)
    shelves(room, "bookcase", int(rng.integers(0, 5)))
    _cupboards(room, "home_cupboard", int(rng.integers(0, 4)))
    return finish_room(_hang_shelves(room), wall_items=int(rng.integers(2, 10)), floor_items=0)


def bedroom(rng: Generator, styles: Styles) -> Room:
    """Beds with night stands, wardrobes, often a desk."""
    room = _start(rng, styles, (2.5, 5.0), (2.4, 4.5), doors=(1, 3), windows=(1, 3))
    _closet(room, 0.3)
    for _ in range(rng.integers(1, 3)):
        _fit(room, "bed", front=0.2)
    _cupboards(room, "low_cupboard", int(rng.integers(0, 4)))
    _cupboards(room, "home_cupboard", int(rng.integers(0, 4)))
    if rng.uniform() < 0.7:
        work_place(room)
    for _ in range(rng.integers(0, 3)):
        room.stand_at_wall(room.pick("side_table"))
    if rng.uniform() < 0.3:
        room.stand_at_wall(room.pick("sofa"), front=0.4)
    shelves(room, "bookcase", int(rng.integers(0, 3)))
    spare_chairs(room, int(rng.integers(0, 3)))
    return finish_room(_hang_shelves(room), wall_items=int(rng.integers(1, 7)), floor_items=0)


def kitchen(rng: Generator, styles: Styles) -> Room:
    """Cupboards below and above worktops, machines, often a table with chairs."""
    room = _start(rng, styles, (1.9, 4.5), (1.9, 4.0), doors=(1, 3), windows=(0, 3))
    _kitchen_row(room)
    if rng.uniform() < 0.6:
        _kitchen_row(room)
    for _ in range(rng.integers(1, 4)):
        room.stand_at_wall(room.pick("kitchen_machine"), front=0.4)
    if rng.uniform() < 0.6:
        table_with_chairs(room, room.pick("small_table"), "dining_chair", gap=0.5)
    spare_chairs(room, int(rng.integers(0, 3)))
    return finish_room(room, wall_items=int(rng.integers(0, 4)), floor_items=int(rng.integers(0, 3)))


def bathroom(rng: Generator, styles: Styles) -> Room:
    """Toilet, basin, bath or shower; small."""
    room = _start(rng, styles, (1.3, 3.2), (1.5, 3.0), doors=(1, 2), windows=(0, 2))
    for _ in range(rng.integers(3, 7)):
        room.stand_at_wall(room.pick("bathroom"))
    for _ in range(rng.integers(1, 5)):
        room.hang(room.pick("bathroom_wall"), rng.uniform(0.8, 1.3))
    return finish_room(room, wall_items=0, floor_items=int(rng.integers(0, 3)))


def studio(rng: Generator, styles: Styles) -> Room:
    """One room to sleep, sit, cook and work in."""
    room = _start(rng, styles, (3.5, 6.5), (3.0, 5.0), doors=(1, 4), windows=(1, 3))
    _closet(room, 0.4)
    _fit(room, "bed", front=0.2)
    _kitchen_row(room)
    seating_group(room)
    work_place(room)
    table_with_chairs(room, room.pick("small_table"), "dining_chair", gap=0.5)
    room.stand_at_wall(room.pick("television_stand"), front=0.4)
    shelves(room, "bookcase", int(rng.integers(1, 4)))
    _cupboards(room, "home_cupboard", int(rng.integers(0, 3)))
    return finish_room(_hang_shelves(room), wall_items=int(rng.integers(1, 6)), floor_items=int(rng.integers(0, 3)))


def _start(
    rng: Generator,
    styles: Styles,
    width: tuple[float, float],
    depth: tuple[float, float],
    doors: tuple[int, int],
    windows: tuple[int, int],
) -> Room:
    """Create an empty room as in homes: lower, with few columns and more curtains."""
    return start_room(
        rng,
        styles,
        vary(rng, rng.uniform(*width), rng.uniform(*depth)),
        doors=int(rng.integers(*doors)),
        windows=int(rng.integers(*windows)),
        height=float(np.clip(rng.normal(2.5, 0.15), 2.25, 3.3)),
        structure=FEW_COLUMNS,
        curtains=CURTAINED,
    )


def _closet(room: Room, probability: float) -> None:
    if room.rng.uniform() < probability:
        wall = room.random_wall()
        room.open_wall(room.pick_opening("closet_door", wall), wall)


def _cupboards(room: Room, purpose: str, count: int) -> None:
    """Put cupboards along the walls, with things on the low ones."""
    for _ in range(count):
        cupboard = room.pick(purpose)
        place = room.stand_at_wall(cupboard, front=0.3)
        if place and cupboard.size[2] < 1.5:
            lay_things(room, cupboard, place, "desk_item", int(room.rng.integers(0, 6)))


def _fit(room: Room, purpose: str, front: float) -> tuple[Piece, Place] | None:
    """Put a piece at a wall, the first of several tries that fits; None if none does."""
    for _ in range(SIZES_TRIED):
        piece = room.pick(purpose)
        place = room.stand_at_wall(piece, front=front)
        if place:
            return piece, place
    return None


def _kitchen_row(room: Room) -> None:
    """Put kitchen units along a wall, with things on them and cupboards above."""
    rng = room.rng
    found = _fit(room, "kitchen_units", front=0.4)
    if found is None:
        return
    lay_things(room, *found, "desk_item", int(rng.integers(2, 9)))
    for _ in range(rng.integers(0, 3)):
        room.hang(room.pick("wall_cabinet"), rng.uniform(1.35, 1.55))


def _hang_shelves(room: Room) -> Room:
    """Add a shelf on the wall, in some rooms, and things left lying on the floor."""
    if room.rng.uniform() < 0.3:
        room.hang(room.pick("wall_shelf"), room.rng.uniform(0.9, 1.4))
    for _ in range(room.rng.integers(1, 10)):
        item = room.pick("home_item")
        if room.rng.uniform() < 0.6:
            room.stand_at_wall(item)
        else:
            room.stand_somewhere(item)
    return room
