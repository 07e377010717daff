import pytest
import torch

from point2node.models.catalogue import build_point2node
from point2node.models.point2node.design import Design
from point2node.training.row_entropy import listening_to_rows
from tests.small_networks import CLASSIFICATION, random_input, small_network


def test_a_forward_pass_inside_notes_the_entropy_of_the_rows():
    network = small_network("segmentation", "point2node")
    features, pyramid = random_input(network)
    with listening_to_rows(network) as entropies:
        network(features, pyramid)
    nodes = network.feature_extraction(features, pyramid)
    self_stage, local_stage, non_local_stage = network.correlation.stages
    nodes = self_stage(nodes, pyramid.correlation)
    local = local_stage.correlations[0].row_entropy(nodes, pyramid.correlation)
    nodes = local_stage(nodes, pyramid.correlation)
    non_local = non_local_stage.correlations[0].row_entropy(nodes, pyramid.correlation)
    assert entropies == pytest.approx({"local_entropy": local, "non_local_entropy": non_local})
    assert 0 < non_local < 1


def test_listening_changes_nothing_and_ends():
    network = build_point2node(CLASSIFICATION, design=Design(correlation_norm=True)).double().train()
    features, pyramid = random_input(network)
    torch.manual_seed(0)
    start = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    plain = network(features, pyramid)
    after = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.load_state_dict(start)
    torch.manual_seed(0)
    with listening_to_rows(network) as entropies:
        assert torch.equal(network(features, pyramid), plain)
    assert all(torch.equal(tensor, after[name]) for name, tensor in network.state_dict().items())
    heard = dict(entropies)
    network(features, pyramid)
    assert entropies == heard


def test_of_several_correlations_the_lowest_entropy_is_noted():
    network = small_network("segmentation", "joint")
    collapsed = network.feature_extraction.inner["encoder_1"].stages[2].correlations[0]
    with torch.no_grad():
        collapsed.theta.weight.mul_(1e5)
    features, pyramid = random_input(network)
    heard = []
    collapsed.register_forward_hook(lambda module, given, _: heard.append(module.row_entropy(*given)))
    with listening_to_rows(network) as entropies:
        network(features, pyramid)
    assert entropies["non_local_entropy"] == pytest.approx(heard[0])
    assert heard[0] < 0.2


def test_a_network_without_correlations_says_nothing():
    network = small_network("classification", "baseline")
    with listening_to_rows(network) as entropies:
        network(*random_input(network))
    assert entropies == {}
