import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from point2node.core.classes import SCANNET
from point2node.core.errors import InputError
from point2node.data.features import stored_features
from point2node.evaluation.evaluate import Evaluation, ScoredPart, evaluate, vote_on_stored_scene
from point2node.evaluation.metrics import count_confusion, voxel_labels
from point2node.evaluation.protocol import protocol_of
from point2node.evaluation.splits import Part, find_part
from point2node.geometry.frames import place
from point2node.inference.labeller import Options
from point2node.weights.cards import card_of
from tests.inference.labellers import real_labeller
from tests.training.stores import SHAPE_CLASSES, quick, random_cloud, write_scenes, write_shapes
from tests.training.stubs import PlaceNetwork

NAMES = ("one", "ten", "many", "more", "last")
SIZES = (1, 10, 2500, 300, 40)


@pytest.fixture(scope="module")
def rooms(tmp_path_factory):
    clouds = {name: random_cloud(size, size) for name, size in zip(NAMES, SIZES, strict=True)}
    return write_scenes(tmp_path_factory.mktemp("rooms"), {"test": NAMES}, ignored=(12,), clouds=clouds)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    return write_shapes(tmp_path_factory.mktemp("shapes"), ignored=(SHAPE_CLASSES[2].value,))


def score_rooms(store, names=NAMES, share=(0, 1), **changes):
    protocol = replace(protocol_of(card_of(quick("points=64"), store), store, Part("test", ("room 0",))), **changes)
    network = PlaceNetwork(len(store.classes))
    return evaluate(network, ScoredPart(store, Part("test", names), protocol, (), share))


def score_shapes(store, share=(0, 1), **changes):
    card = card_of(quick("points=32", "classes=null", "features=[]"), store)
    protocol = replace(protocol_of(card, store, Part("test", ("room 0",))), **changes)
    network = PlaceNetwork(len(store.classes), "classification")
    return evaluate(network, ScoredPart(store, find_part(None, store, "test"), protocol, (), share))


@pytest.mark.parametrize("rule", ["max_confidence", "mean_probability"])
def test_every_labelled_point_of_every_scene_is_counted_once(rooms, rule):
    found = score_rooms(rooms, rule=rule)
    labels = np.concatenate([rooms.number_labels(rooms.arrays(name)["labels"]) for name in NAMES])
    assert found.confusion.sum() == (labels >= 0).sum() < sum(SIZES)
    assert np.array_equal(found.confusion.sum(axis=1), np.bincount(labels[labels >= 0], minlength=13))
    assert found.as_dict()["units"] == (labels >= 0).sum()


@pytest.mark.parametrize("changes", [{}, {"voxel": 0.4}, {"rule": "max_confidence", "votes": 2}])
@pytest.mark.parametrize("processes", [2, 3, 7])
def test_shares_of_the_scenes_add_up_to_the_whole(rooms, changes, processes):
    whole = score_rooms(rooms, **changes)
    parts = [score_rooms(rooms, share=(number, processes), **changes) for number in range(processes)]
    assert np.array_equal(sum(part.confusion for part in parts), whole.confusion)
    np.testing.assert_allclose(sum(part.calibration.counts for part in parts), whole.calibration.counts)


def test_a_scene_scores_the_same_whatever_else_is_scored(rooms):
    one_by_one = [score_rooms(rooms, (name,)).confusion for name in reversed(NAMES)]
    assert np.array_equal(sum(one_by_one), score_rooms(rooms).confusion)


@pytest.mark.parametrize("processes", [2, 5, 9])
def test_shares_of_the_shapes_add_up_to_the_whole(shapes, processes):
    whole = score_shapes(shapes, votes=2)
    parts = [score_shapes(shapes, (number, processes), votes=2) for number in range(processes)]
    assert np.array_equal(sum(part.confusion for part in parts), whole.confusion)
    assert np.array_equal(sum(part.single_vote for part in parts), whole.single_vote)
    assert whole.confusion.sum() == 5  # the two desks are ignored


def test_scores_follow_from_the_votes_of_each_scene(rooms):
    part = Part("test", ("many",))
    scored = ScoredPart(rooms, part, protocol_of(card_of(quick("points=64"), rooms), rooms, part), ())
    votes = vote_on_stored_scene(PlaceNetwork(13).eval(), scored, "many")
    truth = rooms.number_labels(rooms.arrays("many")["labels"])
    assert np.array_equal(score_rooms(rooms, ("many",)).confusion, count_confusion(truth, votes.labels, 13))


def test_voxels_are_scored_where_the_protocol_says_so(rooms):
    part = Part("test", ("many",))
    scored = ScoredPart(rooms, part, protocol_of(card_of(quick("points=64"), rooms), rooms, part), ())
    votes = vote_on_stored_scene(PlaceNetwork(13).eval(), scored, "many")
    truth = rooms.number_labels(rooms.arrays("many")["labels"])
    voxels = voxel_labels(np.asarray(rooms.arrays("many")["xyz"]), truth, votes.labels, 0.4, 13)
    found = score_rooms(rooms, ("many",), voxel=0.4)
    assert np.array_equal(found.confusion, count_confusion(*voxels, 13))
    assert found.as_dict()["ece"] is None  # a voxel has no confidence
    assert found.confusion.sum() < 500


