import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.show.floor_plan import draw_plan
from point2node.show.outline import area_of
from tests.show import scenes
from tests.show.rooms import PLACES, grid, room

DOOR = ("door", (3, 0, 0), (3.9, 0, 2.1))
WINDOW = ("window", (1, -0.12, 0.9), (2.2, -0.12, 2.1))
TABLE = ("table", (1, 1, 0), (2.5, 1.8, 0.75))


@settings(max_examples=10, deadline=None)
@given(st.floats(0, 3.1), st.floats(3, 8), st.floats(2.5, 6), st.floats(2.2, 3.5))
def test_a_room_of_any_size_and_direction_is_measured(yaw, width, depth, height):
    width, depth, height = (round(side / 0.03) * 0.03 for side in (width, depth, height))  # whole steps of the grid
    plan = draw_plan(room(width, depth, height, yaw=yaw, offset=(4e5, -100, 7))[0], "room")
    assert len(plan.outline) == 4
    assert plan.area == pytest.approx(width * depth, rel=0.01)
    assert plan.perimeter == pytest.approx(2 * (width + depth), rel=0.01)
    assert plan.height == pytest.approx(height, abs=0.02)


def test_an_l_shaped_room_has_six_corners():
    low, high = grid((0, 0, 0), (3, 5, 0)), grid((3, 0, 0), (6, 2, 0))
    floor = np.concatenate([low, high])
    corners = [(0, 0), (6, 0), (6, 2), (3, 2), (3, 5), (0, 5)]
    walls = [
        grid((min(a[0], b[0]), min(a[1], b[1]), 0), (max(a[0], b[0]), max(a[1], b[1]), 2.4))
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True)
    ]
    xyz = np.concatenate([floor, floor + np.array([0, 0, 2.4]), *walls])
    labels = np.repeat(
        [PLACES["floor"], PLACES["ceiling"], PLACES["wall"]], [len(floor), len(floor), sum(map(len, walls))]
    )
    plan = draw_plan(scenes.scene("l", xyz, S3DIS, labels), "l")
    assert len(plan.outline) == 6
    assert plan.area == pytest.approx(15 + 6, rel=0.01)
    assert area_of(plan.outline) > 0


def test_doors_and_windows_lie_in_their_walls_with_width_height_and_sill():
    plan = draw_plan(room(objects=(DOOR, WINDOW, TABLE), yaw=0.5)[0], "room")
    found = {one.kind: one for one in plan.openings}
    assert found["door"].width == pytest.approx(0.9, abs=0.04)
    assert found["window"].width == pytest.approx(1.2, abs=0.04)
    assert found["window"].bottom == pytest.approx(0.9, abs=0.05)
    assert found["door"].wall == found["window"].wall
    assert [one.name for one in plan.furniture] == ["table_01"]
    wall = plan.walls[found["window"].wall]
    assert wall.is_measured  # the window's depth in the wall was seen
    assert wall.thickness == pytest.approx(0.12, abs=0.03)
    assert not any(other.is_measured for other in plan.walls if other is not wall)


def door_with_leaf(hinge, angle, length=0.85, end=3.9):
    """Posts and head of a door from x = 3 to its end in the wall y = 0, and a leaf at one post, open by an angle."""
    posts = [("door", (x, 0, 0), (x + 0.06, 0, 2.1)) for x in (3.0, end - 0.06)]
    head = ("door", (3.0, 0, 2.1), (end, 0, 2.16))
    scene, _ = room(objects=(*posts, head))
    far, up = np.meshgrid(np.arange(0, length, 0.02), np.arange(0, 2, 0.05))
    x, towards = (3.04, 1) if hinge == "start" else (end - 0.04, -1)
    leaf = np.stack([x + towards * far * np.cos(angle), far * np.sin(angle), up], axis=-1).reshape(-1, 3)
    labels = np.concatenate([scene.labels, np.full(len(leaf), PLACES["door"])])
    return scenes.scene("room", np.concatenate([scene.xyz, leaf]), S3DIS, labels)


def test_an_open_leaf_does_not_change_the_width_of_a_door():
    (door,) = draw_plan(door_with_leaf("start", np.pi / 2), "room").openings
    assert door.width == pytest.approx(0.9, abs=0.04)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(["start", "end"]), st.booleans(), st.floats(0.6, 2.4))
def test_an_open_leaf_shows_where_its_hinges_are_and_to_which_side_it_opens(hinge, inwards, angle):
    scene = door_with_leaf(hinge, angle if inwards else -angle)
    (door,) = draw_plan(scene, "room").openings
    (leaf,) = door.leaves
    assert leaf.inwards is inwards
    assert leaf.side == ("right" if hinge == "start" else "left")  # from y > 0 one looks at the wall with x to the left
    x = 3.04 if hinge == "start" else 3.86
    assert math.dist(leaf.hinge, (x, 0)) < 0.12
    towards = 1 if hinge == "start" else -1
    tip = x + towards * 0.85 * np.cos(angle), (1 if inwards else -1) * 0.85 * np.sin(angle)
    assert math.dist(leaf.tip, tip) < 0.15
    assert np.allclose(leaf.arc[-1], leaf.tip)
    assert np.allclose(leaf.arc[0], leaf.closed)


def test_a_closed_door_has_no_open_leaf():
    (door,) = draw_plan(door_with_leaf("start", 0.0), "room").openings
    assert door.leaves == ()


def test_two_leaves_are_found_one_at_each_post():
    scene, other = (door_with_leaf(post, 1.2, 0.7, end=4.5) for post in ("start", "end"))
    both = scenes.scene(
        "room", np.concatenate([scene.xyz, other.xyz]), S3DIS, np.concatenate([scene.labels, other.labels])
    )
    (door,) = draw_plan(both, "room").openings
    assert sorted(leaf.side for leaf in door.leaves) == ["left", "right"]


def test_what_is_seen_through_a_door_is_no_part_of_the_room():
    outside = ("floor", (3, -1.5, 0), (3.9, -0.03, 0))
    assert draw_plan(room(objects=(outside,))[0], "room").area == pytest.approx(20, rel=0.01)


def test_both_sides_of_a_wall_give_its_thickness():
    other = ("wall", (0, -0.24, 0), (4.98, -0.24, 2.49))
    plan = draw_plan(room(objects=(other,))[0], "room")
    assert max(wall.thickness for wall in plan.walls) == pytest.approx(0.24, abs=0.02)


@pytest.mark.parametrize("left_out", ["wall", "floor and ceiling", "all"])
def test_a_scan_without_walls_or_floor_has_no_plan(left_out):
    scene, _ = room()
    kept = {"wall": scene.labels != PLACES["wall"], "floor and ceiling": scene.labels == PLACES["wall"]}
    with pytest.raises(InputError, match="a labelled room with walls and a floor or ceiling"):
        draw_plan(scene[kept.get(left_out, np.zeros(len(scene), bool))], "room")
