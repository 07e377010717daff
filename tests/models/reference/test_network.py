import pytest
import torch
from torch.nn import functional as F

from point2node.models.catalogue import ONE_TASK, REFERENCE_MODELS
from point2node.models.layers import count_parameters
from point2node.models.reference.network import Mlp, NormalisedDense, join_features, spread_maximum
from tests.small_networks import random_input, small_reference_model


@pytest.mark.parametrize("name", REFERENCE_MODELS)
def test_a_segmenter_runs_the_last_layers_of_its_head_on_every_node(name):
    model = small_reference_model(name, "segmentation")
    nodes = model._nodes(*random_input(model, points=256))
    assert nodes.shape[-1] == model.node_channels == model.head.last_in_channels
    assert model.macs(256) - model._body_macs(256) == model.head.macs(256)


@pytest.mark.parametrize("name", [name for name in REFERENCE_MODELS if name not in ONE_TASK])
def test_a_classifier_labels_a_cloud_from_one_summary_of_its_nodes(name):
    model = small_reference_model(name, "classification")
    features, pyramid = random_input(model, points=128)
    summary = model._summary(model._nodes(features, pyramid), pyramid)
    assert summary.ndim == 2
    assert torch.equal(model(features, pyramid), model.head(summary))
    assert model.macs(128) - model._body_macs(128) == model.head.macs(1)


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
