import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.inference.labelled import LabelledCloud
from point2node.teaching.corrections import Corrections, apply_corrections, checksum_points, no_corrections

POINTS = 40
NAMES = [one.name for one in S3DIS]

clicks = st.tuples(st.sampled_from(NAMES), st.lists(st.integers(0, POINTS - 1), min_size=1, max_size=POINTS))
moves = st.lists(st.one_of(clicks, st.just("undo"), st.just("redo")), max_size=30)


def cloud(points=POINTS, seed=0):
    return PointCloud(np.random.default_rng(seed).uniform(0, 3, (points, 3)))


def empty():
    return no_corrections(cloud(), S3DIS)


def make(moves_made) -> Corrections:
    corrections = empty()
    for move in moves_made:
        if move == "undo":
            corrections = corrections.undo()
        elif move == "redo":
            corrections = corrections.redo()
        else:
            corrections = corrections.add(*move)
    return corrections


def test_a_later_correction_of_the_same_point_wins():
    corrections = empty().add("chair", [3, 4]).add("table", [4, 5])
    assert corrections.class_indices()[[2, 3, 4, 5]].tolist() == [-1, 8, 7, 7]


@settings(max_examples=50, deadline=None)
@given(moves, clicks)
def test_undo_takes_back_one_correction_and_redo_brings_it_back(before, click):
    start = make(before)
    changed = start.add(*click)
    assert changed.undo().done == start.done
    assert changed.undo().redo().done == changed.done
    assert np.array_equal(changed.undo().class_indices(), start.class_indices())


@settings(max_examples=50, deadline=None)
@given(moves)
def test_undoing_everything_and_redoing_everything_changes_nothing(made):
    corrections = make(made)
    back = corrections
    while back.done:
        back = back.undo()
    assert (back.class_indices() == -1).all()
    while back.undone:
        back = back.redo()
    assert back.done == (*corrections.done, *reversed(corrections.undone))


def test_a_new_correction_forgets_what_was_undone():
    corrections = empty().add("chair", [1]).undo().add("table", [2])
    assert corrections.redo() is corrections
    assert [one.name for one in corrections.done] == ["table"]


def test_undo_and_redo_without_anything_to_do_change_nothing():
    assert empty().undo() == empty() == empty().redo()


def test_an_own_class_gets_a_free_value_and_can_be_used():
    corrections = empty().add_class("  fire   extinguisher ").add("fire extinguisher", [0])
    assert corrections.classes[-1].name == "fire extinguisher"
    assert corrections.classes[-1].value == 13
    assert corrections.class_indices()[0] == 13


@pytest.mark.parametrize("name", ["", "  ", "chair", "x" * 61, "a\x00b"])
def test_a_class_that_has_no_name_or_is_there_already_is_refused(name):
    with pytest.raises(InputError, match="class: expected"):
        empty().add_class(name)


def test_an_unknown_class_is_refused_and_the_nearest_is_suggested():
    with pytest.raises(InputError, match="Did you mean 'chair'"):
        empty().add("chairs", [1])


@pytest.mark.parametrize("indices", [[], [-1], [POINTS], [0.5], [[1]]])
def test_points_that_the_scan_does_not_have_are_refused(indices):
    with pytest.raises(InputError, match="points: expected"):
        empty().add("chair", indices)


def test_classes_of_other_weights_come_first_and_own_ones_stay():
    corrections = empty().add_class("plant").add("plant", [7])
    other = corrections.with_classes(S3DIS[:5])
    assert other.class_names[:5] == tuple(NAMES[:5])
    assert other.class_names[-1] == "plant"
    assert other.class_names[other.class_indices()[7]] == "plant"


def test_the_checksum_is_that_of_the_points_in_their_order():
    assert checksum_points(cloud()) == checksum_points(cloud())
    assert checksum_points(cloud()) != checksum_points(cloud(seed=1))
    turned = PointCloud(cloud().xyz[::-1])
    assert checksum_points(cloud()) != checksum_points(turned)


def labelled():
    count = len(cloud())
    return LabelledCloud(
        PointCloud(cloud().xyz), np.zeros(count, np.int32), np.full(count, 0.4, np.float32),
        np.full(count, 0.9, np.float32), S3DIS, "w",
    )  # fmt: skip


def test_corrections_over_labels_are_certain_and_the_rest_stays():
    corrected = apply_corrections(labelled(), empty().add_class("plant").add("plant", [3]).add("chair", [4, 5]))
    assert corrected.labels[:7].tolist() == [0, 0, 0, 13, 8, 8, 0]
    assert corrected.classes[-1].name == "plant"
    assert corrected.confidence[[3, 6]].tolist() == pytest.approx([1.0, 0.4])
    assert corrected.entropy[[3, 6]].tolist() == pytest.approx([0.0, 0.9])
    assert corrected.counts["plant"] == 1


def test_without_corrections_the_labels_are_as_they_were():
    plain = apply_corrections(labelled(), empty().add_class("plant"))
    assert plain.classes == S3DIS
    assert np.array_equal(plain.labels, labelled().labels)
