import torch

from point2node.models.catalogue import create_model
from point2node.models.reference.pointnext_s import ResidualAbstraction
from tests.small_networks import leave_start


def test_radii_and_channels_double_level_by_level():
    with torch.device("meta"):
        model = create_model("pointnext_s", preset="s3dis")
    assert [layer.radius for layer in model.abstraction] == [0.1, 0.2, 0.4, 0.8]
    assert [layer.out_channels for layer in model.abstraction] == [64, 128, 256, 512]


def test_a_centre_keeps_its_own_features_by_the_shortcut():
    torch.manual_seed(0)
    layer = leave_start(ResidualAbstraction(0.5, 4, 8))
    points, features = torch.rand(1, 6, 3, dtype=torch.float64), torch.randn(1, 6, 4, dtype=torch.float64)
    found = layer(points[:, 2:3], points, features, torch.tensor([[[2]]]))
    own = torch.cat([torch.zeros(3, dtype=torch.float64), features[0, 2]])
    edge = layer.norm(layer.second(layer.first(own[None])))
    torch.testing.assert_close(found[0], torch.relu(edge + layer.shortcut(features[0, 2])))


def test_macs_of_the_classifier_are_the_published_0_81_billion():
    with torch.device("meta"):
        assert round(create_model("pointnext_s", preset="modelnet40").macs(1024) / 1e9, 2) == 0.81
