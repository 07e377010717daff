"""Surfaces: where they are and which way they face."""

from __future__ import annotations

import math

import numpy as np

from point2node.rooms.materials import Material
from point2node.rooms.surfaces import ball, box, cushion, disc, drum, join, quad, rod

GREY = Material((0.5, 0.5, 0.5))


def test_bounds_are_those_of_the_shape():
    low, high = box((2, 4, 1), (1, 0, 3), GREY).bounds()
    assert np.allclose([low, high], [[0, -2, 3], [2, 2, 4]])
    low, high = ball((1, 2, 3), (0, 0, 0), GREY).bounds()
    assert np.allclose([low, high], [[-1, -2, -3], [1, 2, 3]])
    low, high = cushion((2, 4, 1), (1, 0, 3), GREY, 6).bounds()
    assert np.allclose([low, high], [[0, -2, 3], [2, 2, 4]])
    low, high = drum(0.5, 2, (0, 0, 1), GREY, taper=2.0).bounds()
    assert np.allclose([low, high], [[-1, -1, 1], [1, 1, 3]])


def test_every_face_of_a_box_looks_outwards():
    body = box((2, 4, 1), (0, 0, -0.5), GREY)
    middles = body.origin + (body.frame[:, 0] + body.frame[:, 1]) / 2
    assert ((middles * body.frame[:, 2]).sum(axis=1) > 0).all()


def test_a_rod_goes_from_its_start_to_its_end():
    pole = rod((1, 2, 3), (4, 2, 3), 0.1, GREY)
    assert np.allclose(pole.origin[0] + pole.frame[0, 2], (4, 2, 3))
    assert np.allclose(pole.frame[0] @ pole.frame[0].T, np.diag([0.01, 0.01, 9]))


def test_turning_is_counter_clockwise_about_each_axis():
    for axis, start, end in (("x", (0, 1, 0), (0, 0, 1)), ("y", (0, 0, 1), (1, 0, 0)), ("z", (1, 0, 0), (0, 1, 0))):
        assert np.allclose(disc(1, start, GREY).turned(math.pi / 2, axis).origin, end)


def test_joining_keeps_every_surface_in_order():
    parts = [quad((n, 0, 0), (1, 0, 0), (0, 1, 0), GREY) for n in range(3)]
    assert join(parts).origin[:, 0].tolist() == [0, 1, 2]
