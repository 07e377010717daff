from contextlib import nullcontext

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from point2node.geometry.smoothing import smooth_on_surfaces
from point2node.kernels.calling import torch_only

both_forms = pytest.mark.parametrize("form", [nullcontext, torch_only], ids=["kernel", "torch"])


def wall(points, x=0.0, seed=0):
    """Points of a wall of 1 m × 1 m."""
    random = np.random.default_rng(seed)
    return np.column_stack([np.full(points, x), random.uniform(0, 1, (points, 2))])


def smooth(xyz, values, weights=None, **options):
    weights = torch.ones(len(xyz), dtype=torch.float64) if weights is None else weights
    return smooth_on_surfaces(torch.as_tensor(xyz), torch.as_tensor(values), weights, **options)


@both_forms
def test_noise_on_a_wall_is_averaged_away(form):
    xyz = wall(3000)
    values = np.random.default_rng(1).random((3000, 2))
    with form():
        found = smooth(xyz, values)
    assert found.std(dim=0).max() < 0.1 * values.std(axis=0).min()
    assert found.mean() == pytest.approx(values.mean(), abs=0.02)


@both_forms
def test_nothing_passes_an_edge_or_a_step_of_more_than_three_centimetres(form):
    across = wall(3000)
    floor = wall(3000, seed=1)[:, [2, 1, 0]] + np.array([0.05, 0, 0])
    board = wall(3000, x=0.1, seed=2)
    xyz = np.concatenate([across, floor[:3000], board])
    values = np.repeat([0.0, 1.0, 2.0], 3000)[:, None]
    with form():
        found = smooth(xyz, values)[:, 0]
    for value, rows in enumerate((slice(0, 3000), slice(3000, 6000), slice(6000, 9000))):
        near_edge = np.abs(xyz[rows][:, [0, 2]]).max(axis=1) < 0.15  # where normals of two surfaces mix
        inner = found[rows][torch.from_numpy(~near_edge)]
        assert (inner - value).abs().quantile(0.99) < 0.1


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(0, 5))
def test_the_kernels_and_torch_agree(seed, points, rounds):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, [0.5, 0.5, 0.02], (points, 3))
    values, weights = random.random((points, 3)), torch.from_numpy(random.uniform(0.1, 1, points))
    fast = smooth(xyz, values, weights, rounds=rounds)
    with torch_only():
        naive = smooth(xyz, values, weights, rounds=rounds)
    np.testing.assert_allclose(fast, naive, atol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_probabilities_stay_probabilities(seed):
    random = np.random.default_rng(seed)
    xyz, values = random.uniform(0, 0.5, (200, 3)), random.dirichlet(np.ones(5), 200)
    found = smooth(xyz, values, torch.from_numpy(values.max(axis=1)))
    np.testing.assert_allclose(found.sum(dim=1), 1)
    assert (found >= 0).all()


def test_values_of_more_weight_decide():
    xyz = wall(2000)
    values = np.repeat([0.0, 1.0], 1000)[:, None]
    weights = torch.where(torch.from_numpy(values[:, 0] > 0), 0.9, 0.1).double()
    assert smooth(xyz, values, weights).mean() > 0.8


@both_forms
def test_clouds_without_a_surface_stay_as_they_are(form):
    for xyz in (np.zeros((1, 3)), np.arange(6.0).reshape(2, 3), np.linspace(0, 3, 60)[:, None] * np.ones(3)):
        values = np.random.default_rng(0).random((len(xyz), 4))
        with form():
            np.testing.assert_allclose(smooth(xyz, values), values)
    with form():
        assert smooth(np.empty((0, 3)), np.empty((0, 4))).shape == (0, 4)
