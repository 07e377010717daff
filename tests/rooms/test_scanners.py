"""The three kinds of scanner, each in whole rooms."""

from __future__ import annotations

import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.rooms import RoomSettings, describe_room, generate_room
from point2node.rooms.generator import at_most_each
from point2node.rooms.scanners import SCANNERS, SHARES_AT_HOME, SHARES_AT_WORK, choose_scanner, with_settings

CEILING, FLOOR, WALL = 0, 1, 2


def rooms(scanner: str, count: int = 6) -> list:
    settings = RoomSettings(
        layouts=("office",), scanners=(scanner,), ray_step=1.2, even=0.05, cut_room=0, lost_patches=0, margin=0
    )
    return [generate_room(11, index, settings=settings) for index in range(count)]


def unevenness(cloud) -> float:
    """Spread over mean of the number of points in the squares of 25 cm of the floor that have any."""
    floor = cloud.xyz[cloud.labels == FLOOR, :2]
    _, counts = np.unique(np.floor(floor / 0.25), axis=0, return_counts=True)
    return counts.std() / counts.mean()


def test_each_room_says_with_what_it_was_scanned():
    for scanner in SCANNERS:
        assert describe_room(0, 3, settings=RoomSettings(scanners=(scanner,))).scanner == scanner


def test_the_scanner_does_not_change_the_room():
    seen = [describe_room(0, 3, settings=RoomSettings(scanners=(scanner,))) for scanner in SCANNERS]
    assert len({(one.layout, one.styles) for one in seen}) == 1


def test_homes_are_scanned_by_hand_more_often_than_offices():
    rng = np.random.default_rng(0)
    at_home, at_work = (
        [choose_scanner(rng, shares, ()) for _ in range(500)].count("handheld")
        for shares in (SHARES_AT_HOME, SHARES_AT_WORK)
    )
    assert at_home > 1.5 * at_work > 0


def test_an_unknown_scanner_is_named():
    with pytest.raises(InputError, match="Did you mean 'laser'"):
        generate_room(0, 0, settings=RoomSettings(scanners=("lasre",)))


def test_settings_replace_what_they_name_and_nothing_else():
    changed = with_settings(SCANNERS["laser"], RoomSettings(ray_step=2.0))
    assert changed.ray_step == 2.0
    assert changed.positions == SCANNERS["laser"].positions


def test_hand_held_scans_lack_most_of_the_ceiling():
    share = {
        name: np.mean([(cloud.labels == CEILING).sum() / (cloud.labels == FLOOR).sum() for cloud in rooms(name, 12)])
        for name in ("panoramic", "handheld")
    }
    assert share["handheld"] < 0.4 * share["panoramic"]


def test_panoramic_scans_are_more_even_than_laser_scans():
    panoramic, laser = (np.mean([unevenness(cloud) for cloud in rooms(name)]) for name in ("panoramic", "laser"))
    assert panoramic < laser


def test_panoramic_surfaces_are_smoother_than_hand_held_ones():
    def roughness(cloud) -> float:
        low = cloud.xyz[cloud.labels == FLOOR]
        _, square = np.unique(np.floor(low[:, :2] / 0.3), axis=0, return_inverse=True)
        square = square.ravel()
        counts = np.bincount(square)
        mean = np.bincount(square, low[:, 2]) / counts
        return float(np.median(np.abs(low[:, 2] - mean[square])))

    panoramic, handheld = (np.median([roughness(cloud) for cloud in rooms(name)]) for name in ("panoramic", "handheld"))
    assert panoramic < 0.6 * handheld


def test_no_object_has_many_more_points_than_the_others():
    numbers = np.repeat(np.arange(4, dtype=np.int32), [10_000, 3_000, 900, 10])
    kept = np.bincount(numbers[at_most_each(np.random.default_rng(0), numbers, 1000)])
    assert np.abs(kept[:2] - 1000).max() < 120
    assert kept[2:].tolist() == [900, 10]
