from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numba
import pytest
import torch
from torch import Tensor

from point2node.kernels.calling import torch_only
from point2node.models.operators.depthwise import depthwise_over_rows

FORMS = pytest.mark.parametrize("form", [nullcontext, torch_only], ids=["kernel", "torch"])
Form = Callable[[], AbstractContextManager[None]]


def naive(X: Tensor, weight: Tensor) -> Tensor:
    return torch.einsum("rkc,kcm->rcm", X, weight)


def value_and_gradients(product: Callable[[Tensor, Tensor], Tensor], X: Tensor, weight: Tensor) -> list[Tensor]:
    value = product(X, weight)
    direction = torch.linspace(-1, 1, value.numel(), dtype=value.dtype).reshape(value.shape)
    return [value, *torch.autograd.grad(value, [X, weight], direction)]


@FORMS
def test_a_hand_made_matrix_gives_the_sum_worked_out_by_hand(form: Form) -> None:
    X = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    weight = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[10.0, 0.0], [0.0, 100.0]]])
    with form():
        # column 0 is (1, 3): 1·(1, 0) + 3·(10, 0); column 1 is (2, 4): 2·(0, 1) + 4·(0, 100)
        assert depthwise_over_rows(X, weight).tolist() == [[[31.0, 0.0], [0.0, 402.0]]]


@FORMS
@pytest.mark.parametrize(("R", "K"), [(1, 1), (7, 3), (300, 8)])
def test_values_and_gradients_equal_the_naive_form(form: Form, R: int, K: int) -> None:
    torch.manual_seed(0)
    X = torch.randn(R, K, K, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(K, K, K, dtype=torch.float64, requires_grad=True)
    with form():
        ours = value_and_gradients(depthwise_over_rows, X, weight)
    torch.testing.assert_close(ours, value_and_gradients(naive, X, weight))


def test_matrices_that_do_not_lie_side_by_side_are_read_rightly() -> None:
    X = torch.randn(8, 5, 8, dtype=torch.float64).transpose(0, 1).requires_grad_()
    weight = torch.randn(8, 8, 8, dtype=torch.float64).transpose(0, 2).requires_grad_()
    torch.testing.assert_close(
        value_and_gradients(depthwise_over_rows, X, weight), value_and_gradients(naive, X, weight)
    )


def test_the_number_of_threads_does_not_change_a_bit() -> None:
    X, weight = torch.randn(500, 8, 8, requires_grad=True), torch.randn(8, 8, 8, requires_grad=True)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            torch.set_num_threads(count)
            results.append(value_and_gradients(depthwise_over_rows, X, weight))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def test_a_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="X must have the shape"):
        depthwise_over_rows(torch.randn(4, 3, 2), torch.randn(3, 3, 3))
