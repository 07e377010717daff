import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.show.floor_plan import draw_plan
from point2node.show.outline import area_of
from point2node.show.scene import LabelledScene
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
    plan = draw_plan(LabelledScene("l", xyz, S3DIS, labels), "l")
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


def test_an_open_leaf_does_not_change_the_width_of_a_door():
    posts = [("door", (x, 0, 0), (x + 0.06, 0, 2.1)) for x in (3.0, 3.84)]
    leaf = ("door", (3.06, 0.03, 0), (3.06, 0.9, 2.0))
    head = ("door", (3.0, 0, 2.1), (3.9, 0, 2.16))
    (door,) = draw_plan(room(objects=(*posts, leaf, head))[0], "room").openings
    assert door.width == pytest.approx(0.9, abs=0.04)


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
