import pytest
import torch
from torch.nn import functional as F

from point2node.models.layers import Dense, Head, count_parameters, gather_nodes, glorot_normal_


def test_gathering_is_indexing_cloud_by_cloud():
    nodes = torch.randn(2, 5, 3)
    numbers = torch.randint(5, (2, 4, 6))
    gathered = gather_nodes(nodes, numbers)
    assert gathered.shape == (2, 4, 6, 3)
    for b in range(2):
        assert torch.equal(gathered[b], nodes[b, numbers[b]])


def test_a_dense_layer_activates_first_and_normalises_second():
    torch.manual_seed(0)
    layer, x = Dense(4, 6), torch.randn(3, 50, 4)
    y = layer(x)
    activated = F.elu(x @ layer.linear.weight.T).flatten(0, 1)
    mean, variance = activated.mean(0), activated.var(0, unbiased=False)
    torch.testing.assert_close(y.flatten(0, 1), (activated - mean) / (variance + 1e-3).sqrt(), rtol=1e-4, atol=1e-5)


def test_the_dense_layer_has_no_bias_and_learns_scale_and_shift():
    assert count_parameters(Dense(4, 6)) == 4 * 6 + 2 * 6


def test_frozen_parameters_are_not_counted():
    layer = Dense(4, 6)
    layer.linear.weight.requires_grad_(False)
    assert count_parameters(layer) == 2 * 6


def test_glorot_normal_has_the_variance_of_its_fans():
    torch.manual_seed(0)
    weight = torch.empty(400, 500)
    glorot_normal_(weight, 500, 400)
    assert weight.std().item() == pytest.approx((2 / 900) ** 0.5, rel=0.02)


def test_the_head_is_dense_layers_and_logits_with_a_bias():
    head = Head(8, (6, 4), (0.0, 0.5), 3)
    assert head(torch.randn(2, 5, 8)).shape == (2, 5, 3)
    assert count_parameters(head) == (8 * 6 + 12) + (6 * 4 + 8) + (4 * 3 + 3)
    assert head.macs(10) == 10 * (8 * 6 + 6 * 4 + 4 * 3)
