import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.teaching.spots import best_spot


def tops(*places, points=100):
    """Table tops of 1 m × 1 m, one segment each."""
    random = np.random.default_rng(0)
    flat = random.uniform(0, 1, (points, 3)) * [1, 1, 0]
    xyz = np.concatenate([flat + place for place in places])
    return xyz, np.repeat(np.arange(len(places)), points)


def spot(xyz, segments, entropy, corrected=(), labels=None):
    done = np.isin(segments, corrected)
    labels = np.zeros(len(xyz), np.int64) if labels is None else labels
    return best_spot(xyz, segments, np.asarray(entropy)[segments], labels, done)


def test_the_segment_in_doubt_comes_first_and_its_middle_is_shown():
    xyz, segments = tops([0, 0, 1], [5, 0, 1], [10, 0, 1])
    found = spot(xyz, segments, [0.1, 0.8, 0.3])
    assert found.segment == 1
    assert np.linalg.norm(xyz[found.point] - [5.5, 0.5, 1]) < 0.2


def test_of_two_in_equal_doubt_the_one_unlike_the_corrected_comes_first():
    xyz, segments = tops([0, 0, 1], [0.5, 0, 1], [8, 0, 2.5])
    assert spot(xyz, segments, [0.9, 0.5, 0.5], corrected=[0]).segment == 2


def test_of_two_in_equal_doubt_the_larger_comes_first():
    xyz, segments = tops([0, 0, 1], [5, 0, 1])
    keep = (segments == 1) | (np.arange(len(xyz)) < 30)
    assert spot(xyz[keep], segments[keep], [0.5, 0.5]).segment == 1


def test_another_label_makes_segments_unlike():
    xyz, segments = tops([0, 0, 1], [3, 0, 1], [3, 0.01, 1])
    labels = np.where(segments == 2, 4, 7)
    assert spot(xyz, segments, [0.5, 0.5, 0.5], corrected=[0], labels=labels).segment == 2


def test_after_a_brush_on_a_segment_the_others_come_first_and_then_what_is_left_of_it():
    xyz, segments = tops([0, 0, 1], [5, 0, 1])
    corrected = (segments == 0) & (np.linalg.norm(xyz - [0.5, 0.5, 1], axis=1) < 0.3)
    given = (xyz, segments, np.where(segments == 0, 0.9, 0.1), np.zeros(len(xyz), np.int64))
    assert best_spot(*given, corrected).segment == 1
    found = best_spot(*given, corrected | (segments == 1))
    assert found.segment == 0
    assert not corrected[found.point]


def test_without_doubt_there_is_still_a_spot_and_when_all_is_corrected_there_is_none():
    xyz, segments = tops([0, 0, 1], [5, 0, 1])
    assert spot(xyz, segments, [0, 0]) is not None
    assert spot(xyz, segments, [1, 1], corrected=[0, 1]) is None
    assert best_spot(np.empty((0, 3)), *(np.empty(0, np.int64),) * 3, np.empty(0, bool)) is None


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.integers(1, 12), st.integers(0, 100))
def test_the_spot_is_a_point_of_a_segment_that_is_not_corrected(count, kinds, seed):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, 4, (count, 3)).astype(np.float32)
    segments = np.unique(random.integers(0, kinds, count), return_inverse=True)[1]
    corrected = random.random(count) < 0.4
    found = best_spot(xyz, segments, random.random(count), random.integers(0, 13, count), corrected)
    if found is None:
        shares = np.bincount(segments, corrected) / np.bincount(segments)
        assert (shares > 0.5).all()
    else:
        assert segments[found.point] == found.segment
        assert corrected[segments == found.segment].mean() <= 0.5


def test_clicks_that_follow_each_other_go_to_different_segments():
    places = np.random.default_rng(1).uniform(0, 10, (12, 3))
    xyz, segments = tops(*places)
    doubt, done = np.random.default_rng(2).uniform(0.2, 0.9, 12), []
    while (found := spot(xyz, segments, doubt, corrected=done)) is not None:
        done.append(found.segment)
    assert sorted(done) == list(range(12))


def test_a_spot_that_was_passed_by_comes_after_all_others():
    xyz, segments = tops([0, 0, 1], [5, 0, 1], [10, 0, 1])
    given = (xyz, segments, np.array([0.1, 0.8, 0.3])[segments], np.zeros(len(xyz), np.int64), np.zeros(len(xyz), bool))
    assert best_spot(*given, passed=[1]).segment == 2
    assert best_spot(*given, passed=[1, 2]).segment == 0
    assert best_spot(*given, passed=[0, 1, 2]).segment == 1
