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
from point2node.geometry import neighbours as module
from point2node.geometry.neighbours import (
    NEAREST,
    dilated_k_nearest_neighbours,
    interpolate,
    inverse_distance_weights,
    k_nearest_neighbours,
)
from point2node.kernels.calling import torch_only

Form = Callable[[], AbstractContextManager[None]]
both_forms = pytest.mark.parametrize("form", [nullcontext, torch_only], ids=["kernel", "torch"])

# the corners of the unit cube: corner i has the binary digits of i as x, y, z
CUBE = torch.tensor([[[i >> 2, i >> 1 & 1, i & 1] for i in range(8)]], dtype=torch.float32)


def naive_neighbours(queries: Tensor, points: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """All distances of each cloud, stably sorted."""
    differences = queries.numpy()[:, :, None] - points.numpy()[:, None]
    squares = (differences[..., 0] ** 2 + differences[..., 1] ** 2) + differences[..., 2] ** 2
    indices = np.argsort(squares, axis=-1, kind="stable")[..., :k]
    return torch.from_numpy(np.sqrt(np.take_along_axis(squares, indices, -1))), torch.from_numpy(indices)


def assert_same_neighbours(found: tuple[Tensor, Tensor], wanted: tuple[Tensor, Tensor], *, last_tie_open: bool) -> None:
    """Distances to 1e-6 relative, indices exactly, or up to the ties at the last distance if that is open."""
    torch.testing.assert_close(found[0], wanted[0], rtol=1e-6, atol=0)
    inside = wanted[0] < wanted[0][..., -1:] * (1 - 1e-6) if last_tie_open else slice(None)
    assert torch.equal(found[1][inside], wanted[1][inside])


@st.composite
def cloud_pairs(draw: st.DrawFn) -> tuple[Tensor, Tensor]:
    """Queries and points: scattered, on a small grid (many exact ties), or with every point twice."""
    clouds, total, asked = draw(st.integers(1, 3)), draw(st.integers(1, 150)), draw(st.integers(1, 20))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    xyz = torch.randn(clouds, total + asked, 3, generator=generator, dtype=torch.float64)
    kind = draw(st.sampled_from(["scattered", "grid", "twice"]))
    if kind == "grid":
        xyz = xyz.round()
    points = xyz[:, :total]
    if kind == "twice":
        points = points.repeat(1, 2, 1)
    queries = points if draw(st.booleans()) else xyz[:, total:]
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    return queries.to(dtype), points.to(dtype)


@both_forms
def test_the_neighbours_of_a_cube_corner_are_those_one_edge_away(form: Form) -> None:
    with form():
        distances, indices = k_nearest_neighbours(CUBE, CUBE, 4)
    assert indices[0, 0].tolist() == [0, 1, 2, 4]
    assert indices[0, 7].tolist() == [7, 3, 5, 6]
    assert distances[0, 0].tolist() == [0, 1, 1, 1]


@both_forms
def test_all_neighbours_of_a_cube_corner_come_by_distance_then_index(form: Form) -> None:
    with form():
        distances, indices = k_nearest_neighbours(CUBE[:, :1], CUBE, 99)
    assert indices[0, 0].tolist() == [0, 1, 2, 4, 3, 5, 6, 7]
    torch.testing.assert_close(distances[0, 0, -1].item(), math.sqrt(3), rtol=1e-6, atol=0)


@both_forms
@settings(deadline=None)
@given(pair=cloud_pairs(), k=st.integers(1, 200))
def test_both_forms_agree_with_the_naive_twin(form: Form, pair: tuple[Tensor, Tensor], k: int) -> None:
    with form():
        found = k_nearest_neighbours(*pair, k)
    assert_same_neighbours(found, naive_neighbours(*pair, k), last_tie_open=form is torch_only)


@both_forms
def test_queries_far_outside_the_cloud_find_its_near_side(form: Form) -> None:
    points = torch.rand(1, 500, 3, generator=torch.Generator().manual_seed(0))
    queries = torch.tensor([[[50.0, 0.5, 0.5], [-50.0, -50.0, 0.5]]])
    with form():
        found = k_nearest_neighbours(queries, points, 20)
    assert_same_neighbours(found, naive_neighbours(queries, points, 20), last_tie_open=form is torch_only)


@both_forms
def test_a_chunked_search_equals_a_whole_one(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    points = torch.rand(2, 100, 3, generator=torch.Generator().manual_seed(0))
    with form():
        whole = k_nearest_neighbours(points, points, 5)
        monkeypatch.setattr("point2node.geometry.neighbours.TEMPORARY_BYTES", 1)
        chunked = k_nearest_neighbours(points, points, 5)
    assert_same_neighbours(chunked, whole, last_tie_open=False)


@both_forms
def test_a_cloud_of_one_point_is_its_own_neighbour(form: Form) -> None:
    with form():
        distances, indices = k_nearest_neighbours(CUBE[:, :1], CUBE[:, :1], 3)
    assert (distances.tolist(), indices.tolist()) == ([[[0.0]]], [[[0]]])


@both_forms
def test_distances_too_large_for_the_dtype_still_give_every_point_once(form: Form) -> None:
    points = CUBE * 1e30
    with form():
        _, indices = k_nearest_neighbours(points, points, 8)
    assert (indices.sort().values == torch.arange(8)).all()


@both_forms
def test_millimetres_are_told_apart_at_a_million_metres(form: Form) -> None:
    line = torch.zeros(1, 100, 3, dtype=torch.float64)
    line[0, :, 0] = 1e6 + torch.arange(100, dtype=torch.float64) * 1e-3
    with form():
        distances, indices = k_nearest_neighbours(line[:, :1], line, 5)
    assert indices.tolist() == [[[0, 1, 2, 3, 4]]]
    torch.testing.assert_close(distances[0, 0], torch.arange(5) * 1e-3, rtol=0, atol=1e-9, check_dtype=False)


@both_forms
def test_a_batch_gives_what_each_cloud_gives_alone(form: Form) -> None:
    points = torch.rand(3, 200, 3, generator=torch.Generator().manual_seed(0))
    with form():
        together = k_nearest_neighbours(points, points, 9)
        alone = [k_nearest_neighbours(cloud, cloud, 9) for cloud in points.split(1)]
    for b, found in enumerate(alone):
        assert_same_neighbours(found, (together[0][b : b + 1], together[1][b : b + 1]), last_tie_open=False)


@both_forms
def test_transposed_tensors_are_read_correctly_and_left_as_they_were(form: Form) -> None:
    points = torch.rand(2, 3, 100, generator=torch.Generator().manual_seed(0)).transpose(1, 2)
    before = points.clone()
    with form():
        found = k_nearest_neighbours(points, points, 7)
    assert torch.equal(points, before)
    assert_same_neighbours(found, naive_neighbours(before, before, 7), last_tie_open=form is torch_only)


@both_forms
def test_dilation_keeps_every_second_neighbour_of_the_cube(form: Form) -> None:
    with form():
        indices = dilated_k_nearest_neighbours(CUBE[:, :1], CUBE, 4, 2)
    assert indices.tolist() == [[[0, 2, 3, 6]]]  # of 0 1 2 4 3 5 6 7


@both_forms
@pytest.mark.parametrize(("total", "wanted"), [(1, [0, 0, 0, 0]), (3, [0, 2, 1, 0]), (7, [0, 2, 4, 6])])
def test_too_few_points_are_cycled(form: Form, total: int, wanted: list[int]) -> None:
    line = torch.zeros(1, total, 3)
    line[0, :, 0] = torch.arange(total)
    with form():
        assert dilated_k_nearest_neighbours(line[:, :1], line, 4, 2).tolist() == [[wanted]]


def test_dilation_one_is_the_plain_search() -> None:
    points = torch.rand(2, 50, 3, generator=torch.Generator().manual_seed(0))
    assert torch.equal(dilated_k_nearest_neighbours(points, points, 6), k_nearest_neighbours(points, points, 6)[1])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_coordinates_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(InputError, match="points: expected finite"):
        k_nearest_neighbours(CUBE, CUBE.clone().fill_(value), 1)


@pytest.mark.parametrize(("k", "dilation", "name"), [(0, 1, "k"), (1, 0, "dilation"), (-1, -1, "k")])
def test_k_and_dilation_below_one_are_refused(k: int, dilation: int, name: str) -> None:
    with pytest.raises(InputError, match=f"^{name}: expected a whole number of at least 1"):
        dilated_k_nearest_neighbours(CUBE, CUBE, k, dilation)


@pytest.mark.parametrize("points", [CUBE.double(), CUBE.repeat(2, 1, 1)])
def test_queries_and_points_that_do_not_match_are_refused(points: Tensor) -> None:
    with pytest.raises(InputError, match="as the points are"):
        k_nearest_neighbours(CUBE, points, 1)


def interpolated(points, values, queries, form=nullcontext):
    with form():
        pieces = list(interpolate(*(torch.as_tensor(one) for one in (points, values, queries))))
    assert [number for piece, _ in pieces for number in range(*piece.indices(len(queries)))] == [*range(len(queries))]
    return torch.cat([found for _, found in pieces]).numpy() if pieces else np.empty((0, values.shape[1]))


def naive(points, values, queries):
    """The definition, one query at a time."""
    found = np.empty((len(queries), values.shape[1]))
    for number, query in enumerate(queries):
        distances = np.linalg.norm(points - query, axis=1)
        nearest = np.argsort(distances, kind="stable")[:NEAREST]
        weights = 1 / distances[nearest]
        found[number] = weights @ values[nearest] / weights.sum()
    return found


def case(points, seed, classes=4):
    random = np.random.default_rng(seed)
    values = random.random((points, classes))
    return random.random((points, 3)), values / values.sum(axis=1, keepdims=True), random


CASES = given(st.integers(1, 60), st.integers(0, 10_000))


@CASES
@both_forms
def test_values_are_those_of_the_definition(form, points, seed):
    xyz, values, random = case(points, seed)
    queries = random.random((30, 3))
    np.testing.assert_allclose(interpolated(xyz, values, queries, form), naive(xyz, values, queries), rtol=1e-9)


@CASES
def test_weights_are_positive_and_sum_to_1(rows, seed):
    random = np.random.default_rng(seed)
    distances = np.sort(random.choice([0.0, 1e-40, 1e-20, 1e-3, 0.5, 3.0], (rows, 3)), axis=1).astype(np.float32)
    weights = inverse_distance_weights(torch.from_numpy(distances)).double()
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(dim=1), 1, rtol=1e-6)
    assert (weights.diff(dim=1) <= 1e-7).all()  # the nearest counts most


@CASES
def test_probabilities_stay_probabilities(points, seed):
    xyz, values, random = case(points, seed)
    found = interpolated(np.float32(xyz), np.float32(values), np.float32(random.random((30, 3))))
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


@CASES
@both_forms
def test_a_known_point_has_exactly_its_own_values(form, points, seed):
    xyz, values, _ = case(points, seed)
    assert np.array_equal(interpolated(xyz, values, xyz, form), values)


@CASES
def test_the_order_of_known_points_and_of_queries_makes_no_difference(points, seed):
    xyz, values, random = case(points, seed)
    queries = random.random((30, 3))
    found = interpolated(xyz, values, queries)
    order, asked = random.permutation(points), random.permutation(30)
    assert np.array_equal(interpolated(xyz[order], values[order], queries[asked]), found[asked])


@both_forms
def test_known_points_at_one_place_share_what_lies_there(form):
    xyz = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    values = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert interpolated(xyz, values, xyz[:1], form).tolist() == [[0.5, 0.5, 0]]


def test_pieces_make_no_difference(monkeypatch):
    xyz, values, random = case(50, 0)
    queries = random.random((100, 3))
    whole = interpolated(xyz, values, queries)
    monkeypatch.setattr(module, "AT_ONCE", 7)
    assert np.array_equal(interpolated(xyz, values, queries), whole)
    assert not len(interpolated(xyz, values, queries[:0]))
