import pytest
import torch

from point2node.models.catalogue import create_model
from point2node.models.reference.hierarchy import FeaturePropagation, interpolate, level_sizes


def test_levels_are_shares_of_the_cloud_and_never_empty():
    assert level_sizes((2, 8, 32, 128), 2048) == (1024, 256, 64, 16)
    assert level_sizes((2, 8, 32, 128), 5) == (2, 1, 1, 1)


def test_interpolation_weighs_by_the_inverse_square_of_the_distance():
    points = torch.tensor([[[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]])
    features = torch.tensor([[[0.0], [10.0]]])
    queries = torch.tensor([[[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    both = torch.tensor([[[0, 1]]]).expand(1, 3, 2)
    result = interpolate(queries, points, features, both)
    torch.testing.assert_close(result, torch.tensor([[[0.0], [5.0], [2.0]]]))  # 1/1 against 1/4


@pytest.mark.parametrize("in_features", [0, 3])
def test_propagation_ends_with_the_input_features(in_features):
    model = create_model("pointnet2_ssg", preset="tiny", in_features=in_features)
    assert model.propagation[-1].mlp[0].linear.in_features == 128 + in_features


def test_macs_of_propagation_match_a_count_written_out_by_hand():
    propagation = FeaturePropagation(512, 256, (256, 256))
    assert propagation.macs(64, neighbours=3) == 64 * (3 * 512 + (512 + 256) * 256 + 256 * 256)
