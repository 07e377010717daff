import pytest
import torch

from point2node.geometry.pyramid import Search
from point2node.kernels.calling import exportable
from point2node.models.catalogue import create_model
from point2node.models.layers import gather_nodes
from point2node.models.reference import dgcnn
from point2node.models.reference.dgcnn import EdgeConv, feature_neighbours
from tests.small_networks import random_input, small_reference_model


def as_printed(layer, nodes, neighbours):
    x_i = nodes[:, :, None].expand(-1, -1, neighbours.shape[-1], -1)
    x_j = gather_nodes(nodes, neighbours)
    edges = layer.rest(layer.first(torch.cat([x_j - x_i, x_i], dim=-1)))
    return edges.max(dim=2).values


@pytest.mark.parametrize("widths", [(6,), (6, 4)])
def test_values_and_gradients_equal_the_printed_form(widths):
    torch.manual_seed(0)
    layer = EdgeConv(3, widths).double()
    nodes = torch.randn(2, 12, 3, dtype=torch.float64, requires_grad=True)
    neighbours = torch.rand(2, 12, 12).argsort(dim=-1)[..., :5]
    arguments = [nodes, *layer.parameters()]
    results = []
    for form in (layer, lambda *given: as_printed(layer, *given)):
        value = form(nodes, neighbours)
        weights = torch.linspace(-1, 1, value.numel(), dtype=value.dtype).view_as(value)
        results.append([value, *torch.autograd.grad(value, arguments, weights)])
    torch.testing.assert_close(*results)


@pytest.mark.parametrize(("task", "graphs"), [("segmentation", 2), ("classification", 3)])
def test_every_edge_conv_but_the_first_searches_among_features(task, graphs, monkeypatch):
    searched = []

    def record(nodes, k):
        searched.append(nodes.shape[-1])
        return search(nodes, k)

    search = dgcnn.feature_neighbours
    monkeypatch.setattr(dgcnn, "feature_neighbours", record)
    model = small_reference_model("dgcnn", task)
    model(*random_input(model))
    assert searched == [64, 64, 128][:graphs]
    assert model.plan.encoder == (Search(20, 1, 0, 0),)


def test_a_cloud_smaller_than_k_is_labelled_too():
    model = small_reference_model("dgcnn", "classification")
    assert model.run(torch.rand(7, 3)).shape == (5,)


def test_macs_match_a_count_written_out_by_hand():
    edges, points = 1024 * 20, 1024
    by_hand = (
        edges * (2 * 3 * 64 + 2 * 64 * 64 + 2 * 64 * 128 + 2 * 128 * 256)
        + points * 512 * 1024
        + 2048 * 512
        + 512 * 256
        + 256 * 40
    )
    assert create_model("dgcnn", preset="modelnet40").macs(1024) == by_hand


def test_a_point_is_labelled_from_its_three_features_beside_the_clouds():
    assert create_model("dgcnn", preset="s3dis").head.hidden[0].linear.in_features == 1024 + 3 * 64


def naive(nodes, k):
    distances = (nodes[:, :, None] - nodes[:, None]).norm(dim=-1)
    return distances.argsort(dim=-1)[..., :k]


def test_neighbours_on_a_line_are_the_points_beside_each_and_itself():
    nodes = torch.tensor([[[0.0], [1.0], [3.0], [7.0]]])
    assert feature_neighbours(nodes, 2).sort().values.tolist() == [[[0, 1], [0, 1], [1, 2], [2, 3]]]


@pytest.mark.parametrize("chunk", [1, 100, 2**22])  # a row, a few rows, the whole cloud at a time
def test_chunks_give_the_neighbours_of_the_naive_form(chunk, monkeypatch):
    monkeypatch.setattr(dgcnn, "CHUNK", chunk)
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
