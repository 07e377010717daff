import torch

from point2node.geometry.pyramid import Search
from point2node.models.catalogue import create_model
from point2node.models.reference.gacnet import GraphAttention
from tests.small_networks import leave_start


def test_attention_is_a_weighted_mean_of_the_neighbours_channel_by_channel():
    torch.manual_seed(0)
    layer = leave_start(GraphAttention(5))
    h, edges = torch.randn(1, 4, 5).double(), torch.randn(1, 4, 3, 3).double()
    neighbours = torch.tensor([[[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]]])
    found = layer(h, edges, neighbours)
    assert found.shape == (1, 4, 16 + 5)
    for i in range(4):
        around = h[0, neighbours[0, i]]
        position, difference = layer.position(edges[0, i]), layer.feature(around - h[0, i])
        a = layer.attention(layer.merged(torch.cat([position, difference], -1))).softmax(dim=0)
        torch.testing.assert_close(found[0, i], (a * torch.cat([position, around], -1)).sum(0))
    torch.testing.assert_close(a.sum(0), torch.ones(21).double())


def test_every_level_has_a_graph_and_is_pooled_over_the_graph_above():
    with torch.device("meta"):
        plan = create_model("gacnet", preset="s3dis").plan
    assert plan.sizes(4096) == (4096, 512, 128, 32, 16)
    assert plan.encoder[:5] == tuple(Search(k, 1, level, level) for level, k in enumerate((12, 21, 21, 21, 12)))
    assert plan.encoder[5:] == tuple(Search(k, 1, level, level + 1) for level, k in enumerate((12, 21, 21, 21)))
