"""Farthest point sampling in both forms, random and grid sampling, each against a naive twin."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from point2node.core.errors import InputError
from point2node.geometry.sampling import farthest_point_sampling, grid_sampling, random_sampling
from point2node.kernels.calling import torch_only

Form = Callable[[], AbstractContextManager[None]]
both_forms = pytest.mark.parametrize("form", [nullcontext, torch_only], ids=["kernel", "torch"])

# the corners of the unit cube: corner i has the binary digits of i as x, y, z
CUBE = torch.tensor([[[i >> 2, i >> 1 & 1, i & 1] for i in range(8)]], dtype=torch.float32)


def naive_farthest(xyz: Tensor, count: int, start: int) -> list[int]:
    """One cloud (N, 3): look at every remaining point, and from each at every chosen one."""
    points = xyz.numpy()
    chosen = [start]
    while len(chosen) < count:
        differences = points[:, None] - points[chosen]
        squares = (differences[..., 0] ** 2 + differences[..., 1] ** 2) + differences[..., 2] ** 2
        gaps = squares.min(axis=1)
        gaps[chosen] = -1
        chosen.append(int(gaps.argmax()))
    return chosen


@st.composite
def clouds(draw: st.DrawFn) -> Tensor:
    """(1, N, 3), scattered or on a small grid with many ties and duplicates."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    xyz = torch.randn(1, draw(st.integers(1, 600)), 3, generator=generator, dtype=torch.float64)
    if draw(st.booleans()):
        xyz = xyz.round()
    return xyz.to(draw(st.sampled_from([torch.float32, torch.float64])))


@both_forms
def test_the_second_point_of_a_cube_is_the_opposite_corner(form: Form) -> None:
    with form():
        assert farthest_point_sampling(CUBE, 4).tolist() == [[0, 7, 1, 2]]
        assert farthest_point_sampling(CUBE, 2, start=5).tolist() == [[5, 2]]


@both_forms
@settings(deadline=None, max_examples=50)
@given(xyz=clouds(), data=st.data())
def test_both_forms_choose_what_the_naive_twin_chooses(form: Form, xyz: Tensor, data: st.DataObject) -> None:
    total = xyz.shape[1]
    count, start = data.draw(st.integers(1, min(total, 40))), data.draw(st.integers(0, total - 1))
    with form():
        found = farthest_point_sampling(xyz, count, start=start)
    assert found.tolist() == [naive_farthest(xyz[0], count, start)]


@both_forms
def test_sampling_every_point_is_a_permutation_even_of_duplicates(form: Form) -> None:
    xyz = torch.zeros(2, 300, 3)
    xyz[1, ::2] = 1
    with form():
        chosen = farthest_point_sampling(xyz, 300)
    assert (chosen.sort().values == torch.arange(300)).all()
    assert chosen[0].tolist() == list(range(300))


@both_forms
def test_a_cloud_of_one_point_is_sampled(form: Form) -> None:
    with form():
        assert farthest_point_sampling(CUBE[:, :1], 1).tolist() == [[0]]


@both_forms
def test_sampling_tells_millimetres_apart_at_a_million_metres(form: Form) -> None:
    line = torch.zeros(1, 9, 3, dtype=torch.float64)
    line[0, :, 0] = 1e6 + torch.arange(9, dtype=torch.float64) * 1e-3
    with form():
        assert farthest_point_sampling(line, 3).tolist() == [[0, 8, 4]]


@both_forms
def test_a_batch_is_sampled_as_each_cloud_alone(form: Form) -> None:
    xyz = torch.rand(3, 700, 3, generator=torch.Generator().manual_seed(0))
    with form():
        together = farthest_point_sampling(xyz, 50)
        alone = [farthest_point_sampling(cloud, 50) for cloud in xyz.split(1)]
    assert torch.equal(torch.cat(alone), together)


@pytest.mark.parametrize("count", [0, 9])
def test_a_count_outside_the_cloud_is_refused(count: int) -> None:
    with pytest.raises(InputError, match="count: expected 1 to 8"):
        farthest_point_sampling(CUBE, count)
    with pytest.raises(InputError, match="count: expected 1 to 8"):
        random_sampling(8, count, torch.Generator())


@pytest.mark.parametrize("start", [-1, 8])
def test_a_start_outside_the_cloud_is_refused(start: int) -> None:
    with pytest.raises(InputError, match="start: expected an index from 0 to 7"):
        farthest_point_sampling(CUBE, 2, start=start)


def test_random_sampling_draws_distinct_points_and_repeats_with_the_seed() -> None:
    first, second = (random_sampling(100, 30, torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(first, second)
    assert len(first.unique()) == 30
    assert first.min() >= 0
    assert first.max() < 100


def test_a_smaller_random_sample_is_the_head_of_a_larger_one() -> None:
    large, small = (random_sampling(100, n, torch.Generator().manual_seed(1)) for n in (80, 10))
    assert torch.equal(large[:10], small)


def test_half_of_the_cube_falls_into_each_of_two_slabs() -> None:
    first, cell_of_point = grid_sampling(CUBE[0] * torch.tensor([2.0, 1.0, 1.0]), 1.5)
    assert first.tolist() == [0, 4]
    assert cell_of_point.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@settings(deadline=None)
@given(xyz=clouds(), cell=st.floats(0.05, 5))
def test_grid_sampling_agrees_with_unique_rows(xyz: Tensor, cell: float) -> None:
    points = xyz[0].double().numpy()
    rows = np.floor((points - points.min(axis=0)) / cell)
    _, wanted_first, wanted_cells = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    for form in (nullcontext, torch_only):
        with form():
            first, cell_of_point = grid_sampling(xyz[0], cell)
        assert first.tolist() == wanted_first.tolist()
        assert cell_of_point.tolist() == wanted_cells.tolist()


@both_forms
def test_cells_few_and_far_between_are_numbered_alike(form: Form) -> None:
    xyz = torch.tensor([[0.0, 0, 0], [900, 900, 900], [0.1, 0, 0], [900.1, 900, 900], [0, 0, 900]])
    with form():
        first, cell_of_point = grid_sampling(xyz, 1.0)
    assert first.tolist() == [0, 4, 1]
    assert cell_of_point.tolist() == [0, 2, 0, 2, 1]


def test_shifting_a_cloud_by_a_million_metres_leaves_its_cells() -> None:
    steps = torch.arange(64, dtype=torch.float64)[:, None] / 64  # exact in binary, also after the shift
    near, far = grid_sampling(steps.repeat(1, 3), 0.125), grid_sampling(steps.repeat(1, 3) + 1e6, 0.125)
    assert all(torch.equal(a, b) for a, b in zip(near, far, strict=True))


@pytest.mark.parametrize("cell", [0.0, -1.0, math.nan, math.inf])
def test_a_cell_without_a_positive_finite_side_is_refused(cell: float) -> None:
    with pytest.raises(InputError, match="cell: expected a finite side above 0"):
        grid_sampling(CUBE[0], cell)


@pytest.mark.parametrize("extent", [1e10, 1e300])
def test_more_cells_than_int64_can_number_are_refused(extent: float) -> None:
    with pytest.raises(InputError, match="fewer than 2\\^62 cells"):
        grid_sampling(CUBE[0].double() * extent, 1e-3)


def test_a_grid_of_nan_or_of_a_batch_is_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        grid_sampling(torch.full((4, 3), math.nan), 1.0)
    with pytest.raises(InputError, match=r"one cloud of shape \(N, 3\)"):
        grid_sampling(CUBE, 1.0)
