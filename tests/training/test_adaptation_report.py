import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.training.adaptation_report import (
    AGREEMENT,
    SURE_AGREEMENT,
    Agreement,
    compare,
    describe_agreement,
    describe_change,
    tell_change,
)
from point2node.training.pseudo_labels import Predictions

NAMES = ("floor", "wall", "door")


def predictions(labels, confidence=None, lengths=None):
    labels = np.asarray(labels)
    confidence = np.full(len(labels), 0.5, np.float32) if confidence is None else np.float32(confidence)
    return Predictions(labels, confidence, lengths or (len(labels),))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=50), st.floats(0.1, 1))
def test_the_same_labels_agree_wholly_and_wholly_other_ones_not_at_all(labels, share):
    before = predictions(labels)
    assert compare(before, before, share) == Agreement(1.0, 1.0)
    assert compare(before, predictions((before.labels + 1) % 3), share) == Agreement(0.0, 0.0)


def test_the_surest_points_of_each_class_count_alike_however_many_there_are():
    labels = np.repeat([0, 1], [90, 10])
    confidence = np.tile(np.linspace(0, 1, 10), 10)
    sure = confidence > 0.75
    after = np.where((labels == 1) & sure, 0, labels)  # all sure points of the rare class are lost
    agreement = compare(predictions(labels, confidence), predictions(after), 0.3)
    assert agreement.sure == pytest.approx(0.5)
    assert agreement.points == pytest.approx(0.97)
    unsure = np.where(~sure, 2, labels)
    assert compare(predictions(labels, confidence), predictions(unsure), 0.3).sure == 1


def test_a_class_of_a_few_points_is_no_part_of_the_mean():
    labels = np.append(np.zeros(999, np.int64), 1)
    assert compare(predictions(labels), predictions(np.zeros(1000, np.int64)), 0.3).sure == 1


@pytest.mark.parametrize(
    ("points", "sure", "diverged"),
    [
        (AGREEMENT, SURE_AGREEMENT, False),
        (AGREEMENT - 0.01, 1.0, True),
        (1.0, SURE_AGREEMENT - 0.01, True),
    ],
)
def test_too_little_agreement_is_divergence(points, sure, diverged):
    agreement = Agreement(points, sure)
    assert agreement.diverged == diverged
    assert describe_agreement(agreement)["diverged"] == diverged


def report_of(before, after, agreement, scans=("a",)):
    change = describe_change(NAMES, scans, before, after)
    return {"change": change, "agreement": describe_agreement(agreement)}


def test_the_change_is_told_by_class_and_scan():
    before = predictions([0, 0, 1, 1, 1, 2], [0.2] * 6, (2, 4))
    after = predictions([0, 0, 1, 1, 0, 0], [0.4, 0.4, 0.8, 0.8, 0.8, 0.8], (2, 4))
    report = report_of(before, after, Agreement(0.9, 0.9), ("a", "b"))
    change = json.loads(json.dumps(report))["change"]
    assert change["changed"] == pytest.approx(2 / 6)
    assert change["classes"]["floor"] == {"before": 2, "after": 4}
    assert change["scans"]["a"]["changed"] == 0
    assert change["scans"]["b"]["changed"] == 0.5
    assert change["scans"]["b"]["confidence"]["after"] == pytest.approx(0.8)
    assert change["lost"] == ["door"]
    lines = tell_change(report)
    assert lines[0] == "33.3% of 6 points changed their label; mean confidence 0.20 → 0.67"
    assert "floor 33.3 → 66.7 %" in lines[1]
    assert "hardly anything is labelled door" in lines[2]


def test_nothing_changed_and_divergence_are_told_too():
    same = predictions([0, 1])
    assert "classes: as before" in tell_change(report_of(same, same, Agreement(1, 1)))
    lines = tell_change(report_of(same, same, Agreement(0.2, 0.3)))
    assert "training diverged: 20% of all points and 30% of the surest kept their label" in lines[0]
    assert "the original weights are kept" in lines[1]
