import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.report.tables import Summary, best_indices, difference, summarise

percentages = st.floats(0, 100)


def test_mean_and_deviation_by_hand():
    summary = summarise([60.0, 61.0, 65.0])
    assert (summary.mean, summary.count) == (62.0, 3)
    assert summary.deviation == pytest.approx(math.sqrt((4 + 1 + 9) / 2))
    assert summary.words() == "62.00 ± 2.65"


def test_one_measurement_has_no_deviation_and_none_no_summary():
    assert summarise([60.0]) == Summary(60.0, None, 1)
    assert summarise([60.0]).words() == "60.00"
    assert summarise([]) is None
    assert summarise([None, math.nan]) is None


def test_what_was_not_measured_does_not_count():
    assert summarise([None, 60.0, math.nan, 62.0]) == Summary(61.0, pytest.approx(math.sqrt(2)), 2)


@given(st.lists(percentages, min_size=2))
def test_mean_and_deviation_are_numpys(values):
    summary = summarise(values)
    assert summary.mean == pytest.approx(np.mean(values))
    assert summary.deviation == pytest.approx(np.std(values, ddof=1), abs=1e-9)


def test_a_difference_over_the_same_seeds_is_that_of_the_pairs():
    gain = difference({0: 61.0, 1: 64.0}, {1: 61.0, 0: 60.0})
    assert gain.mean == 2.0
    assert gain.words("+") == "+2.00 ± 1.41"


def test_a_difference_leaves_out_seeds_that_only_one_has():
    assert difference({0: 61.0, 1: 65.0, 2: 90.0}, {0: 60.0, 1: 62.0, 7: 1.0}).words("+") == "+2.00 ± 1.41"
    assert difference({0: 61.0, 1: 65.0}, {0: 60.0}) == Summary(1.0, None, 1)


def test_a_difference_without_a_shared_seed_is_that_of_the_means():
    assert difference({0: 61.0, 1: 65.0}, {2: 60.0}) == Summary(3.0, None, 1)
    assert difference({None: 58.0}, {None: 60.0}).words("+") == "−2.00"


@given(st.dictionaries(st.integers(0, 9), percentages, min_size=1))
def test_a_difference_against_itself_is_nothing(scores):
    assert difference(scores, scores).mean == 0


def test_the_best_leaves_nan_out_and_shares_the_place_of_what_looks_alike():
    assert best_indices([1.0, math.nan, 3.0, None]) == {2}
    assert best_indices([3.001, 2.0, 3.004]) == {0, 2}
    assert best_indices([3.0, None]) == frozenset()
    assert best_indices([]) == frozenset()


@given(st.lists(st.none() | percentages | st.just(math.nan)))
def test_nothing_shown_is_better_than_the_best(values):
    places = best_indices(values)
    measured = [value for value in values if value is not None and not math.isnan(value)]
    assert bool(places) == (len(measured) > 1)
    assert all(values[place] >= max(measured) - 0.01 for place in places)
