import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from point2node.inference.votes import Votes

POINTS = 7


@st.composite
def ballots(draw):
    """Point numbers, some of them repeated and some missing, with the probabilities of each vote."""
    votes, classes = draw(st.integers(0, 40)), draw(st.integers(2, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    coarse = random.integers(1, 4, (votes, classes)).astype(np.float32)  # few values: ties are frequent
    return random.integers(0, POINTS, votes), torch.from_numpy(coarse / coarse.sum(axis=1, keepdims=True)), classes


def gather(case, rule, pieces=1):
    numbers, probabilities, classes = case
    votes = Votes(POINTS, classes, rule)
    for piece in np.array_split(np.arange(len(numbers)), pieces):
        votes.add(numbers[piece], probabilities[torch.from_numpy(piece)])
    return votes


@given(ballots())
def test_the_surest_vote_counts_and_of_equal_ones_the_first(case):
    numbers, probabilities, _ = case
    label, confidence = [-1] * POINTS, [0.0] * POINTS
    for number, one in zip(numbers.tolist(), probabilities.tolist(), strict=True):
        if max(one) > confidence[number]:
            label[number], confidence[number] = one.index(max(one)), max(one)
    votes = gather(case, "max_confidence")
    assert votes.labels.tolist() == label
    assert votes.confidence.tolist() == confidence


@given(ballots())
def test_the_mean_of_all_probabilities_counts(case):
    numbers, probabilities, _ = case
    votes = gather(case, "mean_probability")
    for point in range(POINTS):
        own = probabilities[torch.from_numpy(np.flatnonzero(numbers == point))].double()
        if not len(own):
            assert (votes.labels[point], votes.confidence[point]) == (-1, 0)
            continue
        mean = own.mean(dim=0)
        assert votes.confidence[point] == pytest.approx(mean.max().item(), rel=1e-5)
        assert mean[votes.labels[point]].item() == pytest.approx(mean.max().item(), rel=1e-5)
        entropy = -(mean * mean.log()).sum().item() / math.log(len(mean))
        assert votes.entropy[point] == pytest.approx(entropy, rel=1e-4)


@pytest.mark.parametrize("rule", ["max_confidence", "mean_probability"])
@given(case=ballots(), pieces=st.integers(1, 6))
def test_votes_may_come_in_any_pieces(rule, case, pieces):
    whole, split = gather(case, rule), gather(case, rule, pieces)
    assert np.array_equal(whole.seen, split.seen)
    assert np.array_equal(whole.labels, split.labels)
    np.testing.assert_allclose(whole.confidence, split.confidence, rtol=1e-6)


@pytest.mark.parametrize("rule", ["max_confidence", "mean_probability"])
@given(case=ballots())
def test_points_are_seen_once_they_have_a_vote(rule, case):
    votes = gather(case, rule)
    assert np.array_equal(votes.seen, np.isin(np.arange(POINTS), case[0]))
    assert np.array_equal(votes.labels >= 0, votes.seen)
    assert np.array_equal(votes.confidence > 0, votes.seen)


@given(ballots())
def test_entropy_is_a_share_of_the_largest(case):
    entropy = gather(case, "mean_probability").entropy
    assert ((entropy >= 0) & (entropy <= 1 + 1e-6)).all()


def test_entropy_is_zero_for_certainty_and_one_for_indifference():
    votes = Votes(2, 4, "mean_probability")
    votes.add(np.array([0, 1]), torch.tensor([[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]]))
    np.testing.assert_allclose(votes.entropy, [0, 1], atol=1e-6)


def test_one_prediction_has_no_entropy():
    with pytest.raises(ValueError, match="mean_probability"):
        _ = Votes(1, 2, "max_confidence").entropy


def test_revised_probabilities_take_the_place_of_the_mean():
    votes = Votes(3, 2, "mean_probability")
    votes.add(np.array([0, 0, 1]), torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]]))
    given = []
    votes.revise(lambda mean: given.append(mean) or mean.flip(1))
    np.testing.assert_allclose(given[0], [[0.8, 0.2], [0.4, 0.6], [0, 0]], atol=1e-6)
    assert votes.labels.tolist() == [1, 0, -1]
    np.testing.assert_allclose(votes.confidence, [0.8, 0.6, 0])
    with pytest.raises(ValueError, match="only mean probabilities"):
        Votes(3, 2, "max_confidence").revise(lambda mean: mean)
