import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.geometry.components import connected_components


def naive(xyz, cell):
    """The same by visiting cell after cell."""
    places = [tuple(place) for place in np.floor((xyz - xyz.min(axis=0)) / cell).astype(int)]
    parts, number = {}, 0
    for start in places:
        if start in parts:
            continue
        waiting = [start]
        parts[start] = number
        while waiting:
            here = np.array(waiting.pop())
            for other in set(places) - parts.keys():
                if np.abs(here - other).max() <= 1:
                    parts[other] = number
                    waiting.append(other)
        number += 1
    return [parts[place] for place in places]


@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from([0.2, 0.5, 1.0]))
def test_parts_are_those_of_the_naive_form(seed, points, cell):
    xyz = np.random.default_rng(seed).uniform(0, 3, (points, 3))
    assert connected_components(xyz, cell).tolist() == naive(xyz, cell)


def test_a_long_chain_is_one_part_in_any_order():
    line = np.arange(5000.0)[:, None] * [0.1, 0.05, 0.02]
    shuffled = np.random.default_rng(0).permutation(line)
    assert not connected_components(shuffled, 0.12).any()


def test_points_nearer_than_a_cell_share_a_part_and_far_ones_do_not():
    xyz = np.array([[0.0, 0, 0], [0.99, 0, 0], [5, 0, 0], [5.5, 0.5, 0.5]])
    assert connected_components(xyz + 1e6, 1.0).tolist() == [0, 0, 1, 1]
    assert connected_components(np.empty((0, 3)), 1.0).tolist() == []


def test_a_grid_that_is_too_fine_is_refused():
    with pytest.raises(ValueError, match="cells"):
        connected_components(np.array([[0.0, 0, 0], [1e6, 0, 0]]), 0.01)
