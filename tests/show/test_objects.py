import numpy as np
import pytest

from point2node.core.classes import S3DIS
from point2node.show.objects import Match, find_objects, match_objects
from tests.show import scenes
from tests.show.rooms import PLACES, room

FURNITURE = (
    ("table", (1, 1, 0), (2.5, 1.8, 0.75)),
    ("chair", (1, 2.2, 0), (1.5, 2.7, 0.9)),
    ("chair", (2, 2.2, 0), (2.5, 2.7, 0.9)),
    ("door", (3, 0, 0), (3.9, 0, 2.1)),
    ("clutter", (1.2, 1.2, 0.75), (1.4, 1.4, 0.9)),
)


def test_each_piece_of_furniture_becomes_one_object_with_its_box():
    scene, _ = room(objects=FURNITURE, yaw=0.4, offset=(5e5, 2e6, 30))
    objects = find_objects(scene)
    assert [one.name for one in objects] == ["door_01", "table_01", "chair_01", "chair_02"]
    sizes = [one.box.size for one in objects]
    assert sizes[1] == pytest.approx((1.5, 0.8, 0.75), abs=0.05)
    assert sizes[0] == pytest.approx((0.9, 0, 2.1), abs=0.05)
    assert all(one.confidence == pytest.approx(0.75) for one in objects)
    assert objects[1].box.yaw == pytest.approx(0.4, abs=0.03)


def test_parts_above_one_another_are_one_object_and_specks_are_none():
    chair = [("chair", (1, 1, 0), (1.5, 1.5, 0.1)), ("chair", (1, 1, 0.5), (1.5, 1.5, 0.9))]
    speck = [("chair", (3, 3, 0), (3.05, 3.05, 0.05))]
    (found,) = find_objects(room(objects=[*chair, *speck])[0])
    assert found.box.size[2] == pytest.approx(0.9, abs=0.05)


def test_found_objects_are_matched_with_true_ones_by_class():
    scene, instances = room(objects=FURNITURE)
    matches = match_objects(find_objects(scene), scene.classes, scene.labels, instances)
    assert matches["chair"] == Match(2, 2, 2)
    assert matches["sofa"] == Match(0, 0, 0)
    assert "clutter" not in matches
    assert np.isnan(matches["sofa"].precision)


def test_half_an_object_or_one_of_another_class_does_not_match():
    scene, instances = room(objects=FURNITURE)
    truth = scene.labels.copy()
    labels = scene.labels.copy()
    labels[(labels == PLACES["table"]) & (scene.xyz[:, 0] < 1.9)] = PLACES["clutter"]  # 40 % are left
    labels[labels == PLACES["door"]] = PLACES["board"]
    found = find_objects(scenes.scene("room", scene.xyz, S3DIS, labels))
    matches = match_objects(found, S3DIS, truth, instances)
    assert matches["table"] == Match(1, 1, 0)
    assert matches["door"] == Match(1, 0, 0)
    assert matches["board"] == Match(0, 1, 0)
    assert matches["board"].precision == 0


@pytest.mark.parametrize("points", [0, 1, 3])
def test_scenes_with_hardly_any_point_have_no_objects(points):
    scene = scenes.scene("few", np.zeros((points, 3)), S3DIS, np.full(points, PLACES["chair"]))
    assert find_objects(scene) == []
