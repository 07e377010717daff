import pytest
import torch

from point2node.models.catalogue import create_model
from point2node.models.reference.pointnet import AlignmentNetwork, distance_from_orthogonal
from tests.small_networks import random_input, small_reference_model


def test_alignment_begins_with_the_identity():
    matrix = AlignmentNetwork(3).eval()(torch.randn(2, 10, 3))
    assert torch.equal(matrix, torch.eye(3).expand(2, 3, 3))


def test_a_rotation_is_orthogonal_and_a_scaling_is_not():
    turned, scaled = torch.tensor([[0.0, -1.0], [1.0, 0.0]]), 2 * torch.eye(2)
    assert distance_from_orthogonal(turned[None]) == 0
    assert distance_from_orthogonal(torch.stack([turned, scaled])) == 9  # mean of 0 and 2 · (1 − 4)²


@pytest.mark.parametrize("task", ["segmentation", "classification"])
def test_the_penalty_of_a_training_pass_can_be_had_once_and_teaches_the_feature_alignment(task):
    model = small_reference_model("pointnet", task).train()
    features, pyramid = random_input(model)
    model(features, pyramid)
    penalty = model.penalty()
    assert model.penalty() is None
    penalty.backward()
    assert torch.count_nonzero(model.feature_alignment.matrix.weight.grad)
    assert model.head.logits.weight.grad is None


def test_a_fresh_network_pays_no_penalty():
    model = create_model("pointnet", preset="modelnet40").double().train()
    model(*random_input(model))
    assert model.penalty().item() == 0


def test_only_the_points_of_the_maximum_decide_the_class():
    model = small_reference_model("pointnet", "classification")
    xyz = torch.rand(1, 60, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    twice = torch.cat([xyz, xyz], dim=1)
    torch.testing.assert_close(model.run(twice), model.run(xyz), rtol=1e-6, atol=1e-8)  # the frame is float32


def test_macs_of_the_alignment_match_a_count_written_out_by_hand():
    by_hand = 100 * (3 * 64 + 64 * 128 + 128 * 1024) + 1024 * 512 + 512 * 256 + 256 * 9 + 100 * 3 * 3
    assert AlignmentNetwork(3).macs(100) == by_hand


def test_macs_of_the_classifier_are_near_the_440_million_of_the_paper():
    assert create_model("pointnet", preset="modelnet40").macs(1024) == pytest.approx(440e6, rel=0.02)


def test_a_point_is_labelled_from_its_64_features_beside_the_clouds_1024():
    assert create_model("pointnet", preset="s3dis").head.hidden[0].linear.in_features == 64 + 1024
