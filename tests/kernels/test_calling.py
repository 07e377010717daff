import subprocess
import sys

import numba
import pytest
import torch

from point2node.geometry import neighbours, sampling
from point2node.kernels.calling import exportable, in_one_piece, match_torch_threads, torch_only, use_kernels


def refuse(*_):
    raise AssertionError("a kernel was called")


@pytest.mark.parametrize("form", [torch_only, exportable])
def test_no_kernel_of_the_geometry_runs_inside_the_block(form, monkeypatch):
    monkeypatch.setattr(neighbours, "build_trees", refuse)
    monkeypatch.setattr(sampling, "sample_farthest", refuse)
    monkeypatch.setattr(sampling, "cell_keys", refuse)
    xyz = torch.rand(1, 20, 3, generator=torch.Generator().manual_seed(0))
    with form():
        assert neighbours.nearest_indices(xyz, xyz, 3).shape == (1, 20, 3)
        assert sampling.farthest_point_sampling(xyz, 4).shape == (1, 4)
        assert len(sampling.grid_sampling(xyz[0], 0.5)[1]) == 20
    with pytest.raises(AssertionError, match="a kernel was called"):
        neighbours.nearest_indices(xyz, xyz, 3)


def fail_inside_the_block():
    with exportable():
        assert in_one_piece()
        assert not use_kernels(torch.zeros(1))
        raise ZeroDivisionError


def test_the_switch_returns_to_what_it_was_even_after_an_error():
    with pytest.raises(ZeroDivisionError):
        fail_inside_the_block()
    assert not in_one_piece()
    assert use_kernels(torch.zeros(1))


@pytest.mark.parametrize("dtypes", [(torch.float16,), (torch.int64,), (torch.float32, torch.float64)])
def test_kernels_take_one_floating_type_of_full_precision(dtypes):
    assert not use_kernels(*(torch.zeros(1, dtype=dtype) for dtype in dtypes))


FRESH = """
import torch
from point2node.geometry.neighbours import k_nearest_neighbours
torch.set_num_threads(1)
points = torch.rand(2, 100, 3)
k_nearest_neighbours(points, points, 4)
assert torch.get_num_threads() == 1
"""


def test_numba_follows_torch():
    threads = torch.get_num_threads()
    try:
        for wanted in (1, 2):
            torch.set_num_threads(wanted)
            match_torch_threads()
            assert numba.get_num_threads() == min(wanted, numba.config.NUMBA_NUM_THREADS)
    finally:
        torch.set_num_threads(threads)


def test_the_first_kernel_of_a_process_leaves_torchs_count_alone():
    subprocess.run([sys.executable, "-c", FRESH], check=True)
