import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.geometry.blocks import BlockRules, cut_blocks, training_group, voting_groups, widen
from point2node.geometry.frames import FRAMES

RULES = BlockRules(side=1.0, grid=0.1, max_points=100)


def room(points, seed=0, extent=(3.0, 2.0, 2.5)):
    return np.random.default_rng(seed).uniform(0, extent, (points, 3))


def cut(xyz, offset=0.0, seed=0, rules=RULES):
    return cut_blocks(xyz, offset, np.random.default_rng(seed), rules)


@given(st.integers(1, 400), st.integers(0, 1000), st.sampled_from([0.0, 0.5]))
@settings(max_examples=30)
def test_every_point_is_in_exactly_one_column_at_least_once(points, seed, offset):
    blocks = cut(room(points, seed), offset)
    assert np.array_equal(np.unique(np.concatenate(blocks)), np.arange(points))
    assert max(map(len, blocks)) <= RULES.max_points


def test_columns_are_counted_from_the_minimum_corner_minus_the_offset():
    xyz = np.array([[0.0, 0, 0], [0.4, 0, 9], [0.6, 0, 0], [1.1, 0, 0]] * 10)
    by_point = {offset: [set(block % 4) for block in cut(xyz, offset)] for offset in (0.0, 0.5)}
    assert by_point[0.0] == [{0, 1, 2}, {3}]
    assert by_point[0.5] == [{0, 1}, {2, 3}]


def test_a_small_block_joins_the_first_large_neighbour_in_the_order_of_the_paper():
    centre = [[1.5, 1.5, 0]] * 5  # fewer than max_points / 10 = 10
    right, above, corner = [[2.5, 1.5, 0]] * 20, [[1.5, 2.5, 0]] * 20, [[0.0, 0.0, 0]] * 20
    xyz = np.array([*centre, *right, *above, *corner], dtype=float)
    groups = [set(block) for block in cut(xyz)]
    assert set(range(5)) | set(range(25, 45)) in groups  # (0, 1) comes before (1, 0)


def test_a_small_block_does_not_join_another_small_one():
    xyz = np.array([[0.5, 0.5, 0]] * 5 + [[1.5, 0.5, 0]] * 5)
    assert [set(block) for block in cut(xyz)] == [set(range(5)), set(range(5, 10))]


def test_small_blocks_do_not_grow_large_enough_to_receive_others():
    xyz = np.array([[0.5, 0.5, 0]] * 9 + [[1.5, 0.5, 0]] * 9 + [[2.5, 0.5, 0]] * 30)
    assert [len(set(block)) for block in cut(xyz)] == [9, 39]


def test_thin_cells_are_repeated_up_to_the_mean_and_dense_cells_stay():
    dense, thin = [[0.05, 0.05, 0.05]] * 28, [[0.55, 0.55, 0.55]] * 3
    (block,) = cut(np.array(dense + thin))  # mean cell: 31 // 2 = 15
    counts = np.bincount(block)
    assert counts[:28].tolist() == [1] * 28
    assert counts[28:].tolist() == [5, 5, 5]


def test_what_cannot_be_repeated_equally_often_differs_by_one():
    (block,) = cut(np.array([[0.05, 0.05, 0.05]] * 18 + [[0.55, 0.55, 0.55]] * 4))  # mean 11 for 4 points
    assert sorted(np.bincount(block)[18:].tolist()) == [2, 3, 3, 3]


def test_large_blocks_are_split_into_equal_parts():
    blocks = cut(np.full((250, 3), 0.5) + room(250, extent=(0.01,) * 3))
    assert [len(block) for block in blocks] == [84, 83, 83]


def test_the_same_generator_cuts_the_same_blocks():
    xyz = room(500)
    assert all(np.array_equal(a, b) for a, b in zip(cut(xyz, seed=3), cut(xyz, seed=3), strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(cut(xyz, seed=3), cut(xyz, seed=4), strict=True))


def test_one_point_and_no_points_are_rooms_too():
    assert [block.tolist() for block in cut(np.zeros((1, 3)))] == [[0]]
    assert cut(np.zeros((0, 3))) == []


def test_map_coordinates_are_cut_as_at_the_origin():
    xyz = np.random.default_rng(0).integers(0, 3000, (300, 3)) / 1024
    far = xyz + np.array([400_000, 5_000_000, 0])
    assert all(np.array_equal(a, b) for a, b in zip(cut(xyz), cut(far), strict=True))


@given(st.integers(1, 300), st.integers(1, 200))
def test_a_training_group_has_every_point_once_before_any_twice(block, points):
    group = training_group(np.arange(block), points, np.random.default_rng(0))
    assert len(group) == points
    assert len(np.unique(group)) == min(block, points)


@given(st.integers(1, 100), st.integers(1, 3))
def test_voting_groups_cover_every_point_equally_often(block, repeat):
    groups = voting_groups(np.arange(block), 25, repeat, np.random.default_rng(0), RULES)
    assert groups.shape == (repeat * 4, 25)
    counts = np.bincount(groups.ravel(), minlength=block)
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("repeat", [1, 3])
@pytest.mark.parametrize("block", [1, 24, 25, 26, 99])
def test_groups_that_are_not_tiled_are_as_few_as_hold_every_point(block, repeat):
    groups = voting_groups(np.arange(block), 25, repeat, np.random.default_rng(0), RULES, tiled=False)
    assert groups.shape == (-(-repeat * block // 25), 25)
    counts = np.bincount(groups.ravel(), minlength=block)
    assert counts.min() >= repeat
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("wrong", [{"side": 0}, {"grid": -1.0}, {"max_points": 0}])
def test_rules_without_extent_are_refused(wrong):
    with pytest.raises(InputError, match="above 0"):
        BlockRules(**wrong)


@given(st.integers(0, 2**32))
def test_in_its_own_frame_a_block_looks_the_same_wherever_it_is(seed):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, 2, (30, 3)).astype(np.float32)
    moved = xyz + np.array([*random.integers(-64, 64, 2), 0], np.float32)
    np.testing.assert_allclose(FRAMES["block"](moved), FRAMES["block"](xyz), atol=2e-5)
    assert np.array_equal(FRAMES["block"](xyz)[:, 2], xyz[:, 2])
    assert FRAMES["room"](xyz) is xyz


@given(st.integers(1, 300), st.floats(0.1, 5000), st.integers(0, 1000))
@settings(max_examples=40)
def test_columns_of_thin_clouds_are_widened_until_they_hold_enough(points, extent, seed):
    xyz = room(points, seed, (extent, extent / 2, 3.0))
    side = widen(RULES, xyz, 64).side
    steps = np.log2(side / RULES.side)
    assert steps == int(steps)
    assert steps >= 0

    def columns(width):
        return len(np.unique(np.floor((xyz[:, :2] - xyz[:, :2].min(axis=0)) / width), axis=0))

    assert columns(side) == 1 or points >= columns(side) * 16
    if steps:
        assert columns(side / 2) > 1
        assert points < columns(side / 2) * 16


def test_dense_rooms_keep_their_columns():
    assert widen(RULES, room(5000), 64) == RULES
