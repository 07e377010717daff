import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.geometry.boxes import TRIANGLES, UprightBox, turn, upright_box


@given(st.floats(0, math.pi), st.floats(0.5, 3), st.floats(0.2, 0.45), st.integers(0, 1000))
def test_the_box_of_a_turned_box_is_found(yaw, length, width, seed):
    random = np.random.default_rng(seed)
    filled = random.uniform(-0.5, 0.5, (3000, 3)) * [length, width, 1.2]
    corners = np.array([(x, y, 0.0) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]) * [length, width, 1]
    centre = np.array([5e5, -3.0, 1.0])
    box = upright_box(np.concatenate([filled, np.repeat(corners, 20, axis=0)]) @ turn(yaw).T + centre)
    assert box.size == pytest.approx((length, width, 1.2), rel=0.03)
    assert box.centre == pytest.approx(centre, abs=0.03)
    assert abs(math.sin(box.yaw - yaw)) < math.radians(3) * max(1, 0.5 / (length - width + 0.05))


def test_one_point_and_a_line_have_boxes():
    assert upright_box(np.ones((1, 3))).size == (0, 0, 0)
    line = upright_box(np.linspace([0, 0, 0], [0, 2, 0], 500))
    assert line.size == pytest.approx((2, 0, 0), abs=0.02)
    assert line.yaw == pytest.approx(math.pi / 2, abs=0.01)


def test_a_few_strays_do_not_widen_a_box():
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (5000, 3))
    assert max(upright_box(np.concatenate([points, [[30.0, 0, 0]] * 3])).size) < 1.05


def test_corners_enclose_the_box_and_faces_look_outwards():
    box = UprightBox((1, 2, 3), (2, 1, 4), 0.3)
    corners = box.corners
    a, b, c = (corners[TRIANGLES[:, side]] for side in range(3))
    volume = (np.cross(a, b) * c).sum() / 6
    assert volume == pytest.approx(8)
    assert box.is_over(np.array([1, 2, 99]))
    assert not box.is_over(np.array([2.5, 2, 3]))
