"""First hits: by hand on a small scene, then against every ray tried with every surface."""

from __future__ import annotations

import math

import numpy as np
import pytest

from point2node.rooms.materials import Material
from point2node.rooms.scanning import CUBE, first_hits, ray_slopes
from point2node.rooms.surfaces import (
    BALL,
    CUSHION,
    DISC,
    QUAD,
    TUBE,
    Surfaces,
    ball,
    box,
    cushion,
    disc,
    drum,
    join,
    quad,
    rod,
)

GREY = Material((0.5, 0.5, 0.5))
EYE = np.array([[0.0, 0.0, 1.5]])
SOFT = 0.002  # metres: how far a ray may stop before a cushion


def naive_hit(surfaces: Surfaces, eye: np.ndarray, direction: np.ndarray) -> tuple[float, int]:
    """Depth and number of the first surface on one ray, by trying all of them."""
    best, number = np.inf, -1
    for p, (kind, origin, frame) in enumerate(zip(surfaces.kind, surfaces.origin, surfaces.frame, strict=True)):
        inverse = np.linalg.inv(frame)
        start, along = (eye - origin) @ inverse, direction @ inverse
        if surfaces.closed[p] and kind == QUAD and start[2] <= 0:
            continue
        if kind in (QUAD, DISC):
            candidates = [-start[2] / along[2]]
        elif kind == CUSHION:
            terms = [np.poly1d([along[axis], start[axis]]) ** int(surfaces.form[p]) for axis in range(3)]
            roots = (terms[0] + terms[1] + terms[2] - 1).roots
            candidates = sorted(roots.real[np.abs(roots.imag) < 1e-9])
        else:
            k = surfaces.form[p] - 1 if kind == TUBE else 0
            signs = np.array([1, 1, -k * k if kind == TUBE else 1])
            a = (signs * along**2).sum()
            b = 2 * (signs * start * along).sum() - 2 * k * along[2]
            c = (signs * start**2).sum() - 2 * k * start[2] - 1
            roots = np.roots([a, b, c])
            candidates = sorted(roots.real[np.abs(roots.imag) < 1e-12])
        for t in candidates:
            x, y, z = start + t * along
            inside = {
                QUAD: 0 <= x <= 1 and 0 <= y <= 1,
                DISC: x * x + y * y <= 1,
                TUBE: 0 <= z <= 1,
                BALL: True,
                CUSHION: True,
            }[kind]
            if 0.05 < t < best and inside:
                best, number = t, p
                break
    return best, number


def random_surfaces(seed: int) -> Surfaces:
    rng = np.random.default_rng(seed)
    parts = [quad((-4, -4, 0), (8, 0, 0), (0, 8, 0), GREY)]
    for _ in range(12):
        place = rng.uniform(-3, 3, 3)
        parts += [
            box(rng.uniform(0.2, 1, 3), place, GREY).turned(rng.uniform(0, 6)),
            ball(rng.uniform(0.1, 0.5, 3), rng.uniform(-3, 3, 3), GREY),
            drum(rng.uniform(0.1, 0.4), rng.uniform(0.2, 1), rng.uniform(-3, 3, 3), GREY, rng.uniform(0.4, 1.6)),
            rod(rng.uniform(-3, 3, 3), rng.uniform(-3, 3, 3), rng.uniform(0.02, 0.3), GREY, rng.uniform(0.5, 1.5)),
            cushion(rng.uniform(0.3, 1.2, 3), rng.uniform(-3, 3, 3), GREY, 2 * int(rng.integers(2, 5))).turned(
                0.4, "x"
            ),
            disc(rng.uniform(0.1, 0.6), rng.uniform(-3, 3, 3), GREY).turned(rng.uniform(0, 6), "x"),
        ]
    return join(parts)


def test_a_wall_behind_a_box_is_in_its_shadow():
    wall = quad((4, -3, 0), (0, 6, 0), (0, 0, 3), GREY)
    scene = join([wall, box((0.5, 1.0, 1.0), (2.0, 0.0, 1.0), GREY)])
    rng = np.random.default_rng(0)
    slopes = ray_slopes(rng, 1.0)
    depths, surface = first_hits(rng, scene, EYE, CUBE[None], slopes)
    on_wall = surface[0, 0] == 0  # face 0 looks along x: right is y, up is z
    y, z = slopes[on_wall, 0] * 4, 1.5 + slopes[on_wall, 1] * 4
    # the front of the box, at 1.75 m, covers |y| ≤ 0.5 and 1 ≤ z ≤ 2; its shadow at 4 m is larger by 4 / 1.75
    in_shadow = (np.abs(y) < 0.5 * 4 / 1.75) & (np.abs(z - 1.5) < 0.5 * 4 / 1.75)
    assert on_wall.sum() > 1000
    assert not in_shadow.any()
    assert np.allclose(depths[0, 0][on_wall], 4, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_first_hits_equal_those_of_trying_every_surface(seed):
    scene = random_surfaces(seed)
    rng = np.random.default_rng(seed)
    slopes = ray_slopes(rng, 6.0)
    depths, surface = first_hits(rng, scene, EYE, CUBE[None], slopes)
    hits = 0
    for side, j, i in rng.integers((0, 0, 0), (6, *slopes.shape[:2]), (300, 3)):
        direction = slopes[j, i, 0] * CUBE[side, 0] + slopes[j, i, 1] * CUBE[side, 1] + CUBE[side, 2]
        depth, number = naive_hit(scene, EYE[0], direction)
        assert surface[0, side, j, i] == number
        assert number < 0 or math.isclose(depths[0, side, j, i], depth, rel_tol=1e-5, abs_tol=SOFT)
        hits += number >= 0
    assert hits > 100


def test_rays_go_through_glass_as_often_as_it_says():
    pane = Material((0.5, 0.5, 0.5), transmission=0.7)
    scene = join([quad((2, -9, -9), (0, 18, 0), (0, 0, 18), pane), quad((3, -9, -9), (0, 18, 0), (0, 0, 18), GREY)])
    rng = np.random.default_rng(0)
    _, surface = first_hits(rng, scene, EYE, CUBE[None], ray_slopes(rng, 0.5))
    assert abs((surface[0, 0] == 1).mean() - 0.7) < 0.01


def test_every_ray_of_a_closed_box_hits_it():
    faces = [quad((-2, -2, z), (4, 0, 0), (0, 4, 0), GREY) for z in (0, 3)]
    faces += [quad((x, -2, 0), (0, 4, 0), (0, 0, 3), GREY) for x in (-2, 2)]
    faces += [quad((-2, y, 0), (4, 0, 0), (0, 0, 3), GREY) for y in (-2, 2)]
    rng = np.random.default_rng(0)
    _, surface = first_hits(rng, join(faces), EYE, CUBE[None], ray_slopes(rng, 0.5))
    assert (surface >= 0).mean() > 0.9999
