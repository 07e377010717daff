import json

import pytest

from point2node.evaluation.protocol import protocol_of
from point2node.evaluation.splits import Part
from point2node.weights.cards import card_of
from point2node.weights.settings import load_preset
from tests.training.stores import quick, write_scenes, write_shapes

KEYS = {
    "task",
    "dataset",
    "split",
    "selection",
    "data",
    "sampling",
    "input",
    "voxel",
    "points",
    "votes",
    "rule",
    "frame",
    "ignored",
    "unit",
    "offsets",
    "block_side",
    "block_grid",
    "block_points",
}


@pytest.fixture(scope="module")
def rooms(tmp_path_factory):
    return write_scenes(tmp_path_factory.mktemp("rooms"), {"test": ("a",)}, ignored=(12,), points=20)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    return write_shapes(tmp_path_factory.mktemp("shapes"))


def test_a_protocol_says_everything_that_must_be_alike(rooms):
    found = protocol_of(card_of(load_preset("s3dis"), rooms), rooms, Part("Area_5", ("room 0",))).as_dict()
    assert set(found) == KEYS
    assert found == json.loads(json.dumps(found))
    assert found["data"] == rooms.checksum
    assert (found["dataset"], found["split"], found["ignored"]) == ("rooms", "Area_5", ["clutter"])
    assert (found["points"], found["votes"], found["rule"], found["unit"]) == (2048, 1, "max_confidence", "point")
    assert (found["block_side"], found["block_grid"], found["block_points"]) == (1.5, 0.03, 8192)
    assert found["offsets"] == [0.0, 0.75]  # FACTS.md §4: "zero" and "half"


def test_voxels_are_the_unit_where_they_are_scored(rooms):
    found = protocol_of(card_of(load_preset("scannet"), rooms), rooms, Part("test", ("room 0",))).as_dict()
    assert (found["unit"], found["voxel"]) == ("voxel 0.0484 m", 0.0484)


def test_votes_and_rule_may_be_chosen(rooms):
    protocol = protocol_of(card_of(quick(), rooms), rooms, Part("test", ("room 0",)), votes=4, rule="max_confidence")
    assert (protocol.votes, protocol.rule) == (4, "max_confidence")


def test_shapes_are_neither_cut_nor_gridded(shapes):
    found = protocol_of(
        card_of(load_preset("modelnet40", ["voxel=0.1"]), shapes), shapes, Part("test", ("room 0",))
    ).as_dict()
    assert set(found) == KEYS
    assert (found["unit"], found["offsets"], found["block_side"], found["voxel"]) == ("shape", [], None, None)


def test_protocols_that_differ_in_anything_differ(rooms):
    card = card_of(quick(), rooms)
    plain = protocol_of(card, rooms, Part("test", ("room 0",)))
    assert plain == protocol_of(card, rooms, Part("test", ("room 0",)))
    others = [
        protocol_of(card, rooms, Part("val", ("room 0",))),
        protocol_of(card, rooms, Part("test", ("room 0",)), votes=2),
    ]
    others += [
        protocol_of(card_of(quick(word), rooms), rooms, Part("test", ("room 0",)))
        for word in ("voxel=0.1", "block_side=1", "points=200")
    ]
    assert all(one != plain and one.as_dict() != plain.as_dict() for one in others)
