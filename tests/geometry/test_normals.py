from contextlib import nullcontext

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.geometry.normals import estimate_normals
from point2node.kernels.calling import torch_only

both_forms = pytest.mark.parametrize("form", [nullcontext, torch_only], ids=["kernel", "torch"])


def plane(normal, points=2000, noise=0.0, seed=0):
    """Points of a square of 1 m on a plane."""
    random = np.random.default_rng(seed)
    normal = np.asarray(normal, float) / np.linalg.norm(normal)
    across = np.linalg.svd(normal[None])[2][1:]
    xyz = random.uniform(-0.5, 0.5, (points, 2)) @ across + noise * random.standard_normal((points, 1)) * normal
    return torch.from_numpy(xyz)


@both_forms
@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (0, -1, 0), (1, 2, 3), (-1, 1, 0.01)])
def test_a_plane_has_its_own_normal_whose_sign_is_fixed(form, normal):
    with form():
        found = estimate_normals(plane(normal))
    unit = torch.tensor(normal, dtype=torch.float64) / np.linalg.norm(normal)
    aligned = (found * unit).sum(dim=1)
    assert (aligned.abs() > 1 - 1e-9).all()
    if normal[2]:  # otherwise rounding decides
        assert (aligned > 0).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from([torch.float32, torch.float64]), st.integers(1, 400))
def test_the_kernel_and_torch_find_the_same_planes(seed, dtype, points):
    xyz = torch.from_numpy(np.random.default_rng(seed).uniform(0, 0.4, (points, 3))).to(dtype)
    fast = estimate_normals(xyz)
    with torch_only():
        naive = estimate_normals(xyz)
    assert torch.equal(fast.norm(dim=1) > 0.5, naive.norm(dim=1) > 0.5)
    there = naive.norm(dim=1) > 0.5
    assert ((fast * naive).sum(dim=1)[there] > 0.999).all()


@given(st.integers(0, 2**32 - 1))
def test_normals_turn_with_the_cloud(seed):
    random = np.random.default_rng(seed)
    turn = torch.from_numpy(np.linalg.qr(random.standard_normal((3, 3)))[0])
    xyz = plane(random.standard_normal(3), 300, seed=seed)
    before, after = estimate_normals(xyz), estimate_normals(xyz @ turn.T)
    assert ((before @ turn.T * after).sum(dim=1).abs() > 1 - 1e-6).all()


def test_noise_and_density_change_little():
    thin, dense = (plane((0, 1, 2), points, noise=0.003) for points in (1500, 40_000))
    unit = torch.tensor([0, 1, 2], dtype=torch.float64) / 5**0.5
    for xyz in (thin, dense):
        angles = (estimate_normals(xyz) * unit).sum(dim=1).abs().clamp(max=1).acos().rad2deg()
        assert angles.median() < 5
        assert angles.quantile(0.95) < 12


@both_forms
def test_clouds_without_a_surface_have_no_normals(form):
    line = torch.linspace(0, 1, 50)[:, None] * torch.tensor([1.0, 2.0, 3.0])
    for xyz in (torch.zeros(1, 3), torch.zeros(20, 3), torch.tensor([[0.0, 0, 0], [1, 1, 1]]), line, torch.empty(0, 3)):
        with form():
            found = estimate_normals(xyz)
        assert found.shape == xyz.shape
        assert not found.any()


def test_map_coordinates_in_double_precision_lose_nothing():
    xyz = plane((1, 2, 3), 800)
    far = estimate_normals(xyz + torch.tensor([450_000.0, 5_400_000.0, 300.0]))
    unit = torch.tensor([1, 2, 3], dtype=torch.float64) / 14**0.5
    assert ((far * unit).sum(dim=1).abs() > 1 - 1e-6).all()


@pytest.mark.parametrize("cell", [0.0, -1.0, float("nan"), float("inf")])
def test_a_cell_without_a_size_is_refused(cell):
    with pytest.raises(InputError, match="a finite side above 0"):
        estimate_normals(torch.zeros(5, 3), cell=cell)
