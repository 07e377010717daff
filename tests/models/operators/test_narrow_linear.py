from __future__ import annotations

from collections.abc import Callable

import numba
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from point2node.models.operators.narrow_linear import NARROW, narrow_linear


def value_and_gradients(product: Callable[[Tensor, Tensor], Tensor], x: Tensor, weight: Tensor) -> list[Tensor]:
    value = product(x, weight)
    direction = torch.linspace(-1, 1, value.numel(), dtype=value.dtype).reshape(value.shape)
    return [value, *torch.autograd.grad(value, [t for t in (x, weight) if t.requires_grad], direction)]


@pytest.mark.parametrize(("M", "C", "D"), [(1, 1, 1), (7, 3, 24), (1000, 24, 13), (600, 5, NARROW), (9, NARROW + 1, 2)])
def test_values_and_gradients_equal_torchs(M: int, C: int, D: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, M, C, dtype=torch.float64).transpose(0, 1).requires_grad_()  # not side by side in memory
    weight = torch.randn(D, C, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(value_and_gradients(narrow_linear, x, weight), value_and_gradients(F.linear, x, weight))


def test_rows_that_need_no_gradient_get_none() -> None:
    x, weight = torch.randn(50, 3), torch.randn(24, 3, requires_grad=True)
    torch.testing.assert_close(value_and_gradients(narrow_linear, x, weight), value_and_gradients(F.linear, x, weight))


def test_the_number_of_threads_does_not_change_a_bit() -> None:
    x, weight = torch.randn(5000, 12, requires_grad=True), torch.randn(12, 12, requires_grad=True)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            torch.set_num_threads(count)
            results.append(value_and_gradients(narrow_linear, x, weight))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
