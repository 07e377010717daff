import math

import pytest
import torch

from point2node.models.catalogue import create_model
from point2node.models.reference.pointconv import PointConv, gaussian_density
from tests.small_networks import leave_start


def test_the_density_is_the_mean_of_gaussians():
    points = torch.tensor([[[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [5.0, 0.0, 0.0]]])
    near = (1 + math.exp(-0.5)) / 3
    torch.testing.assert_close(gaussian_density(points, 0.1)[0, :, 0], torch.tensor([near, near, 1 / 3]))


def test_the_efficient_form_equals_the_sum_over_neighbours():
    torch.manual_seed(0)
    layer = leave_start(PointConv(4, 6))
    offsets, grouped = torch.randn(1, 2, 5, 3).double(), torch.randn(1, 2, 5, 4).double()
    density = torch.rand(1, 2, 5, 1).double() + 0.1
    found = layer(offsets, grouped, density)
    H = layer.linear.linear.weight.view(6, 4, 16)
    for p in range(2):
        relative = (1 / density[0, p]) / (1 / density[0, p]).max()
        S, M = layer.density_net(relative), layer.weight_net(offsets[0, p])
        kernels = torch.einsum("oim,km->koi", H, M)  # W(k): one C × C_in matrix for each neighbour
        total = (S[:, :, None] * kernels @ grouped[0, p, :, :, None]).sum(dim=0)[:, 0]
        torch.testing.assert_close(found[0, p], layer.linear.activate(total[None])[0])


def test_the_segmenter_goes_back_up_the_way_it_came_down():
    with torch.device("meta"):
        model = create_model("pointconv", preset="s3dis")
    assert model.plan.sizes(2048) == (2048, 1024, 256, 64, 32)
    assert [layer.bandwidth for layer in model.deconvolution] == [0.8, 0.4, 0.2, 0.1]
    assert [search.neighbours for search in model.plan.decoder] == [3] * 4 + [16] * 4


def test_macs_match_a_count_written_out_by_hand():
    edges = 10 * 32
    by_hand = edges * (3 * 8 + 8 * 8 + 8 * 16) + edges * 2 * 16 + edges * 4 * 17 + 10 * 64 * 6
    assert PointConv(4, 6).macs(10, 32) == pytest.approx(by_hand)
