import pytest
import torch

from point2node.geometry.pyramid import Search
from point2node.models.peers.pointnet2_ssg import (
    CLASSIFIER,
    SEGMENTER,
    Ball,
    FeaturePropagation,
    PointNet2Classifier,
    PointNet2Segmenter,
    SetAbstraction,
    interpolate,
    level_sizes,
)


def test_the_presets_have_the_papers_levels_and_smaller_clouds_their_share():
    assert level_sizes(CLASSIFIER, 1024) == (512, 128)
    assert level_sizes(SEGMENTER, 2048) == (1024, 256, 64, 16)
    assert level_sizes(SEGMENTER, 512) == (256, 64, 16, 4)
    assert level_sizes(SEGMENTER, 5) == (2, 1, 1, 1)


def test_every_level_is_grouped_from_the_one_above_and_propagated_back():
    plan = PointNet2Segmenter(2048, 13, 3).plan
    assert plan.encoder == tuple(Search(32, 1, level, level + 1) for level in range(4))
    assert plan.decoder == tuple(Search(3, 1, level + 1, level) for level in (3, 2, 1, 0))
    assert PointNet2Classifier(1024, 40, 0).plan.encoder == (Search(32, 1, 0, 1), Search(64, 1, 1, 2))


def test_neighbours_outside_the_ball_count_for_nothing():
    torch.manual_seed(0)
    layer = SetAbstraction(Ball(1, 3, radius=1.0, widths=(8,)), in_channels=2).eval()
    points = torch.tensor([[[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [3.0, 0.0, 0.0]]])
    features = torch.randn(1, 3, 2)
    centre = points[:, :1]
    with_far = layer(centre, points, features, torch.tensor([[[0, 1, 2]]]))
    without = layer(centre, points, features, torch.tensor([[[0, 1]]]))
    torch.testing.assert_close(with_far, without)
    assert not torch.allclose(without, layer(centre, points, features, torch.tensor([[[0]]])))


def test_a_group_does_not_know_where_it_is():
    layer = SetAbstraction(Ball(1, 4, radius=2.0, widths=(8,)), in_channels=0).double().eval()
    points = torch.rand(1, 4, 3, dtype=torch.float64)
    neighbours = torch.tensor([[[0, 1, 2, 3]]])
    moved = points + 100
    here, there = (layer(xyz[:, :1], xyz, None, neighbours) for xyz in (points, moved))
    torch.testing.assert_close(there, here)


def test_interpolation_weighs_by_the_inverse_square_of_the_distance():
    points = torch.tensor([[[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]])
    features = torch.tensor([[[0.0], [10.0]]])
    queries = torch.tensor([[[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    both = torch.tensor([[[0, 1]]]).expand(1, 3, 2)
    result = interpolate(queries, points, features, both)
    torch.testing.assert_close(result, torch.tensor([[[0.0], [5.0], [2.0]]]))  # 1/1 against 1/4


@pytest.mark.parametrize("in_features", [0, 3])
def test_propagation_ends_with_the_input_features(in_features):
    model = PointNet2Segmenter(128, 5, in_features)
    assert model.propagation[-1].mlp[0].linear.in_features == 128 + in_features


def test_macs_of_one_layer_match_a_count_written_out_by_hand():
    abstraction = SetAbstraction(Ball(2, 32, 0.2, (64, 64, 128)), in_channels=0)
    assert abstraction.macs(512) == 512 * 32 * (3 * 64 + 64 * 64 + 64 * 128)
    propagation = FeaturePropagation(512, 256, (256, 256))
    assert propagation.macs(64, neighbours=3) == 64 * (3 * 512 + (512 + 256) * 256 + 256 * 256)
