import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.inference.strips import cut_strips


@given(st.integers(1, 400), st.integers(1, 500), st.integers(0, 100), st.sampled_from([0.0, 1.0, 10.0]))
def test_every_point_is_a_strips_own_once_with_all_that_is_near_it(points, most, seed, extent):
    xyz = np.random.default_rng(seed).uniform(0, [extent, 2 * extent, 3], (points, 3)).astype(np.float32)
    own = []
    try:
        strips = list(cut_strips(xyz, most, margin=0.5))
    except InputError:
        assert most < points  # all lie within each other's margins, or nearly
        return
    for strip, inside in strips:
        assert len(np.unique(strip)) == len(strip) <= most
        own.append(strip[inside])
        axis = int(np.argmax(np.ptp(xyz[:, :2], axis=0)))
        low, high = xyz[own[-1], axis].min(), xyz[own[-1], axis].max()
        near = np.flatnonzero((xyz[:, axis] > low - 0.49) & (xyz[:, axis] < high + 0.49))
        assert set(near) <= set(strip)
    assert np.array_equal(np.sort(np.concatenate(own)), np.arange(points))


def test_a_scene_that_fits_is_one_strip():
    xyz = np.zeros((5, 3), np.float32)
    ((strip, inside),) = cut_strips(xyz, 5, 1.0)
    assert strip.tolist() == inside.tolist() == [0, 1, 2, 3, 4]


def test_strips_have_about_equally_many_points():
    xyz = np.random.default_rng(0).uniform(0, 10, (1000, 3)).astype(np.float32)
    sizes = [len(inside) for _, inside in cut_strips(xyz, 130, 0.1)]
    assert 9 <= len(sizes) <= 13
    assert max(sizes) <= 1.1 * min(sizes)


def test_margins_count_and_where_they_alone_are_too_many_the_cut_is_refused():
    xyz = np.random.default_rng(0).uniform(0, 5, (3000, 3)).astype(np.float32)
    held = [len(strip) for strip, _ in cut_strips(xyz, 2500, 1.5)]
    assert max(held) <= 2500
    with pytest.raises(InputError, match=r"--memory: expected room for 1,\d+ points at once.*found room for 300"):
        list(cut_strips(xyz, 300, 1.5))
