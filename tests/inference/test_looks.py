import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from point2node.inference.looks import (
    OFFSETS,
    SHARE,
    TURNS,
    Look,
    add_interpolated,
    count_groups,
    looks_of,
    unsure_blocks,
)
from point2node.inference.votes import Votes


def test_best_looks_at_every_point_at_two_offsets_of_two_turns():
    looks = looks_of("best", None, turns=True, every_point=False)
    assert looks == tuple(Look(degrees, offset) for degrees in TURNS[:2] for offset in OFFSETS)
    assert looks_of("best", None, turns=False, every_point=False) == tuple(Look(0.0, offset) for offset in OFFSETS)


@pytest.mark.parametrize("turns", [True, False])
def test_the_other_qualities_are_a_part_of_the_best(turns):
    fast, balanced, best = (
        looks_of(quality, None, turns=turns, every_point=False) for quality in ("fast", "balanced", "best")
    )
    assert balanced[:1] == fast
    assert [(look.degrees, look.offset) for look in balanced] == [(look.degrees, look.offset) for look in best]
    assert [look.share for look in balanced] == [SHARE] * len(best)
    assert [look.everywhere for look in balanced] == [True, *[False] * (len(best) - 1)]


def test_votes_that_are_given_are_cast_everywhere():
    for quality in ("fast", "balanced", "best"):
        turned = looks_of(quality, 3, turns=True, every_point=False)
        assert turned == tuple(Look(degrees, offset) for degrees in TURNS[:3] for offset in OFFSETS)
        assert looks_of(quality, 3, turns=False, every_point=False) == tuple(Look(0.0, one, 3) for one in OFFSETS)


@given(st.integers(1, 5000), st.integers(1, 300), st.sampled_from([1.0, 0.5, 0.25]))
def test_some_group_of_every_block_is_asked_about(size, points, share):
    asked = count_groups(np.zeros(size, np.int64), points, Look(share=share))
    assert 1 <= asked <= -(-size // points)
    assert asked >= share * size / points


def votes_on(probabilities):
    votes = Votes(len(probabilities), probabilities.shape[1], "mean_probability")
    votes.add(np.arange(len(probabilities)), torch.from_numpy(np.float32(probabilities)))
    return votes


def test_blocks_with_enough_unsure_points_are_worth_another_look():
    votes = votes_on(np.where(np.arange(200)[:, None] < 30, [0.6, 0.4], [0.9, 0.1]))
    sure, unsure, mixed, hardly = np.arange(30, 200), np.arange(30), np.arange(200), np.arange(27, 200)
    found = unsure_blocks([sure, unsure, mixed, hardly], votes)
    assert [block.tolist() for block in found] == [unsure.tolist(), mixed.tolist()]
    assert len(unsure_blocks([unsure], votes_on(np.ones((30, 1))))) == 1  # of one class: nothing to be sure of


@given(st.integers(0, 1000))
def test_every_point_of_the_blocks_gets_one_vote_and_others_none(seed):
    random = np.random.default_rng(seed)
    xyz = random.random((60, 3)).astype(np.float32)
    found = Votes(60, 3, "mean_probability")
    blocks = [random.permutation(20), 20 + random.integers(0, 20, 40)]
    asked = np.concatenate([block[: len(block) // 2] for block in blocks])
    found.add(asked, torch.softmax(torch.from_numpy(random.random((len(asked), 3)).astype(np.float32)), dim=1))
    votes = Votes(60, 3, "mean_probability")
    add_interpolated(votes, found, xyz, blocks)
    inside = np.unique(np.concatenate(blocks))
    assert np.array_equal(np.flatnonzero(votes.seen), inside)
    np.testing.assert_allclose(votes.probabilities_of(inside).sum(dim=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(votes.probabilities_of(asked), found.probabilities_of(asked))
