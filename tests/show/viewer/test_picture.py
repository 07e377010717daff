import numpy as np
import pytest

from point2node.show.viewer.picture import pick

DOWN = (0, 0, -1)


def test_of_points_in_a_line_the_nearest_is_picked():
    xyz = np.array([[0, 0, 0], [0, 0, 2], [0, 0, 1]], np.float32)
    assert pick(xyz, (0, 0, 5), DOWN) == 1


def test_a_point_behind_the_camera_is_never_picked():
    xyz = np.array([[0, 0, 7], [0, 0, 1]], np.float32)
    assert pick(xyz, (0, 0, 5), DOWN) == 1
    assert pick(xyz[:1], (0, 0, 5), DOWN) is None


def test_a_click_beside_all_points_picks_none():
    xyz = np.array([[0.1, 0, 0], [-3, 0, 1]], np.float32)
    assert pick(xyz, (0, 0, 5), DOWN) is None
    assert pick(np.empty((0, 3), np.float32), (0, 0, 5), DOWN) is None


@pytest.mark.parametrize(("beside", "met"), [(0.039, True), (0.041, False)])
def test_the_reach_is_an_angle(beside, met):
    xyz = np.array([[beside, 0, 0]], np.float32)
    assert (pick(xyz, (0, 0, 10), DOWN, reach=0.004) == 0) is met
    assert pick(xyz, (0, 0, 20), DOWN, reach=0.004) == 0


def test_the_length_of_the_direction_does_not_matter():
    xyz = np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32)
    assert (
        pick(xyz, (0, 0, 9), (0.01, 0, -1), reach=0.05) == pick(xyz, (0, 0, 9), (0.07, 0, -7), reach=0.05) is not None
    )
