import psutil
import pytest

from point2node.core.errors import InputError
from point2node.core.memory import free_memory
from point2node.inference.memory import plan_memory


def held():
    return psutil.Process().memory_info().rss


def test_a_cloud_that_fits_is_labelled_at_once():
    plan = plan_memory(1_000_000, 1_000_000, 13, held() + 20_000_000_000)
    assert plan.points_at_once == 1_000_000
    assert plan.needed < 2_000_000_000


def test_less_memory_means_smaller_strips():
    plans = [plan_memory(10_000_000, 10_000_000, 13, held() + size * 10**9) for size in (2, 3, 6)]
    sizes = [plan.points_at_once for plan in plans]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1]
    assert all(plan.needed <= plan.limit - held() + 10**8 for plan in plans)


def test_too_little_memory_is_refused_with_what_is_needed():
    with pytest.raises(InputError, match=r"--memory: expected at least \d+\.\d GB for 10,000,000 points, found 0.1 GB"):
        plan_memory(10_000_000, 10_000_000, 13, 100_000_000)


def test_by_default_a_part_of_what_is_free_is_used():
    plan = plan_memory(1000, 1000, 13)
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
