import torch

from point2node.geometry.pyramid import Search
from point2node.models.catalogue import create_model
from point2node.models.reference.pointnet2_ssg import SetAbstraction


def test_every_level_is_grouped_from_the_one_above_and_propagated_back():
    with torch.device("meta"):
        segmenter, classifier = (create_model("pointnet2_ssg", preset=preset) for preset in ("s3dis", "modelnet40"))
    assert segmenter.plan.sizes(2048) == (2048, 1024, 256, 64, 16)
    assert segmenter.plan.encoder == tuple(Search(32, 1, level, level + 1) for level in range(4))
    assert segmenter.plan.decoder == tuple(Search(3, 1, level + 1, level) for level in (3, 2, 1, 0))
    assert classifier.plan.sizes(1024) == (1024, 512, 128)
    assert classifier.plan.encoder == (Search(32, 1, 0, 1), Search(64, 1, 1, 2))


def test_neighbours_outside_the_ball_count_for_nothing():
    torch.manual_seed(0)
    layer = SetAbstraction(3, radius=1.0, in_channels=2, widths=(8,)).eval()
    points = torch.tensor([[[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [3.0, 0.0, 0.0]]])
    features = torch.randn(1, 3, 2)
    centre = points[:, :1]
    with_far = layer(centre, points, features, torch.tensor([[[0, 1, 2]]]))
    without = layer(centre, points, features, torch.tensor([[[0, 1]]]))
    torch.testing.assert_close(with_far, without)
    assert not torch.allclose(without, layer(centre, points, features, torch.tensor([[[0]]])))


def test_a_group_does_not_know_where_it_is():
    layer = SetAbstraction(4, radius=2.0, in_channels=0, widths=(8,)).double().eval()
    points = torch.rand(1, 4, 3, dtype=torch.float64)
    neighbours = torch.tensor([[[0, 1, 2, 3]]])
    moved = points + 100
    here, there = (layer(xyz[:, :1], xyz, None, neighbours) for xyz in (points, moved))
    torch.testing.assert_close(there, here)


def test_macs_of_an_abstraction_match_a_count_written_out_by_hand():
    abstraction = SetAbstraction(32, 0.2, 0, (64, 64, 128))
    assert abstraction.macs(512) == 512 * 32 * (3 * 64 + 64 * 64 + 64 * 128)
