"""One point in each cube."""

from __future__ import annotations

import numpy as np

from point2node.rooms.return_kernels import TURN, first_in_each_cube

LOW, HIGH = np.array([0.0, 0.0, 0.0]), np.array([4.0, 3.0, 2.0])


def test_the_first_point_of_each_cube_is_kept():
    xyz = np.random.default_rng(0).uniform(LOW, HIGH, (5000, 3)).astype(np.float32)
    valid = np.random.default_rng(1).uniform(size=5000) < 0.8
    kept = first_in_each_cube(xyz, valid, LOW, HIGH, 0.25)

    cos, sin = np.cos(TURN), np.sin(TURN)
    x, y, z = xyz[valid].astype(float).T
    low_x, low_y = cos * LOW[0] + sin * LOW[1], cos * LOW[1] - sin * HIGH[0]
    cubes = np.floor(np.stack([cos * x + sin * y - low_x, cos * y - sin * x - low_y, z]) / 0.25)
    _, first = np.unique(cubes, axis=1, return_index=True)
    assert np.array_equal(kept, np.flatnonzero(valid)[np.sort(first)])


def test_points_outside_the_corners_are_dropped():
    xyz = np.array([[1, 1, 1], [5, 1, 1], [1, -1, 1], [1, 1, 2.5]], np.float32)
    assert first_in_each_cube(xyz, np.ones(4, bool), LOW, HIGH, 0.1).tolist() == [0]
