"""Each correlation against its printed equations, and small cases worked out by hand."""

import math

import pytest
import torch

from point2node.kernels.calling import torch_only
from point2node.models.point2node.design import Design
from point2node.models.point2node.method import (
    AdaptiveFeatureAggregation,
    LinearAggregation,
    LocalCorrelation,
    NonLocalCorrelation,
    SelfCorrelation,
    mean_entropy,
)
from tests.small_networks import leave_start

B, N, C, R, K = 2, 30, 16, 4, 5


@pytest.fixture
def nodes():
    generator = torch.Generator().manual_seed(3)
    return torch.randn(B, N, C, generator=generator, dtype=torch.float64, requires_grad=True)


@pytest.fixture
def neighbours():
    return torch.randint(N, (B, N, K), generator=torch.Generator().manual_seed(4))


def assert_same(fast, printed, parameters):
    weights = torch.randn_like(printed)
    torch.testing.assert_close(fast, printed, rtol=1e-10, atol=1e-12)
    for a, b in zip(
        torch.autograd.grad((fast * weights).sum(), parameters),
        torch.autograd.grad((printed * weights).sum(), parameters),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


def test_local_correlation_equals_equations_4_to_8(nodes, neighbours):
    correlation = leave_start(LocalCorrelation(C, R), by=0.5)
    parameters = [nodes, *correlation.parameters()]
    assert_same(correlation(nodes, neighbours), correlation.as_printed(nodes, neighbours), parameters)
    with torch_only():
        assert_same(correlation(nodes, neighbours), correlation.as_printed(nodes, neighbours), parameters)


def test_non_local_correlation_equals_equations_9_to_12(nodes):
    correlation = leave_start(NonLocalCorrelation(C, R), by=0.5)
    assert_same(correlation(nodes), correlation.as_printed(nodes), [nodes, *correlation.parameters()])


def test_self_correlation_weighs_channels_by_a_softmax_over_channels():
    correlation = SelfCorrelation(2).double()
    with torch.no_grad():
        correlation.depthwise.copy_(torch.tensor([2.0, 1.0]))
        correlation.pointwise.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        correlation.pointwise.bias.copy_(torch.tensor([0.0, math.log(3.0)]))
    node = torch.tensor([[[0.5, 1.0]]], dtype=torch.float64)  # w = (1, 1 + log 3), w̄ = (1/4, 3/4)
    torch.testing.assert_close(correlation(node), torch.tensor([[[0.125, 0.75]]], dtype=torch.float64))


def test_non_local_correlation_of_unrelated_nodes_is_their_mean():
    correlation = NonLocalCorrelation(4, 2).double()
    torch.nn.init.zeros_(correlation.phi.weight)
    nodes = torch.randn(1, 6, 4, dtype=torch.float64)
    torch.testing.assert_close(correlation(nodes), nodes.mean(1, keepdim=True).expand_as(nodes))


@pytest.mark.parametrize("channels", [32, 256])
def test_every_node_begins_by_listening_to_all(channels):
    torch.manual_seed(0)
    nodes = torch.randn(1, 512, channels, generator=torch.Generator().manual_seed(0))
    rows = NonLocalCorrelation(channels, 8).adjacency_rows(nodes, torch.arange(512)[None])
    assert rows.max() < 3 / 512
    graphs = LocalCorrelation(channels, 8).adjacency(nodes, torch.arange(512).reshape(1, 32, 16))
    assert graphs.max() < 3 / 16


def test_a_local_graph_of_one_node_returns_that_node(nodes):
    itself = torch.arange(N).expand(B, N)[..., None]
    torch.testing.assert_close(LocalCorrelation(C, R).double()(nodes, itself), nodes)


def test_linear_aggregation_adds_each_update_with_its_own_scale():
    aggregation = LinearAggregation(updates=2)
    with torch.no_grad():
        aggregation.alpha.copy_(torch.tensor([2.0, -1.0]))
    one = torch.ones(1, 3, 2)
    torch.testing.assert_close(aggregation(one, [one, 3 * one]), 0 * one)


def test_scales_start_at_1_so_that_the_correlation_learns_from_the_start():
    assert LinearAggregation(2).alpha.tolist() == [1.0, 1.0]


def test_parameter_free_gates_are_a_softmax_of_the_mean_of_each_channel():
    nodes, update = torch.zeros(1, 4, 2), torch.full((1, 4, 2), math.log(3.0))
    aggregation = AdaptiveFeatureAggregation(2, None)
    assert not list(aggregation.parameters())
    torch.testing.assert_close(aggregation.gates(nodes, [update]), torch.tensor([[[0.25, 0.25], [0.75, 0.75]]]))
    torch.testing.assert_close(aggregation(nodes, [update]), 0.75 * update)


def test_gates_look_at_each_cloud_alone(nodes):
    aggregation = AdaptiveFeatureAggregation(C, R).double()
    both = aggregation(nodes, [nodes**2])
    torch.testing.assert_close(both[1:], aggregation(nodes[1:], [nodes[1:] ** 2]))


def test_phi_has_no_bias_because_the_softmax_cancels_it(nodes, neighbours):
    correlation = leave_start(LocalCorrelation(C, R), by=0.5)
    before = correlation.adjacency(nodes, neighbours)
    assert correlation.phi.bias is None
    correlation.phi.bias = torch.nn.Parameter(torch.randn(C // R, dtype=torch.float64))
    torch.testing.assert_close(correlation.adjacency(nodes, neighbours), before)


SCALED, NORMALISED = Design(correlation_scale=True), Design(correlation_norm=True)


@pytest.mark.parametrize("design", [SCALED, NORMALISED], ids=["scale", "norm"])
def test_scaled_and_normalised_correlations_equal_their_printed_forms(design, nodes, neighbours):
    local, non_local = (leave_start(kind(C, R, design), by=0.5) for kind in (LocalCorrelation, NonLocalCorrelation))
    learnt = [parameter for name, parameter in local.named_parameters() if name != "phi.norm.bias"]
    assert_same(local(nodes, neighbours), local.as_printed(nodes, neighbours), [nodes, *learnt])
    learnt = [parameter for name, parameter in non_local.named_parameters() if name != "phi.norm.bias"]
    assert_same(non_local(nodes), non_local.as_printed(nodes), [nodes, *learnt])


def test_the_scale_divides_the_correlations_by_the_root_of_their_width(nodes):
    plain, scaled = NonLocalCorrelation(C, R).double(), NonLocalCorrelation(C, R, SCALED).double()
    scaled.load_state_dict(plain.state_dict())
    rows = torch.arange(N).expand(B, -1)
    expected = (plain.theta(nodes) @ plain.phi(nodes).mT / (C // R) ** 0.5).softmax(dim=-1)
    torch.testing.assert_close(scaled.adjacency_rows(nodes, rows), expected)


def test_a_norm_takes_the_place_of_the_bias_of_theta():
    correlation = LocalCorrelation(C, R, NORMALISED)
    assert {name for name, _ in correlation.named_parameters()} == {
        f"{projection}.{name}" for projection in ("theta", "phi") for name in ("weight", "norm.weight", "norm.bias")
    }


@pytest.mark.parametrize("channels", [64, 256, 480])
def test_an_even_start_is_as_even_at_every_width_and_glorots_is_not(channels):
    nodes = torch.randn(1, 512, channels, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    even, glorot = (NonLocalCorrelation(channels, 8, Design(correlation_start=start)) for start in ("even", "glorot"))
    m = even.theta(nodes) @ even.phi(nodes).mT
    assert m.std().item() == pytest.approx(0.1, rel=0.3)
    assert even.row_entropy(nodes, None) > 0.995
    assert glorot.row_entropy(nodes, None) < 0.5


def test_entropy_is_1_for_even_rows_and_0_for_rows_of_one_node():
    assert mean_entropy(torch.full((2, 3, 8), 1 / 8)) == pytest.approx(1)
    assert mean_entropy(torch.eye(8)) == 0
    assert mean_entropy(torch.tensor([[0.5, 0.5, 0.0, 0.0]])) == pytest.approx(0.5)
    assert mean_entropy(torch.ones(4, 1)) == 1


def test_row_entropies_are_means_over_the_rows(nodes, neighbours):
    local = leave_start(LocalCorrelation(C, R), by=0.5)
    expected = mean_entropy(local.adjacency(nodes, neighbours))
    assert local.row_entropy(nodes, neighbours) == pytest.approx(expected)
