"""One switch for all compiled code: the network's operators and the geometry."""

import pytest
import torch

from point2node.geometry import neighbours, sampling
from point2node.kernels.switch import exportable, in_one_piece, torch_only, use_kernels


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
