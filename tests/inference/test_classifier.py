import numpy as np
import pytest
import torch

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.inference.classifier import ShapeClassifier
from point2node.weights.trained import Trained
from tests.inference.labellers import HeightNetwork, card

CUBE = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"


@pytest.fixture(scope="module")
def classifier():
    torch.manual_seed(0)
    names = ("bed", "chair", "desk")
    classes = tuple({"name": name, "value": value, "colour": (0, 0, 0)} for value, name in enumerate(names))
    described = card(task="classification", size="modelnet10", features=(), points=1024, classes=classes)
    return ShapeClassifier(Trained("shapes", described.build(), described, "best"))


def test_every_class_has_a_probability_and_the_likeliest_comes_first(classifier, tmp_path):
    (tmp_path / "a.off").write_text(CUBE)
    guesses = classifier(tmp_path / "a.off")
    assert {guess.name for guess in guesses} == {"bed", "chair", "desk"}
    assert sum(guess.probability for guess in guesses) == pytest.approx(1, abs=1e-5)
    assert [guess.probability for guess in guesses] == sorted((guess.probability for guess in guesses), reverse=True)
    assert classifier(tmp_path / "a.off") == guesses


def test_size_and_place_do_not_matter(classifier):
    xyz = np.random.default_rng(0).normal(size=(2000, 3))
    here, there = classifier(PointCloud(xyz)), classifier(PointCloud(xyz * 1000 + 5e6))
    assert [guess.name for guess in here] == [guess.name for guess in there]
    np.testing.assert_allclose([g.probability for g in here], [g.probability for g in there], atol=1e-3)


@pytest.mark.parametrize("points", [1, 7, 1500])
def test_clouds_of_any_size_are_named(classifier, points):
    assert len(classifier(PointCloud(np.random.default_rng(0).normal(size=(points, 3))), votes=1)) == 3


def test_a_turned_shape_is_put_upright(classifier):
    xyz = np.random.default_rng(0).normal(size=(1200, 3)) * [1, 2, 3]
    upright = classifier(PointCloud(xyz), votes=1)
    lying = classifier(PointCloud(xyz @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])), up="y", votes=1)
    np.testing.assert_allclose([g.probability for g in upright], [g.probability for g in lying], atol=1e-5)


def test_what_cannot_be_named_is_refused(classifier):
    with pytest.raises(InputError, match="all of them NaN"):
        classifier(PointCloud(np.full((4, 3), np.nan)))
    with pytest.raises(InputError, match="up: expected one of"):
        classifier(PointCloud(np.zeros((4, 3))), up="w")
    with pytest.raises(InputError, match="point2node predict"):
        ShapeClassifier(Trained("rooms", HeightNetwork(), card(), "best"))


def test_votes_are_those_of_the_weights_unless_told_otherwise(classifier):
    shape = PointCloud(np.random.default_rng(0).normal(size=(2000, 3)))
    told = classifier.trained.card.votes
    assert classifier(shape) == classifier(shape, votes=told) != classifier(shape, votes=told + 1)
    with pytest.raises(InputError, match="votes: expected 1 or more, found 0"):
        classifier(shape, votes=0)
