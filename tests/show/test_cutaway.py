import numpy as np
import pytest

from point2node.core.classes import S3DIS, SCANNET
from point2node.show.cutaway import ceiling_cut, walls_towards
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
