"""Which points are shown."""

import numpy as np
import pytest

from point2node.core.classes import S3DIS, SCANNET
from point2node.show.shown_points import ceiling_cut, spacing, spatial_order, thin, walls_towards
from tests.show.scenes import CEILING, CHAIR, SIZE, box_room


def test_a_room_is_cut_a_little_below_its_ceiling():
    assert ceiling_cut(box_room()) == pytest.approx(0.8 * SIZE[2], abs=0.05)


def test_points_without_a_position_do_not_move_the_cut():
    scene = box_room()
    lost = scene.xyz.copy()
    lost[::10] = np.nan
    assert ceiling_cut(box_room(xyz=lost)) == pytest.approx(ceiling_cut(scene), abs=0.05)


@pytest.mark.parametrize("what", ["no such class", "no such point", "a ceiling on the floor"])
def test_without_a_ceiling_nothing_is_cut(what):
    scene = box_room()
    labels = scene.truth
    if what == "no such point":
        labels = np.where(labels == CEILING, CHAIR, labels)
    if what == "a ceiling on the floor":
        labels = np.where(scene.xyz[:, 2] == 0, CEILING, CHAIR)
    assert ceiling_cut(box_room(labels=labels, classes=SCANNET if what == "no such class" else S3DIS)) is None


@pytest.mark.parametrize(("direction", "axis", "side"), [(0, 0, SIZE[0]), (2, 1, SIZE[1]), (4, 0, 0.0), (6, 1, 0.0)])
def test_the_wall_towards_the_viewer_is_marked_and_no_other(direction, axis, side):
    scene = box_room(20000)
    hidden = walls_towards(scene) >> direction & 1 == 1
    high = scene.xyz[:, 2] > 0.1 * SIZE[2]
    assert hidden[high & (scene.xyz[:, axis] == side)].all()
    assert not hidden[np.abs(scene.xyz[:, axis] - side) > 0.15 * SIZE[2]].any()
    assert not hidden[scene.xyz[:, 2] == 0].any()


def test_without_a_class_called_wall_no_walls_are_marked():
    scene = box_room()
    assert walls_towards(box_room(labels=np.full(len(scene), CHAIR))) is None


def test_a_scene_without_height_has_no_walls_to_mark():
    scene = box_room()
    flat = scene.xyz * [1, 1, 0]
    assert walls_towards(box_room(xyz=flat)) is None


def uneven_square(points=20000):
    """A flat square whose left half is scanned nine times as densely as its right half."""
    random = np.random.default_rng(0)
    xyz = np.concatenate([random.random((points, 2)), random.random((points, 2))[::-1]])
    xyz = xyz[(xyz[:, 0] < 0.5) | (np.arange(len(xyz)) % 9 == 0)]
    return np.column_stack([xyz, np.zeros(len(xyz))])


def test_a_small_cloud_is_left_whole():
    assert np.array_equal(thin(np.random.default_rng(0).random((50, 3)), 50), np.arange(50))


def test_thinning_gives_exactly_as_many_different_points_and_the_same_ones_every_time():
    xyz = uneven_square()
    chosen = thin(xyz, 3000)
    assert len(np.unique(chosen)) == 3000
    assert np.array_equal(chosen, np.sort(chosen))
    assert np.array_equal(chosen, thin(xyz, 3000))


def test_thinning_evens_out_how_densely_surfaces_were_scanned():
    xyz = uneven_square()
    left = (xyz[:, 0] < 0.5).mean()
    chosen = (xyz[thin(xyz, 3000), 0] < 0.5).mean()
    assert left > 0.85
    assert chosen == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("points", [1, 100])
def test_points_at_one_place_can_be_thinned_and_measured(points):
    xyz = np.full((points, 3), 7.0)
    assert len(thin(xyz, 10)) == min(points, 10)
    assert spacing(xyz) > 0
    assert sorted(spatial_order(xyz)) == list(range(points))


def test_spacing_is_about_the_distance_of_neighbours_on_a_surface():
    side = np.arange(0, 1, 0.01)
    x, y = np.meshgrid(side, side)
    xyz = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    assert spacing(xyz) == pytest.approx(0.01, rel=0.1)


def test_the_spatial_order_puts_neighbours_together():
    xyz = np.random.default_rng(0).random((4000, 3))
    order = spatial_order(xyz)
    assert np.array_equal(np.sort(order), np.arange(4000))
    steps = [np.linalg.norm(np.diff(one, axis=0), axis=1).mean() for one in (xyz, xyz[order])]
    assert steps[1] < steps[0] / 5