def test_unannotated_points_of_scannet_are_left_out(tmp_path):
    cloud = random_cloud(50, classes=SCANNET).with_(labels=np.repeat([0, 3], [30, 20]))
    store = write_scenes(tmp_path / "store", {"test": ("a",)}, classes=SCANNET, ignored=(0,), clouds={"a": cloud})
    found = score_rooms(store, ("a",)).as_dict()
    assert found["units"] == 20
    assert found["iou"]["unannotated"] is None
    assert found["protocol"]["ignored"] == ["unannotated"]


def test_a_single_vote_stands_beside_several(shapes):
    once, often = score_shapes(shapes, votes=1), score_shapes(shapes, votes=4)
    assert once.single_vote is None
    assert "single_vote" not in once.as_dict()
    assert np.array_equal(often.single_vote, once.confusion)
    expected = {"oa": once.scores.oa, "macc": once.scores.macc}
    assert often.as_dict()["single_vote"] == pytest.approx(expected)


def test_a_result_is_json_with_null_for_nan(rooms):
    found = score_rooms(rooms).as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {"oa", "macc", "miou", "iou", "accuracy", "confusion", "units", "classes", "protocol", "ece"} <= set(found)
    assert found["iou"]["clutter"] is None
    assert list(found["iou"]) == found["classes"] == [one.name for one in rooms.classes]
    assert 0 <= found["miou"] <= found["macc"] <= 1
    assert 0 <= found["ece"] <= 1


def test_nothing_to_score_gives_null_throughout(rooms):
    protocol = protocol_of(card_of(quick(), rooms), rooms, Part("test", ("room 0",)))
    found = Evaluation(("a", "b"), protocol, np.zeros((2, 2), np.int64)).as_dict()
    assert (found["oa"], found["macc"], found["miou"], found["iou"]) == (None, None, None, {"a": None, "b": None})


def test_calibration_belongs_to_mean_probability(rooms):
    assert score_rooms(rooms, rule="max_confidence").as_dict()["ece"] is None
    assert not math.isnan(score_rooms(rooms).calibration.expected_error)


def test_the_network_is_left_in_the_mode_it_was_in(rooms):
    protocol = protocol_of(card_of(quick("points=64"), rooms), rooms, Part("test", ("room 0",)))
    for training in (True, False):
        network = PlaceNetwork(13).train(training)
        evaluate(network, ScoredPart(rooms, Part("test", ("ten",)), protocol, ()))
        assert network.training is training


def test_scenes_without_labels_are_refused_before_anything_is_scored(tmp_path):
    clouds = {"labelled": random_cloud(), "plain": random_cloud().with_(labels=None)}
    store = write_scenes(tmp_path / "store", {"test": tuple(clouds)}, clouds=clouds)
    protocol = protocol_of(card_of(quick(), store), store, Part("test", tuple(clouds)))
    with pytest.raises(InputError, match="scene 'plain': expected labels"):
        evaluate(PlaceNetwork(13), ScoredPart(store, Part("test", tuple(clouds)), protocol, ()))


def test_a_scene_scores_by_the_features_that_users_scans_get(tmp_path):
    cloud = random_cloud(600)
    store = write_scenes(tmp_path / "store", {"test": ("a",)}, clouds={"a": cloud})
    labeller = real_labeller(features=("relative_rgb", "normals", "height"), block_grid=0.03)
    described = stored_features(store, "a", labeller.trained.card.features, store.block_cache)
    placement = place(cloud)
    numbers = np.arange(600)
    stored = described.of(numbers, np.asarray(store.arrays("a")["xyz"]))
    np.testing.assert_allclose(stored, labeller.scene(placement, cloud, Options()).features(numbers), atol=1e-5)


def test_a_scene_without_colour_scores_as_a_grey_one(tmp_path):
    class Brightness(PlaceNetwork):
        """Sure of class 1 where a point has any colour, of class 0 where it is grey."""

        def forward(self, features, pyramid):
            bright = (features.abs().sum(dim=-1) > 0.01).long()
            return torch.nn.functional.one_hot(bright, 13).float()

    cloud = random_cloud(200).with_(labels=np.zeros(200, np.int32))
    clouds = {"colour": cloud, "none": cloud.with_(rgb=None)}
    store = write_scenes(tmp_path / "store", {"test": tuple(clouds)}, clouds=clouds)
    for name, right in (("none", 1.0), ("colour", 0.0)):
        part = Part("test", (name,))
        protocol = protocol_of(card_of(quick("points=64"), store), store, part)
        assert evaluate(Brightness(13), ScoredPart(store, part, protocol, ("rgb",))).scores.oa == right


def test_progress_is_reported_scene_by_scene_and_vote_by_vote(rooms, shapes):
    lines = []
    protocol = protocol_of(card_of(quick("points=64"), rooms), rooms, Part("test", ("room 0",)))
    scored = ScoredPart(rooms, Part("test", ("one", "ten")), protocol, ())
    evaluate(PlaceNetwork(13), scored, lambda *line: lines.append(line))
    assert lines == [(1, 2, "one"), (2, 2, "ten")]
