import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as theirs

from point2node.evaluation.metrics import Calibration, count_confusion, score, voxel_labels


@st.composite
def labelled_predictions(draw):
    """Truth (−1 for ignored) and prediction of some units, and the number of classes."""
    classes = draw(st.integers(2, 6))
    units = draw(st.integers(0, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random.integers(-1, classes, units), random.integers(0, classes, units), classes


def names(classes):
    return [f"class {number}" for number in range(classes)]


@given(labelled_predictions())
def test_scores_agree_with_scikit_learn(case):
    truth, predicted, classes = case
    confusion = count_confusion(truth, predicted, classes)
    known = truth >= 0
    present = np.unique(truth[known])
    if not len(present):
        assert not confusion.any()
        return
    y, p = truth[known], predicted[known]
    assert np.array_equal(confusion, theirs.confusion_matrix(y, p, labels=range(classes)))
    ours = score(confusion, names(classes))
    assert ours.oa == pytest.approx(theirs.accuracy_score(y, p))
    # balanced accuracy is the mean recall of the classes that the truth holds
    assert ours.macc == pytest.approx(theirs.recall_score(y, p, labels=present, average="macro"))
    iou = theirs.jaccard_score(y, p, labels=present, average=None)
    assert [ours.iou[f"class {number}"] for number in present] == pytest.approx(list(iou))
    assert ours.miou == pytest.approx(iou.mean())


@given(labelled_predictions())
def test_classes_that_the_truth_lacks_are_nan_even_where_they_were_predicted(case):
    truth, predicted, classes = case
    ours = score(count_confusion(truth, predicted, classes), names(classes))
    for number, name in enumerate(names(classes)):
        assert math.isnan(ours.iou[name]) == math.isnan(ours.accuracy[name]) == (number not in truth)


def test_a_case_by_hand():
    truth, predicted = np.array([0, 0, 0, 1, 1, -1, -1]), np.array([0, 0, 1, 1, 2, 0, 3])
    confusion = count_confusion(truth, predicted, 4)
    assert confusion.tolist() == [[2, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    ours = score(confusion, ("a", "b", "c", "d"))
    assert ours.oa == pytest.approx(3 / 5)
    assert (ours.accuracy["a"], ours.accuracy["b"]) == pytest.approx((2 / 3, 1 / 2))
    assert (ours.iou["a"], ours.iou["b"]) == pytest.approx((2 / 3, 1 / 3))
    assert math.isnan(ours.iou["c"])  # predicted once, never true: absent, not 0
    assert math.isnan(ours.iou["d"])
    assert ours.macc == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert ours.miou == pytest.approx((2 / 3 + 1 / 3) / 2)


def test_a_class_that_is_never_found_counts_as_zero():
    ours = score(count_confusion(np.array([0, 1]), np.array([0, 0]), 2), ("a", "b"))
    assert (ours.iou["b"], ours.macc, ours.miou) == (0.0, 0.5, 0.25)


def test_nothing_to_score_is_nan_throughout():
    ours = score(count_confusion(np.array([-1]), np.array([1]), 2), ("a", "b"))
    assert all(math.isnan(value) for value in (ours.oa, ours.macc, ours.miou, *ours.iou.values()))


def naive_voxels(xyz, truth, predicted, side):
    """Each voxel's first label and its most frequent prediction, the lowest of equal ones, in any order."""
    places = np.floor((xyz.astype(float) - xyz.min(axis=0).astype(float)) / side).astype(int)
    voxels = {}
    for place, label, guess in zip(map(tuple, places), truth.tolist(), predicted.tolist(), strict=True):
        voxels.setdefault(place, (label, []))[1].append(guess)
    result = []
    for label, guesses in voxels.values():
        counts = Counter(guesses)
        result.append((label, min(guess for guess in counts if counts[guess] == max(counts.values()))))
    return sorted(result)


@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.sampled_from([np.float32, np.float64]))
def test_voxels_agree_with_a_dictionary_of_them(seed, points, dtype):
    random = np.random.default_rng(seed)
    xyz = (random.integers(0, 6, (points, 3)) * 0.25).astype(dtype)  # on the voxels' borders, exactly
    truth, predicted = random.integers(-1, 3, points), random.integers(0, 3, points)
    ours = voxel_labels(xyz, truth, predicted, 0.5, 3)
    assert sorted(zip(*map(np.ndarray.tolist, ours), strict=True)) == naive_voxels(xyz, truth, predicted, 0.5)


def test_a_voxel_has_its_first_points_label_and_its_points_majority():
    xyz = np.array([[0, 0, 0], [0.01, 0, 0], [0.02, 0, 0], [0.06, 0, 0], [0.07, 0, 0]], np.float32)
    truth, predicted = np.array([2, 0, 0, -1, 1]), np.array([1, 0, 1, 2, 1])
    of_truth, of_prediction = voxel_labels(xyz, truth, predicted, 0.0484, 3)
    assert of_truth.tolist() == [2, -1]  # the second voxel's first point is ignored: so is the voxel
    assert of_prediction.tolist() == [1, 1]  # of 1 and 2, once each, the lower


@given(labelled_predictions(), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_calibration_agrees_with_a_loop_however_it_is_gathered(case, seed, pieces):
    truth, predicted, _ = case
    confidence = np.random.default_rng(seed).uniform(0, 1, len(truth)).astype(np.float32)
    confidence[:1] = 1.0  # the border of the last bin
    calibration = Calibration()
    for piece in np.array_split(np.arange(len(truth)), pieces):
        calibration.add(truth[piece], predicted[piece], confidence[piece])
    bins = {}
    for label, guess, sure in zip(truth, predicted, confidence.astype(float), strict=True):
        if label >= 0:
            bins.setdefault(min(int(sure * 15), 14), []).append((label == guess, sure))
    units = sum(map(len, bins.values()))
    gaps = [abs(np.mean([hit for hit, _ in one]) - np.mean([sure for _, sure in one])) for one in bins.values()]
    expected = sum(len(one) / units * gap for one, gap in zip(bins.values(), gaps, strict=True)) if units else math.nan
    assert calibration.expected_error == pytest.approx(expected, nan_ok=True)
