from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest
import torch
from torch import Tensor

from point2node.kernels.calling import exportable, torch_only
from point2node.models.operators import non_local_update as non_local_update_file
from point2node.models.operators.non_local_update import non_local_update


@pytest.fixture(autouse=True, params=[nullcontext, torch_only, exportable], ids=["kernels", "torch", "exported"])
def every_form(request: pytest.FixtureRequest) -> Iterator[None]:
    with request.param():
        yield


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 4 × 8 correlations, so that small clouds have many rows and columns of them."""
    monkeypatch.setattr(non_local_update_file, "COLUMNS", 8)
    monkeypatch.setattr(non_local_update_file, "TILE", 4 * 8)


def naive(V: Tensor, Q: Tensor, X: Tensor) -> Tensor:
    S = torch.einsum("bir,bjr->bij", Q, X)
    return torch.einsum("bij,bjc->bic", S.softmax(dim=-1), V)


def random_case(B: int, N: int, C: int, R: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    torch.manual_seed(0)
    return tuple(torch.randn(B, N, width, dtype=dtype, requires_grad=True) for width in (C, R, R))


def value_and_gradients(update: Callable[..., Tensor], *arguments: Tensor) -> list[Tensor]:
    value = update(*arguments)
    weights = torch.linspace(-1, 1, value.numel(), dtype=value.dtype).reshape(value.shape)
    return [value, *torch.autograd.grad(value, arguments, weights)]


def test_equal_correlations_give_the_mean_of_all_nodes() -> None:
    zeros = torch.zeros(1, 3, 2)
    result = non_local_update(torch.tensor([[[1.0], [2.0], [6.0]]]), zeros, zeros)
    torch.testing.assert_close(result, torch.full((1, 3, 1), 3.0))


# one node; several clouds in a tile; whole tiles; a remainder of both rows and columns
@pytest.mark.parametrize("shape", [(3, 1, 1, 1), (7, 3, 5, 2), (2, 16, 4, 3), (2, 21, 65, 5)])
def test_values_and_gradients_equal_the_naive_form(shape: tuple[int, ...]) -> None:
    case = random_case(*shape)
    torch.testing.assert_close(value_and_gradients(non_local_update, *case), value_and_gradients(naive, *case))


@pytest.mark.parametrize("narrow", [torch.bfloat16, torch.float16])
def test_half_precision_is_widened_for_the_sums(narrow: torch.dtype) -> None:
    V, Q, X = random_case(2, 21, 4, 3, torch.float32)
    halves = [one.detach().to(narrow).requires_grad_() for one in (Q, X)]
    for given in ([V, *halves], [V.detach().to(narrow).requires_grad_(), *halves]):
        wide = [one.detach().float().requires_grad_() for one in given]
        found, expected = value_and_gradients(non_local_update, *given), value_and_gradients(naive, *wide)
        assert [one.dtype for one in found] == [given[0].dtype, *(one.dtype for one in given)]
        for ours, theirs in zip(found, expected, strict=True):
            torch.testing.assert_close(ours.float(), theirs, rtol=0.02, atol=0.02)


def test_gradients_equal_finite_differences() -> None:
    assert torch.autograd.gradcheck(non_local_update, random_case(2, 9, 2, 2))


def test_large_correlations_do_not_overflow() -> None:
    V, Q, X = random_case(2, 21, 5, 3)
    case = V, (Q * 1e3).detach().requires_grad_(), X
    torch.testing.assert_close(value_and_gradients(non_local_update, *case), value_and_gradients(naive, *case))


def test_single_precision_is_accurate_to_its_rounding() -> None:
    case = random_case(2, 21, 65, 5, torch.float32)
    exact = value_and_gradients(naive, *(t.double() for t in case))
    for ours, expected in zip(value_and_gradients(non_local_update, *case), exact, strict=True):
        assert (ours - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_two_runs_give_the_same_bits() -> None:
    case = random_case(2, 21, 65, 5)
    first, second = (value_and_gradients(non_local_update, *case) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_strided_inputs_and_inference_give_the_same_result() -> None:
    case = random_case(2, 21, 65, 5)
    with torch.no_grad():
        result = non_local_update(*(t.mT.contiguous().mT for t in case))
    assert not result.requires_grad
    torch.testing.assert_close(result, non_local_update(*case))


def test_gradients_reach_strided_inputs() -> None:
    case = [t.detach().mT.contiguous().mT.requires_grad_() for t in random_case(2, 21, 65, 5)]
    torch.testing.assert_close(value_and_gradients(non_local_update, *case), value_and_gradients(naive, *case))
