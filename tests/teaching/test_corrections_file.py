import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.teaching import corrections_file
from point2node.teaching.corrections import no_corrections
from point2node.teaching.corrections_file import (
    corrections_path,
    dump_corrections,
    read_corrections,
    read_corrections_of,
    write_corrections,
)
from tests.teaching.test_corrections import POINTS, cloud, empty, make, moves


@pytest.fixture
def path(tmp_path):
    return corrections_path(tmp_path / "room.ply")


def test_the_file_lies_beside_the_scan(tmp_path):
    assert corrections_path(tmp_path / "room.ply").name == "room.ply.corrections.json"


@settings(max_examples=60, deadline=None)
@given(moves, st.booleans())
def test_whatever_is_written_is_read_back(tmp_path_factory, made, own):
    corrections = make(made)
    if own:
        corrections = corrections.add_class('grünes Ding "{}"').add('grünes Ding "{}"', [1, 2, 3])
    file = tmp_path_factory.mktemp("corrections") / "a.corrections.json"
    write_corrections(file, corrections)
    assert read_corrections(file) == corrections
    assert dump_corrections(read_corrections(file)) == file.read_text(encoding="utf-8")


def test_a_run_of_a_million_points_takes_a_few_characters():
    many = no_corrections(PointCloud(np.zeros((1_000_000, 3))), S3DIS).add("wall", np.arange(1_000_000))
    assert len(dump_corrections(many)) < 2000


def test_without_a_file_there_are_no_corrections(path):
    assert read_corrections_of(path, empty()) == empty()


def test_corrections_of_another_scan_are_refused_and_nothing_is_changed(path):
    write_corrections(path, empty().add("chair", [1]))
    before = path.read_bytes()
    other = no_corrections(cloud(seed=1), S3DIS)
    with pytest.raises(InputError, match=r"expected corrections of this scan .* found those of another"):
        read_corrections_of(path, other)
    assert path.read_bytes() == before


def test_a_failure_in_the_middle_of_writing_leaves_what_was_there(path, monkeypatch):
    write_corrections(path, empty().add("chair", [1]))
    before = path.read_bytes()

    def fail(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(corrections_file.os, "fsync", fail)
    with pytest.raises(InputError, match="no space left"):
        write_corrections(path, empty().add("table", [2]))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def changed(**keys):
    content = json.loads(dump_corrections(empty().add("chair", [1, 2, 3])))
    return json.dumps({key: value for key, value in (content | keys).items() if value is not None})


def one(**keys):
    return changed(corrections=[{"class": "chair", "points": [1]} | keys])


DAMAGED = {
    "an empty file": (" \n", "found an empty file"),
    "no JSON": ("{", "found no JSON"),
    "a list": ("[]", "found format None"),
    "another format": (changed(format=2), "found format 2"),
    "a true format": (changed(format=True), "found format True"),
    "deep nesting": ("[" * 200_000, "found no JSON"),
    "a missing key": (changed(checksum=None), "expected a valid 'checksum', found nothing"),
    "a further key": (changed(more=1), "expected a valid 'more'"),
    "no classes": (changed(classes=[]), "expected a valid 'classes'"),
    "a class twice": (
        changed(
            classes=[{"name": "a", "value": 0, "colour": [0, 0, 0]}, {"name": "a", "value": 1, "colour": [0, 0, 0]}]
        ),
        "expected a different name for every class",
    ),
    "an unknown class": (one(**{"class": "chairs"}), "correction 1: expected one of .* Did you mean 'chair'"),
    "an index out of range": (one(points=[POINTS]), f"expected indices from 0 to {POINTS - 1}, found {POINTS}"),
    "a run that would fill the memory": (one(points=[[0, 10**15]]), "found 1000000000000000"),
    "a number of a thousand digits": (one(points=[10**1000]), "expected a valid"),
    "indices that descend": (one(points=[3, 2]), "ascending order"),
    "a run backwards": (one(points=[[3, 2]]), "ascending order"),
    "an index below 0": (one(points=[-1]), "expected a valid"),
    "a fraction": (one(points=[0.5]), "expected a valid"),
    "no point": (one(points=[]), "expected a valid"),
    "a text for points": (one(points="all"), "expected a valid"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_is_refused_in_one_line(what, path):
    content, message = DAMAGED[what]
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_corrections(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_huge_file_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr(corrections_file, "LARGEST", 100)
    path.write_text(" " * 101)
    with pytest.raises(InputError, match="of at most"):
        read_corrections(path)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.integers(0, 400), st.integers(0, 20))
def test_any_damage_ends_in_an_input_error_or_in_valid_corrections(tmp_path_factory, noise, place, cut):
    file = tmp_path_factory.mktemp("damage") / "a.corrections.json"
    whole = dump_corrections(empty().add("chair", [1, 2, 3]).add_class("x")).encode()
    file.write_bytes(whole[:place] + noise + whole[place + cut :])
    with suppress(InputError):  # any other exception fails the test
        found = read_corrections(file)
        assert found.class_indices().shape == (found.points,)
