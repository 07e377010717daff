import torch

from point2node.models.catalogue import create_model
from point2node.models.reference.kcnet import SIGMA, K, KernelCorrelation
from tests.small_networks import random_input


def test_a_response_is_the_sum_of_gaussians_as_printed():
    torch.manual_seed(0)
    layer, offsets = KernelCorrelation().double(), 0.2 * torch.randn(1, 2, K, 3).double()
    found = layer(offsets)
    for i in range(2):
        for kernel in (0, 31):
            pairs = (layer.kernels[kernel][:, None] - offsets[0, i]).square().sum(-1)
            torch.testing.assert_close(found[0, i, kernel], (-pairs / SIGMA).exp().sum() / K)


def test_a_kernel_answers_most_to_its_own_points():
    torch.manual_seed(0)
    layer = KernelCorrelation().double()
    assert layer(layer.kernels[None, 3:4]).argmax() == 3


def test_the_second_layer_is_pooled_over_each_point_and_its_neighbours():
    torch.manual_seed(0)
    model = create_model("kcnet", preset="modelnet40").double().eval()
    _, pyramid = random_input(model, clouds=1)
    _, _, second, _, fourth, joined = model._local(None, pyramid)
    around = second[0, pyramid.encoder[0][0, 7]]
    assert around.shape == (1 + K, 64)
    assert torch.equal(joined[0, 7], torch.cat([around.amax(0), fourth[0, 7]]))


def test_macs_match_a_count_written_out_by_hand():
    points = 100
    layers = 35 * 64 + 64 * 64 + 64 * 64 + 64 * 128 + 192 * 1024
    by_hand = points * (16 * 32 * 16 * 3 + layers) + 1024 * 512 + 512 * 256 + 256 * 40
    assert create_model("kcnet", preset="modelnet40").macs(points) == by_hand
