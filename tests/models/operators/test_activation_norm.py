"""ELU and batch norm in one step against torch's two, in double precision."""

import copy

import pytest
import torch
from torch.nn import functional as F

from point2node.kernels.calling import torch_only
from point2node.models.batch_norm import BatchNorm
from point2node.models.operators.activation_norm import activate_and_normalise_

SHAPES = [(5, 7, 3), (2, 1), (40_000, 2), (3, 1000, 65)]


def norm_of(channels):
    norm = BatchNorm(channels).double()
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)
    return norm


def twin(z, norm, activation):
    y = F.elu(z) if activation else z
    return norm(y.flatten(0, -2)).view_as(y)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("activation", [True, False])
@pytest.mark.parametrize("kernels", [True, False])
def test_values_gradients_and_statistics_equal_the_two_steps(shape, activation, kernels):
    torch.manual_seed(0)
    z = (3 + torch.randn(shape, dtype=torch.float64)).requires_grad_()
    norm = norm_of(shape[-1])
    plain = copy.deepcopy(norm)
    expected = twin(z, plain, activation)
    weights = torch.randn_like(expected)
    gradients = torch.autograd.grad((expected * weights).sum(), [z, plain.weight, plain.bias])
    if kernels:
        out = activate_and_normalise_(z * 1, norm, activation=activation)
    else:
        with torch_only():
            out = activate_and_normalise_(z * 1, norm, activation=activation)
    torch.testing.assert_close(out, expected, rtol=1e-10, atol=1e-12)
    for found, gradient in zip(
        torch.autograd.grad((out * weights).sum(), [z, norm.weight, norm.bias]), gradients, strict=True
    ):
        torch.testing.assert_close(found, gradient, rtol=1e-8, atol=1e-10)
    for name, buffer in plain.named_buffers():
        torch.testing.assert_close(norm.get_buffer(name), buffer)


@pytest.mark.parametrize("activation", [True, False])
@pytest.mark.parametrize("shape", [(10, 4), (32, 5, 3), (7, 130)])  # 160 rows of 3 channels lie 32 side by side
def test_in_evaluation_the_running_statistics_are_used(shape, activation):
    norm = norm_of(shape[-1]).eval()
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    z = torch.randn(shape, dtype=torch.float64)
    expected = twin(z, norm, activation)
    with torch.no_grad():
        torch.testing.assert_close(activate_and_normalise_(z.clone(), norm, activation=activation), expected)
    torch.testing.assert_close(activate_and_normalise_(z.clone(), norm, activation=activation), expected)


def test_a_channel_far_from_0_keeps_its_small_variance():
    y = 1000 + 0.01 * torch.randn(100_000, 3, generator=torch.Generator().manual_seed(0))
    norm = BatchNorm(3)
    norm.eps = 1e-8
    out = activate_and_normalise_(y.clone(), norm, activation=False)
    torch.testing.assert_close(out.std(0), torch.ones(3), rtol=0.02, atol=0)


def test_the_same_bits_come_with_any_number_of_threads():
    z, norm = torch.randn(50_000, 16, requires_grad=True), BatchNorm(16)
    weights = torch.randn(50_000, 16)
    threads, found = torch.get_num_threads(), []
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            out = activate_and_normalise_(z * 1, norm)
            found.append((out.detach(), *torch.autograd.grad((out * weights).sum(), [z, norm.weight, norm.bias])))
    finally:
        torch.set_num_threads(threads)
    for one, two in zip(*found, strict=True):
        assert torch.equal(one, two)


def test_one_row_cannot_be_normalised_in_training():
    with pytest.raises(ValueError, match="more than"):
        activate_and_normalise_(torch.zeros(1, 4), BatchNorm(4))


def test_overwriting_what_somebody_else_reads_is_noticed():
    x = torch.randn(8, 4, requires_grad=True)
    z = x.exp()  # exp keeps its result for its own gradient
    out = activate_and_normalise_(z, BatchNorm(4))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
