"""Free space on the floor and on the walls."""

from __future__ import annotations

import math

import numpy as np

from point2node.rooms.floor_plan import FloorPlan, Footprint, inside, l_shape, rectangle, walls_of


def test_what_is_taken_is_no_longer_free():
    plan = FloorPlan(rectangle(4, 3))
    table = Footprint(2, 1.5, 0.8, 0.4, 0.3)
    assert plan.is_free(table)
    plan.take(table)
    assert not plan.is_free(table)
    assert plan.is_free(Footprint(0.5, 0.5, 0.3, 0.3))


def test_the_cut_corner_of_an_l_is_not_floor():
    plan = FloorPlan(l_shape(4, 4, 2, 2))
    assert not plan.is_free(Footprint(3, 3, 0.3, 0.3))
    assert plan.is_free(Footprint(1, 3, 0.3, 0.3))
    assert math.isclose(len(plan.free_cells()) * 0.05**2, 12, rel_tol=0.01)


def test_a_footprint_that_leaves_the_room_is_not_free():
    assert not FloorPlan(rectangle(4, 3)).is_free(Footprint(3.9, 1.5, 0.3, 0.3))


def test_the_room_is_to_the_left_of_every_wall():
    outline = l_shape(5, 4, 2, 1.5)
    for wall in walls_of(outline):
        x, y = wall.at(wall.length / 2, 0.1)
        assert inside(outline, np.array([x]), np.array([y])).all()


def test_the_back_of_a_piece_turns_to_the_wall():
    for wall in walls_of(rectangle(4, 3)):
        back = np.array([-math.sin(wall.yaw), math.cos(wall.yaw)])  # where +y of the piece points
        assert np.allclose(back, -wall.inward)


def test_two_things_share_a_wall_only_if_their_rectangles_are_apart():
    wall = walls_of(rectangle(4, 3))[0]
    wall.taken.append((1.0, 2.0, 0.9, 2.1))
    assert wall.is_free(1.2, 1.8, 0.0, 0.8)
    assert not wall.is_free(1.2, 1.8, 0.0, 1.0)
    assert not wall.is_free(3.5, 4.1, 0.0, 1.0)
