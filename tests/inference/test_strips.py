import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.core.memory import free_memory
from point2node.inference.strips import Demand, cut_strips, plan_memory


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


def held():
    return psutil.Process().memory_info().rss


def test_a_cloud_that_fits_is_labelled_at_once():
    plan = plan_memory(Demand(1_000_000, 1_000_000, 13), held() + 20_000_000_000)
    assert plan.points_at_once == 1_000_000
    assert plan.needed < 2_000_000_000


def test_less_memory_means_smaller_strips():
    plans = [plan_memory(Demand(10_000_000, 10_000_000, 13), held() + size * 10**9) for size in (2, 3, 6)]
    sizes = [plan.points_at_once for plan in plans]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1]
    assert all(plan.needed <= plan.limit - held() + 10**8 for plan in plans)


def test_the_probabilities_that_others_are_interpolated_from_are_planned_for():
    limit = held() + 20_000_000_000
    thinned, whole = (plan_memory(Demand(points, 10**6, 13), limit) for points in (10**7, 10**6))
    assert thinned.needed - 9 * 10**6 * 64 - whole.needed >= 10**6 * 13 * 4


def test_too_little_memory_is_refused_with_what_is_needed():
    with pytest.raises(InputError, match=r"--memory: expected at least \d+\.\d GB for 10,000,000 points, found 0.1 GB"):
        plan_memory(Demand(10_000_000, 10_000_000, 13), 100_000_000)


def test_by_default_a_part_of_what_is_free_is_used():
    plan = plan_memory(Demand(1000, 1000, 13))
    assert plan.limit < held() + psutil.virtual_memory().available


@pytest.mark.parametrize(("allowed", "expected"), [("3000000", 1_500_000), ("1000000", 0)])
def test_a_container_that_allows_less_than_the_machine_has_is_believed(tmp_path, allowed, expected):
    (tmp_path / "memory.max").write_text(allowed + "\n")
    (tmp_path / "memory.current").write_text("2000000\n")
    (tmp_path / "memory.stat").write_text("anon 1500000\ninactive_file 500000\n")
    assert free_memory(tmp_path) == expected


@pytest.mark.parametrize("allowed", ["max", "999999999999999"])
def test_a_container_without_a_limit_leaves_what_the_machine_has(tmp_path, allowed):
    (tmp_path / "memory.max").write_text(allowed + "\n")
    (tmp_path / "memory.current").write_text("2000000\n")
    (tmp_path / "memory.stat").write_text("inactive_file 0\n")
    found = free_memory(tmp_path)
    assert found == pytest.approx(psutil.virtual_memory().available, rel=0.2)
    assert free_memory(tmp_path / "nowhere") == pytest.approx(found, rel=0.2)
