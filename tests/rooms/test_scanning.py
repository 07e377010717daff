"""What a scanner reports: fewer points far away, noisy ranges, mixed pixels, missing returns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from point2node.rooms.floor_plan import FloorPlan, Footprint, rectangle
from point2node.rooms.materials import Material
from point2node.rooms.scanners import SCANNERS, Scanner
from point2node.rooms.scanning import PICTURE, Scans, _drift, choose_positions, scan
from point2node.rooms.surfaces import Surfaces, box, join, quad

GREY = Material((0.5, 0.5, 0.5))
EYE = np.array([[0.0, 0.0, 1.5]])
EXACT = replace(SCANNERS["laser"], ray_step=0.5, range_noise=(0, 0), pose_error=0, mixed_pixels=0)
FLOOR = quad((-20, -20, 0), (40, 0, 0), (0, 40, 0), GREY)


def look(surfaces: Surfaces, scanner: Scanner = EXACT) -> tuple[Scans, np.ndarray]:
    scans = scan(np.random.default_rng(0), surfaces, EYE, scanner)
    return scans, scans.reported[scans.returned]


def test_density_falls_with_distance():
    _, places = look(FLOOR)
    distance = np.hypot(places[:, 0], places[:, 1])
    edges = np.array([2, 3, 4, 6, 8])
    counts, _ = np.histogram(distance, edges)
    density = counts / (np.pi * np.diff(edges**2))
    assert (np.diff(density) < 0).all()
    # one over the square of the range, times the cosine of the incidence: 1.5 / range³ on a floor 1.5 m below
    assert 12 < density[0] / density[-1] < 18


def test_the_tripod_hides_the_floor_below_it():
    _, places = look(FLOOR)
    assert np.hypot(places[:, 0], places[:, 1]).min() > 0.2


def test_range_noise_grows_with_distance():
    walls = [quad((x, -30, -30), (0, 60, 0), (0, 0, 60), GREY) for x in (2, -10)]
    _, places = look(join(walls), replace(EXACT, range_noise=(0.002, 0.002)))
    ahead = np.abs(places[:, 1]) < 0.5
    near, far = places[ahead & (places[:, 0] > 0), 0], places[ahead & (places[:, 0] < 0), 0]
    assert 0.002 < near.std() < 0.006
    assert near.std() < far.std() < 0.05


def test_mixed_pixels_hang_between_foreground_and_background():
    scene = join([quad((3, -9, -9), (0, 18, 0), (0, 0, 18), GREY), box((0.2, 1, 1), (2.0, 0, 1), GREY)])
    between = []
    for mixed in (0.0, 1.0):
        _, places = look(scene, replace(EXACT, mixed_pixels=mixed))
        between.append(((places[:, 0] > 2.15) & (places[:, 0] < 2.9) & (np.abs(places[:, 1]) < 0.8)).mean())
    assert between[0] == 0
    assert 0 < between[1] < 0.05


def test_dark_surfaces_return_fewer_rays():
    dark = Material((0.05, 0.05, 0.05), absorption=0.6)
    scans, _ = look(join([quad((2, -1, 0.5), (0, 2, 0), (0, 0, 2), material) for material in (dark,)]))
    hit = scans.surface >= 0
    assert abs(scans.returned[hit].mean() - 0.4) < 0.02


def test_positions_keep_clear_of_furniture_and_of_each_other():
    plan = FloorPlan(rectangle(6, 4))
    plan.take(Footprint(2, 2, 1.5, 1.0))
    for seed in range(10):
        positions = choose_positions(np.random.default_rng(seed), plan, replace(EXACT, positions=(3, 5)))
        assert 3 <= len(positions) <= 5
        assert ((positions[:, 2] >= 1.2) & (positions[:, 2] <= 1.9)).all()
        gaps = np.linalg.norm(positions[:, None, :2] - positions[None, :, :2], axis=2)
        assert gaps[np.triu_indices(len(positions), 1)].min() > 0.5
        for x, y, _ in positions:
            assert plan.is_free(Footprint(x, y, 0.2, 0.2))


def test_nothing_beyond_the_reach_returns():
    _, places = look(FLOOR, replace(EXACT, reach=(4.0, 4.0)))
    assert np.linalg.norm(places - EYE, axis=1).max() <= 4.0


def test_a_camera_in_the_hand_sees_only_its_pictures():
    scanner = replace(EXACT, views=4, reach=(30.0, 30.0))
    scans, places = look(join([FLOOR, quad((-20, -20, 9), (40, 0, 0), (0, 40, 0), GREY)]), scanner)
    assert scans.faces.shape == (1, 4, 3, 3)
    assert np.allclose(scans.faces[0] @ scans.faces[0].transpose(0, 2, 1), np.eye(3), atol=1e-9)
    offset = places - EYE[0]
    right, up, forward = (offset @ scans.faces[0, :, axis].T for axis in range(3))
    pixel = 2 / len(scans.slopes)
    in_view = (
        (forward > 0) & (np.abs(right / forward) < PICTURE[0] + pixel) & (np.abs(up / forward) < PICTURE[1] + pixel)
    )
    assert in_view.any(axis=1).all()
    assert 0 < (scans.surface >= 0).mean() < PICTURE[0] * PICTURE[1] * 1.6


def test_drift_adds_up_along_the_way():
    ends = np.array([_drift(np.random.default_rng(seed), 16, 0.003)[[0, -1]] for seed in range(200)])
    first, last = np.abs(ends).mean(axis=(0, 2))
    assert 2 < last / first < 8  # a random walk of 16 steps: 4
