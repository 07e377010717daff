"""Fused depth images: planes stay planes, edges become round, waves are smooth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from point2node.rooms.fusion import SWELL_LENGTH, blur_shifts, fuse
from point2node.rooms.materials import Material
from point2node.rooms.scanners import SCANNERS
from point2node.rooms.scanning import Scans, scan
from point2node.rooms.surfaces import Surfaces, box, join, quad

GREY = Material((0.5, 0.5, 0.5))
EYE = np.array([[0.0, 0.0, 1.5]])
EXACT = replace(SCANNERS["laser"], ray_step=0.5, range_noise=(0, 0), pose_error=0, mixed_pixels=0)
WALL = quad((3, -9, -9), (0, 18, 0), (0, 0, 18), GREY)


def look(surfaces: Surfaces) -> tuple[Scans, np.ndarray]:
    scans = scan(np.random.default_rng(0), surfaces, EYE, EXACT)
    return scans, np.flatnonzero(scans.returned)


def test_a_plane_stays_a_plane():
    scans, rays = look(WALL)
    shifts = blur_shifts(rays, scans.faces, scans.slopes, scans.depths, 3, 0.3)
    assert np.abs(shifts).max() < 1e-4


def test_the_edge_of_a_box_becomes_round_and_its_face_stays():
    scans, rays = look(box((1.0, 2.0, 2.0), (0.0, 0.0, 0.5), GREY).turned(0.6).moved((3, 0, 0)))
    shifts = np.linalg.norm(blur_shifts(rays, scans.faces, scans.slopes, scans.depths, 3, 0.1), axis=1)
    assert shifts.max() > 0.004
    assert np.median(shifts) < 1e-4


def test_small_steps_are_bridged_and_large_ones_are_not():
    for step, moved in ((0.1, True), (1.5, False)):
        scans, rays = look(join([WALL, box((0.01, 1.0, 1.0), (3 - step, 0.0, 1.0), GREY)]))
        shifts = blur_shifts(rays, scans.faces, scans.slopes, scans.depths, 2, 0.2)
        assert (np.abs(shifts).max() > 0.01) == moved


def test_waves_bend_a_wall_without_making_it_rough():
    scans, rays = look(WALL)
    scanner = replace(EXACT, swell=(0.02, 0.02))
    moved = fuse(np.random.default_rng(1), scans, rays, scanner) - scans.reported.reshape(-1, 3)[rays]
    assert 0.005 < moved.std(axis=0).max() < 0.05
    places = scans.reported.reshape(-1, 3)[rays]
    near = np.linalg.norm(places - (3, 0, 1.5), axis=1) < SWELL_LENGTH[0] / 100
    assert np.ptp(moved[near], axis=0).max() < 0.02 * 0.2


def test_a_laser_scan_is_not_fused():
    scans, rays = look(WALL)
    assert np.array_equal(fuse(np.random.default_rng(1), scans, rays, EXACT), scans.reported.reshape(-1, 3)[rays])
