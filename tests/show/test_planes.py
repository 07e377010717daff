import numpy as np
import pytest

from point2node.core.classes import S3DIS
from point2node.show.planes import find_planes, find_walls
from tests.show import scenes
from tests.show.rooms import room


@pytest.mark.parametrize("yaw", [0.0, 0.31, 1.2])
def test_a_room_has_a_floor_a_ceiling_and_four_walls_with_their_areas(yaw):
    scene, _ = room(width=5, depth=4, height=2.5, yaw=yaw, offset=(100, -20, 3))
    planes = find_planes(scene)
    assert [plane.kind for plane in planes] == ["floor", "ceiling"] + 4 * ["wall"]
    assert [plane.area for plane in planes[:2]] == pytest.approx([20, 20], rel=0.12)
    lengths = sorted(wall.length for wall in find_walls(scene))
    assert lengths == pytest.approx([4, 4, 5, 5], abs=0.12)
    for wall in find_walls(scene):
        assert wall.top - wall.bottom == pytest.approx(2.5, abs=0.05)
        inwards = np.median(scene.xyz, axis=0) - wall.centre
        assert inwards @ wall.normal > 0
        assert wall.area == pytest.approx(wall.length * 2.5, rel=0.12)


def test_an_open_door_leaf_is_no_wall_and_a_door_in_a_wall_does_not_end_it():
    leaf = ("door", (3, 0, 0), (3, 0.9, 2.0))
    closed = ("door", (1, 0, 0), (2, 0, 2.0))
    assert len(find_walls(room(objects=(leaf, closed))[0])) == 4


def test_without_walls_or_points_there_are_no_planes():
    assert find_planes(scenes.scene("none", np.empty((0, 3)), S3DIS, np.empty(0, int))) == []
    assert find_planes(scenes.scene("one", np.zeros((1, 3)), S3DIS, np.full(1, 2))) == []
