import pytest
import torch

from point2node.models.catalogue import ONE_TASK, PEERS
from tests.small_networks import random_input, small_peer


@pytest.mark.parametrize("name", PEERS)
def test_a_segmenter_runs_the_last_layers_of_its_head_on_every_node(name):
    model = small_peer(name, "segmentation")
    nodes = model._nodes(*random_input(model, points=256))
    assert nodes.shape[-1] == model.node_channels == model.head.last_in_channels
    assert model.macs(256) - model._body_macs(256) == model.head.macs(256)


@pytest.mark.parametrize("name", [name for name in PEERS if name not in ONE_TASK])
def test_a_classifier_labels_a_cloud_from_one_summary_of_its_nodes(name):
    model = small_peer(name, "classification")
    features, pyramid = random_input(model, points=128)
    summary = model._summary(model._nodes(features, pyramid), pyramid)
    assert summary.ndim == 2
    assert torch.equal(model(features, pyramid), model.head(summary))
    assert model.macs(128) - model._body_macs(128) == model.head.macs(1)
