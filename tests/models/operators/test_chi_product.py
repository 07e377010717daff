from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest
import torch
from torch import Tensor

from point2node.kernels.calling import match_torch_threads, torch_only
from point2node.models.operators.chi_product import chi_product, chi_product_edges

FORMS = pytest.mark.parametrize("form", [nullcontext, torch_only], ids=["kernel", "torch"])
Form = Callable[[], AbstractContextManager[None]]

# B, P, M, K, C, m. K = 1 and 3 leave a remainder of four, C = 65 and 130 of a tile, P = 70 of a block.
SHAPES = pytest.mark.parametrize("shape", [(1, 1, 1, 1, 1, 1), (2, 70, 50, 3, 65, 3), (3, 9, 20, 3, 130, 1)])


def naive(X: Tensor, nodes: Tensor, neighbours: Tensor, depthwise: Tensor) -> Tensor:
    edges = torch.stack([cloud[numbers] for cloud, numbers in zip(nodes, neighbours, strict=True)])
    return torch.einsum("bpkj,bpjc,kci->bpci", X, edges, depthwise).flatten(-2)


def random_case(
    B: int, P: int, M: int, K: int, C: int, m: int, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    X = torch.randn(B, P, K, K, dtype=dtype, requires_grad=True)
    nodes = torch.randn(B, M, C, dtype=dtype, requires_grad=True)
    depthwise = torch.randn(K, C, m, dtype=dtype, requires_grad=True)
    return X, nodes, torch.randint(M, (B, P, K)), depthwise


def value_and_gradients(product: Callable[..., Tensor], *arguments: Tensor) -> list[Tensor]:
    value = product(*arguments)
    weights = torch.linspace(-1, 1, value.numel(), dtype=value.dtype).reshape(value.shape)
    return [value, *torch.autograd.grad(value, [a for a in arguments if a.requires_grad], weights)]


@FORMS
def test_a_hand_made_point_gives_the_sum_worked_out_by_hand(form: Form) -> None:
    X = torch.tensor([[[[1.0, 2.0], [0.0, -1.0]]]])
    nodes = torch.tensor([[[1.0], [10.0], [100.0]]])
    depthwise = torch.tensor([[[1.0, 0.5]], [[2.0, 1.0]]])
    with form():
        result = chi_product(X, nodes, torch.tensor([[[2, 0]]]), depthwise)
    # T = (100 + 2·1, −1); then 102·1 − 1·2 and 102·0.5 − 1·1
    assert result.tolist() == [[[100.0, 50.0]]]


@FORMS
@SHAPES
def test_values_and_gradients_equal_the_naive_form(form: Form, shape: tuple[int, ...]) -> None:
    case = random_case(*shape)
    with form():
        ours = value_and_gradients(chi_product, *case)
    torch.testing.assert_close(ours, value_and_gradients(naive, *case))


@FORMS
def test_features_on_edges_equal_features_gathered_from_nodes(form: Form) -> None:
    X, nodes, neighbours, depthwise = random_case(2, 70, 50, 3, 65, 3)
    edges = nodes.detach()[torch.arange(2)[:, None, None], neighbours].requires_grad_()
    own = torch.arange(70 * 3).reshape(70, 3).expand(2, 70, 3)
    with form():
        ours = value_and_gradients(chi_product_edges, X, edges, depthwise)
        gathered = chi_product(X, nodes, neighbours, depthwise)
    expected = value_and_gradients(
        lambda X, edges, depthwise: naive(X, edges.flatten(1, 2), own, depthwise), X, edges, depthwise
    )
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(ours[0], gathered)


@FORMS
def test_repeated_neighbours_add_up_their_gradients(form: Form) -> None:
    X, nodes, neighbours, depthwise = random_case(2, 70, 50, 3, 65, 3)
    case = X, nodes, neighbours[:, :, :1].expand(-1, -1, 3), depthwise
    with form():
        ours = value_and_gradients(chi_product, *case)
    torch.testing.assert_close(ours, value_and_gradients(naive, *case))


@FORMS
def test_gradients_equal_finite_differences(form: Form) -> None:
    with form():
        assert torch.autograd.gradcheck(chi_product, random_case(2, 2, 4, 3, 2, 3))


def test_single_precision_is_accurate_to_its_rounding() -> None:
    case = random_case(2, 70, 50, 3, 65, 3, torch.float32)
    exact = value_and_gradients(naive, *(t.double() if t.is_floating_point() else t for t in case))
    for ours, expected in zip(value_and_gradients(chi_product, *case), exact, strict=True):
        assert (ours - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_two_runs_give_the_same_bits_with_any_number_of_threads() -> None:
    case = random_case(2, 70, 50, 3, 65, 3)
    threads = torch.get_num_threads()
    first = value_and_gradients(chi_product, *case)
    try:
        torch.set_num_threads(1)
        second = value_and_gradients(chi_product, *case)
    finally:
        torch.set_num_threads(threads)
        match_torch_threads()
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_strided_inputs_and_inference_give_the_same_result() -> None:
    X, nodes, neighbours, depthwise = random_case(2, 70, 50, 3, 65, 3)
    expected = chi_product(X, nodes, neighbours, depthwise)
    strided = [t.mT.contiguous().mT for t in (X, nodes, neighbours, depthwise)]
    with torch.no_grad():
        result = chi_product(*strided)
    assert not result.requires_grad
    assert torch.equal(result, expected)


def test_only_the_gradients_asked_for_are_returned() -> None:
    X, nodes, neighbours, depthwise = random_case(2, 70, 50, 3, 65, 3)
    chi_product(X, nodes.detach(), neighbours, depthwise.detach()).sum().backward()
    assert X.grad is not None
    assert nodes.grad is None


@pytest.mark.parametrize("number", [-1, 50])
def test_a_neighbour_that_is_no_node_is_refused(number: int) -> None:
    X, nodes, neighbours, depthwise = random_case(2, 70, 50, 3, 65, 3)
    neighbours[1, 2, 0] = number
    with pytest.raises(IndexError, match="from 0 to 49"):
        chi_product(X, nodes, neighbours, depthwise)


def test_weights_of_another_width_are_refused() -> None:
    X, nodes, neighbours, depthwise = random_case(2, 70, 50, 3, 65, 3)
    with pytest.raises(ValueError, match=r"depthwise must have the shape \(3, 65, 3\), found \(3, 64, 3\)"):
        chi_product(X, nodes, neighbours, depthwise[:, 1:])
