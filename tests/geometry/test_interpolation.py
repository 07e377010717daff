from contextlib import nullcontext

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from point2node.geometry import interpolation
from point2node.geometry.interpolation import NEAREST, interpolate, inverse_distance_weights
from point2node.kernels.switch import torch_only

both_forms = pytest.mark.parametrize("form", [nullcontext, torch_only], ids=["kernel", "torch"])


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
    monkeypatch.setattr(interpolation, "AT_ONCE", 7)
    assert np.array_equal(interpolated(xyz, values, queries), whole)
    assert not len(interpolated(xyz, values, queries[:0]))
