import pytest
import torch

from point2node.kernels.switch import exportable
from point2node.models.reference import feature_neighbours as feature_neighbours_file
from point2node.models.reference.feature_neighbours import feature_neighbours


def naive(nodes, k):
    distances = (nodes[:, :, None] - nodes[:, None]).norm(dim=-1)
    return distances.argsort(dim=-1)[..., :k]


def test_neighbours_on_a_line_are_the_points_beside_each_and_itself():
    nodes = torch.tensor([[[0.0], [1.0], [3.0], [7.0]]])
    assert feature_neighbours(nodes, 2).sort().values.tolist() == [[[0, 1], [0, 1], [1, 2], [2, 3]]]


@pytest.mark.parametrize("chunk", [1, 100, 2**22])  # a row, a few rows, the whole cloud at a time
def test_chunks_give_the_neighbours_of_the_naive_form(chunk, monkeypatch):
    monkeypatch.setattr(feature_neighbours_file, "CHUNK", chunk)
    nodes = torch.randn(2, 30, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.equal(feature_neighbours(nodes, 5).sort().values, naive(nodes, 5).sort().values)


def test_the_exported_form_gives_the_neighbours_of_the_naive_form():
    nodes = torch.randn(2, 30, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with exportable():
        assert torch.equal(feature_neighbours(nodes, 5).sort().values, naive(nodes, 5).sort().values)


def test_features_far_from_0_keep_their_neighbours():
    nodes = torch.randn(2, 30, 8, generator=torch.Generator().manual_seed(0))
    far = (nodes.double() + 1000).float()
    assert torch.equal(feature_neighbours(far, 5).sort().values, naive(far.double(), 5).sort().values)


def test_a_cloud_smaller_than_k_has_all_its_nodes_as_neighbours():
    assert feature_neighbours(torch.randn(1, 3, 2), 20).sort().values.tolist() == [[[0, 1, 2]] * 3]
