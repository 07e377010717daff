from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest
import torch
from torch import Tensor

from point2node.kernels.calling import exportable, match_torch_threads, torch_only
from point2node.models.operators import local_update as local_update_file
from point2node.models.operators.local_update import local_update

FORMS = pytest.mark.parametrize("form", [nullcontext, torch_only, exportable], ids=["kernel", "torch", "exported"])
Form = Callable[[], AbstractContextManager[None]]

# B, N, C, R, K; R = 70 leaves a remainder of a tile
SHAPES = pytest.mark.parametrize("shape", [(1, 1, 1, 1, 1), (2, 70, 65, 5, 3), (3, 20, 130, 70, 3)])


def naive(V: Tensor, Q: Tensor, X: Tensor, neighbours: Tensor) -> Tensor:
    clouds = []
    for v, q, x, numbers in zip(V, Q, X, neighbours, strict=True):
        m = torch.einsum("ixr,iyr->ixy", q[numbers], x[numbers])
        V_up = torch.einsum("ixy,iyc->ixc", m.softmax(dim=-1), v[numbers])
        clouds.append(V_up.max(dim=1).values)
    return torch.stack(clouds)


def random_case(
    B: int, N: int, C: int, R: int, K: int, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    V, Q, X = (torch.randn(B, N, width, dtype=dtype, requires_grad=True) for width in (C, R, R))
    return V, Q, X, torch.rand(B, N, N).argsort(dim=-1)[:, :, :K]


def value_and_gradients(update: Callable[..., Tensor], *arguments: Tensor) -> list[Tensor]:
    value = update(*arguments)
    weights = torch.linspace(-1, 1, value.numel(), dtype=value.dtype).reshape(value.shape)
    return [value, *torch.autograd.grad(value, [a for a in arguments if a.requires_grad], weights)]


@FORMS
def test_equal_correlations_give_the_mean_of_the_neighbours(form: Form) -> None:
    V = torch.tensor([[[1.0, 8.0], [3.0, 0.0], [5.0, 4.0]]])
    zeros = torch.zeros(1, 3, 1)
    with form():
        result = local_update(V, zeros, zeros, torch.tensor([[[0, 1], [1, 2], [2, 2]]]))
    assert result.tolist() == [[[2.0, 4.0], [4.0, 2.0], [5.0, 4.0]]]


@FORMS
@SHAPES
def test_values_and_gradients_equal_the_naive_form(form: Form, shape: tuple[int, ...]) -> None:
    case = random_case(*shape)
    with form():
        ours = value_and_gradients(local_update, *case)
    torch.testing.assert_close(ours, value_and_gradients(naive, *case))


def test_chunks_of_nodes_do_not_change_the_torch_form(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(2, 70, 65, 5, 3)
    monkeypatch.setattr(local_update_file, "CHUNK", 2 * 3 * 65 * 8)  # eight nodes at a time
    with torch_only():
        ours = value_and_gradients(local_update, *case)
    torch.testing.assert_close(ours, value_and_gradients(naive, *case))


@FORMS
def test_a_cycled_list_of_neighbours_gives_the_gradient_of_the_naive_form(form: Form) -> None:
    V, Q, X, neighbours = random_case(2, 70, 65, 5, 3)
    case = V, Q, X, neighbours[:, :, [0, 1, 0]]  # two of three updated neighbours are equal: exact ties
    with form():
        ours = value_and_gradients(local_update, *case)
    torch.testing.assert_close(ours, value_and_gradients(naive, *case))


@FORMS
def test_gradients_equal_finite_differences(form: Form) -> None:
    with form():
        assert torch.autograd.gradcheck(local_update, random_case(2, 5, 2, 2, 3))


@FORMS
def test_large_correlations_do_not_overflow(form: Form) -> None:
    V, Q, X, neighbours = random_case(2, 70, 65, 5, 3)
    case = V, (Q * 1e3).detach().requires_grad_(), X, neighbours
    with form():
        ours = value_and_gradients(local_update, *case)
    torch.testing.assert_close(ours, value_and_gradients(naive, *case))


def test_single_precision_is_accurate_to_its_rounding() -> None:
    case = random_case(2, 70, 65, 5, 3, torch.float32)
    exact = value_and_gradients(naive, *(t.double() if t.is_floating_point() else t for t in case))
    for ours, expected in zip(value_and_gradients(local_update, *case), exact, strict=True):
        assert (ours - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_two_runs_give_the_same_bits_with_any_number_of_threads() -> None:
    case = random_case(2, 70, 65, 5, 3)
    threads = torch.get_num_threads()
    first = value_and_gradients(local_update, *case)
    try:
        torch.set_num_threads(1)
        second = value_and_gradients(local_update, *case)
    finally:
        torch.set_num_threads(threads)
        match_torch_threads()
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_strided_inputs_give_the_same_result() -> None:
    case = random_case(2, 70, 65, 5, 3)
    assert torch.equal(local_update(*(t.mT.contiguous().mT for t in case)), local_update(*case))


# C = 65 to 88 leave strips of 16 and of 8 channels; K = 1 to 9 rows in fours and the rest
@FORMS
@pytest.mark.parametrize("shape", [(1, 1, 1, 1, 1), (2, 70, 65, 5, 3), (1, 20, 72, 70, 8), (3, 20, 88, 7, 9)])
def test_without_gradients_the_values_are_those_of_the_naive_form(form: Form, shape: tuple[int, ...]) -> None:
    case = random_case(*shape)
    with form(), torch.no_grad():
        result = local_update(*(t.mT.contiguous().mT for t in case))
    assert not result.requires_grad
    torch.testing.assert_close(result, naive(*case).detach())


def test_without_gradients_single_precision_is_accurate_to_its_rounding() -> None:
    case = random_case(2, 70, 65, 5, 16, torch.float32)
    expected = naive(*(t.double() if t.is_floating_point() else t for t in case))
    with torch.no_grad():
        assert (local_update(*case) - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_without_gradients_a_node_that_is_not_a_number_reaches_all_that_listen_to_it() -> None:
    V, Q, X, neighbours = (t.detach() for t in random_case(2, 70, 65, 5, 3, torch.float32))
    V[0, 7] = torch.nan
    result = local_update(V, Q, X, neighbours)
    assert torch.equal(result[0].isnan().all(dim=-1), (neighbours[0] == 7).any(dim=-1))
    assert result[1].isfinite().all()


def test_a_neighbour_that_is_no_node_is_refused() -> None:
    V, Q, X, neighbours = random_case(2, 70, 65, 5, 3)
    with pytest.raises(IndexError, match="from 0 to 69"):
        local_update(V, Q, X, neighbours + 1)
