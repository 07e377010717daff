"""Structure and openings of empty rooms: where they are, and that nothing reaches out of the room."""

from __future__ import annotations

import numpy as np
import pytest

from point2node.rooms.building.shell import build_ceiling
from point2node.rooms.catalogue import PIECES
from point2node.rooms.fittings import HEADROOM, finish_room, start_room
from point2node.rooms.floor_plan import rectangle
from point2node.rooms.layouts import LAYOUTS
from point2node.rooms.materials import Material
from point2node.rooms.pieces import piece
from point2node.rooms.room import Room
from point2node.rooms.surfaces import box

GREY = Material((0.5, 0.5, 0.5))


def empty_room(seed: int = 0, width: float = 5.0, depth: float = 4.0, height: float = 3.0) -> Room:
    return Room(rectangle(width, depth), height, "all", np.random.default_rng(seed))


def started(seed: int) -> Room:
    return start_room(np.random.default_rng(seed), "all", rectangle(5.0, 4.0), height=3.2)


def area_seen_from_below(ceiling) -> float:
    return float(np.linalg.norm(np.cross(ceiling.surfaces.frame[:, 0], ceiling.surfaces.frame[:, 1]), axis=1).sum())


def test_a_column_in_a_corner_touches_two_walls():
    for seed in range(8):
        room = empty_room(seed)
        assert room.stand_in_corner(piece("column", [box((0.4, 0.3, 3.0), (0, 0, 0), GREY)]))
        low, high = room.pieces[-1].extent
        touching = [abs(low[0]) < 1e-6, abs(high[0] - 5) < 1e-6, abs(low[1]) < 1e-6, abs(high[1] - 4) < 1e-6]
        assert sum(touching) == 2


def test_a_soffit_leaves_headroom_and_nothing_hangs_in_it():
    found = 0
    for seed in range(60):
        room = started(seed)
        for one in room.pieces:
            if one.style == "beam/soffit":
                found += 1
                assert one.extent[0][2] >= HEADROOM - 1e-6
                assert one.extent[1][2] == pytest.approx(3.2)
                assert any(top == 3.2 for wall in room.walls for _, _, _, top in wall.taken)
    assert found > 5


def test_holes_for_lamps_are_missing_from_the_ceiling():
    rng, outline = np.random.default_rng(0), rectangle(5.0, 4.0)
    whole = area_seen_from_below(build_ceiling(rng, outline, 2.7, 0.0, [], []))
    holes = [(1.0, 1.6, 1.0, 1.6), (3.0, 3.6, 1.0, 1.6), (1.0, 1.6, 2.5, 3.7)]
    pierced = area_seen_from_below(build_ceiling(rng, outline, 2.7, 0.0, holes, []))
    assert whole - pierced == pytest.approx(0.6 * 0.6 * 2 + 0.6 * 1.2)


def test_a_sloped_ceiling_starts_at_the_height_and_rises():
    ceiling = build_ceiling(np.random.default_rng(0), rectangle(5.0, 4.0), 2.5, 1.2, [], [])
    low, high = ceiling.extent
    assert low[2] == pytest.approx(2.5)
    assert high[2] == pytest.approx(3.7)


def test_every_sunk_lamp_has_its_hole():
    found = 0
    for seed in range(40):
        room = finish_room(started(seed), wall_items=0, floor_items=0)
        sunk = [one for one in room.pieces if one.style == "clutter/sunk_light"]
        assert len(sunk) == len(room.holes)
        found += len(sunk)
    assert found > 10


def test_nearly_every_room_has_a_door():
    doors = [any(one.label == "door" for one in started(seed).pieces) for seed in range(60)]
    assert np.mean(doors) > 0.95


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_everything_is_inside_the_room(layout):
    for seed in range(6):
        room = layout.build(np.random.default_rng(seed), "all")
        low, high = room.outline.min(axis=0), room.outline.max(axis=0)
        for one in room.pieces:
            if one.label in ("door", "window", "column"):
                continue  # they reach into walls, and doors swing out of the room
            bottom, top = one.extent
            assert (bottom[:2] > low - 0.35).all(), one.style
            assert (top[:2] < high + 0.35).all(), one.style
            assert bottom[2] > -0.1, one.style
            assert top[2] < room.height + 0.2, one.style


@pytest.mark.parametrize(("layout", "purpose"), [("kitchen", "kitchen_units"), ("bedroom", "bed")])
def test_most_rooms_have_what_they_are_named_after(layout, purpose):
    styles = {style.name for style in PIECES[purpose]}
    build = next(one.build for one in LAYOUTS if one.name == layout)
    rooms = [build(np.random.default_rng(seed), "all") for seed in range(25)]
    assert np.mean([any(one.style in styles for one in room.pieces) for room in rooms]) > 0.75
