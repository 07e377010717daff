import pytest
import torch

from point2node.geometry.pyramid import Search, build_pyramid
from point2node.models.catalogue import SIZES
from point2node.models.point2node.design import Design
from point2node.models.point2node.feature_extraction import FeatureExtraction


def extraction(preset, **changes):
    size = SIZES[preset]
    arguments = {"in_features": size.in_features, "sampling": size.sampling} | changes
    with torch.device("meta"):
        return FeatureExtraction(size.encoder, size.decoder, **arguments)


def test_the_decoder_searches_among_the_points_that_its_features_live_on():
    decoder = extraction("s3dis").plan.decoder
    assert decoder == (Search(16, 4, 3, 3), Search(16, 2, 3, 2), Search(12, 2, 2, 1), Search(8, 2, 1, 0))


def test_the_lifted_widths_are_those_of_the_levels_that_pointcnn_names():
    network = extraction("s3dis")
    assert [layer.lift[1].linear.out_features for layer in network.encoder] == [64, 64, 128, 192]
    assert [layer.lift[1].linear.out_features for layer in network.decoder] == [256, 192, 192, 128]
    assert extraction("scannet").encoder[0].lift[1].linear.out_features == 128  # no input features: C/2


def test_depth_multipliers_are_four_then_the_growth_of_the_width_then_one():
    network = extraction("s3dis")
    assert [layer.depthwise.shape[-1] for layer in network.encoder] == [4, 2, 2, 2]
    assert {layer.depthwise.shape[-1] for layer in network.decoder} == {1}


def test_only_the_last_encoder_layer_sees_global_coordinates():
    network = extraction("s3dis")
    assert [layer.out_channels for layer in network.encoder] == [256, 512, 768, 1280]
    assert [layer.global_lift is None for layer in network.encoder] == [True, True, True, False]


@pytest.mark.parametrize("preset", [preset for preset, size in SIZES.items() if size.points <= 1024])
def test_nodes_have_the_width_and_number_that_the_extraction_states(preset):
    size = SIZES[preset]
    network = FeatureExtraction(size.encoder, size.decoder, in_features=size.in_features, sampling=size.sampling)
    xyz = torch.rand(2, size.points, 3)
    features = torch.randn(2, size.points, size.in_features) if size.in_features else None
    nodes = network(features, build_pyramid(xyz, network.plan))
    assert nodes.shape == (2, network.plan.sizes(size.points)[network.node_level], network.channels)


@pytest.mark.parametrize("in_features", [0, 1, 3, 6])
def test_input_features_may_have_any_width(in_features):
    size = SIZES["tiny"]
    network = FeatureExtraction(size.encoder, size.decoder, in_features=in_features, sampling="farthest")
    features = torch.randn(1, 256, in_features) if in_features else None
    assert network(features, build_pyramid(torch.rand(1, 256, 3), network.plan)).shape == (1, 256, 32)


def test_the_decoder_can_search_on_the_level_that_pointcnn_names():
    decoder = extraction("s3dis", design=Design(decoder_source="named")).plan.decoder
    assert decoder == (Search(16, 4, 3, 3), Search(16, 2, 2, 2), Search(12, 2, 2, 1), Search(8, 2, 1, 0))


def test_on_the_named_level_points_without_features_count_as_zeros():
    size = SIZES["tiny"]
    torch.manual_seed(0)
    network = FeatureExtraction(
        size.encoder, size.decoder, in_features=0, sampling="farthest", design=Design(decoder_source="named")
    ).eval()
    pyramid = build_pyramid(torch.rand(2, 512, 3), network.plan)
    coarse, fine = pyramid.levels[3], pyramid.levels[2]
    assert torch.equal(fine[:, : coarse.shape[1]], coarse)  # levels nest
    seen = []
    network.decoder[1].register_forward_pre_hook(lambda module, inputs: seen.append(inputs))
    network(None, pyramid)
    _, points, features, _ = seen[0]
    assert torch.equal(points, fine)
    assert features.shape[1] == fine.shape[1]
    assert torch.count_nonzero(features[:, : coarse.shape[1]])
    assert not torch.count_nonzero(features[:, coarse.shape[1] :])


def test_the_x_transformation_can_start_from_the_fans_of_pointcnns_convolution():
    size = SIZES["modelnet40"]
    torch.manual_seed(0)
    starts = {
        start: FeatureExtraction(size.encoder, in_features=0, sampling="random", design=Design(chi_start=start))
        for start in ("dense", "convolution")
    }
    spread = {
        start: [layer.x_transformation.over_all.linear.weight.std().item() for layer in network.encoder]
        for start, network in starts.items()
    }
    assert spread["dense"][::2] == pytest.approx([0.151, 0.081], rel=0.05)  # K = 8 and 16
    assert spread["convolution"][::2] == pytest.approx([0.061, 0.022], rel=0.05)
