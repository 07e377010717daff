import pytest
import torch
from torch.nn import functional as F

from point2node.models.layers import count_parameters
from point2node.models.reference.layers import Mlp, NormalisedDense, join_features, spread_maximum


@pytest.mark.parametrize(("slope", "activation"), [(0.0, F.relu), (0.2, lambda z: F.leaky_relu(z, 0.2))])
def test_a_layer_normalises_first_and_activates_second(slope, activation):
    torch.manual_seed(0)
    layer, x = NormalisedDense(4, 6, slope), torch.randn(3, 50, 4)
    z = (x @ layer.linear.weight.T).flatten(0, 1)
    expected = activation((z - z.mean(0)) / (z.var(0, unbiased=False) + 1e-5).sqrt())
    torch.testing.assert_close(layer(x).flatten(0, 1), expected, rtol=1e-4, atol=1e-5)


def test_an_mlp_is_its_layers_one_after_the_other():
    mlp = Mlp(3, (8, 5))
    assert mlp(torch.randn(2, 7, 3)).shape == (2, 7, 5)
    assert count_parameters(mlp) == (3 * 8 + 2 * 8) + (8 * 5 + 2 * 5)
    assert mlp.macs(10) == 10 * (3 * 8 + 8 * 5)


def test_features_follow_the_coordinates():
    xyz, features = torch.zeros(1, 2, 3), torch.ones(1, 2, 2)
    assert join_features(xyz, features)[0, 0].tolist() == [0, 0, 0, 1, 1]
    assert join_features(xyz, None) is xyz


def test_every_point_of_a_cloud_is_given_its_maximum():
    x = torch.tensor([[[1.0, 5.0], [3.0, 2.0]], [[0.0, 0.0], [-1.0, 4.0]]])
    assert spread_maximum(x).tolist() == [[[3, 5], [3, 5]], [[0, 4], [0, 4]]]
