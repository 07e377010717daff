"""The fidelity check: parameter counts that only the paper's architecture has."""

import pytest

from point2node import VARIANTS, create_model, list_models
from point2node.models.layers import count_parameters

LISTED = list(list_models())
ENTRIES = {(entry.preset, entry.variant): entry for entry in LISTED if entry.name == "point2node"}
PUBLISHED = {(entry.preset, entry.name): entry for entry in LISTED if entry.variant is None}


@pytest.mark.parametrize(
    ("preset", "parameters"), [("s3dis", 11_512_845), ("scannet", 11_459_413), ("modelnet40", 599_340)]
)
def test_the_baseline_has_exactly_the_parameters_of_pointcnn(preset, parameters):
    assert ENTRIES[preset, "baseline"].parameters == parameters


def test_both_sizes_of_the_papers_complexity_table_are_met_in_units_of_2_20():
    assert round(ENTRIES["s3dis", "baseline"].parameters_mi, 2) == 10.98
    assert round(ENTRIES["s3dis", "point2node"].parameters_mi, 2) == 11.14


def test_the_increment_is_the_sum_of_the_papers_modules_and_their_biases():
    C, r = 256, 8
    maps = C + C * C + 4 * C * C // r + 2 * 4 * C * C // r
    biases = C + 2 * C // r + 4 * (C // r + C) + 1  # self, two θ, four gate MLPs, α
    increment = ENTRIES["s3dis", "point2node"].parameters - ENTRIES["s3dis", "baseline"].parameters
    assert increment == maps + biases
    assert 11_676_000 < ENTRIES["s3dis", "point2node"].parameters < 11_686_000


def test_the_classifier_correlates_480_channels():
    model = create_model(preset="modelnet40")
    assert model.correlation.channels == 480
    biases = 480 + 2 * 60 + 4 * (60 + 480) + 1
    assert count_parameters(model) == 1_175_820 + biases


@pytest.mark.parametrize(
    ("peer", "parameters", "published"),
    [
        ("pointnet", 3_473_969, 3.5),  # as their papers and those that compare with them print it
        ("pointnet2_ssg", 1_472_360, 1.5),
        ("dgcnn", 1_809_320, 1.8),
        ("pointnext_s", 1_373_512, 1.4),  # 1.374 in its release
    ],
)
def test_the_peers_have_the_published_sizes_on_modelnet40(peer, parameters, published):
    assert PUBLISHED["modelnet40", peer].parameters == parameters
    assert round(parameters / 1e6, 1) == published


def test_pointnext_s_has_its_released_size_on_s3dis():
    assert PUBLISHED["s3dis", "pointnext_s"].parameters == 792_237  # 0.792 M: rgb and height


def test_macs_of_the_correlations_are_those_of_the_papers_formulas():
    N, K, C, R = 2048, 16, 256, 32
    correlation = {variant: ENTRIES["s3dis", variant].macs - ENTRIES["s3dis", "baseline"].macs for variant in VARIANTS}
    gate = 2 * N * C
    assert correlation["self_only"] == N * (C + C * C + C) + N * C
    assert correlation["local_only"] == N * K * (2 * C * R + K * R + K * C) + gate + 4 * C * R
    assert correlation["non_local_only"] == N * (2 * C * R + N * R + N * C) + gate + 4 * C * R
    assert correlation["point2node"] == sum(
        correlation[variant] for variant in ("self_only", "local_only", "non_local_only")
    )


def test_macs_of_the_baseline_match_a_count_written_out_by_hand():
    def chi_conv(K, P, width, lifted, multiplier, C):
        lift = K * (3 * lifted + lifted * lifted)
        x = 3 * K * K * K + 2 * K**3
        return P * (lift + x + K * K * width + K * width * multiplier + width * multiplier * C)

    by_hand = (
        2048 * 3 * 128
        + chi_conv(8, 2048, 64 + 128, 64, 4, 256)
        + chi_conv(12, 768, 64 + 256, 64, 2, 512)
        + chi_conv(16, 384, 128 + 512, 128, 2, 768)
        + chi_conv(16, 128, 192 + 768, 192, 2, 1024)
        + 128 * (3 * 256 + 256 * 256)
        + chi_conv(16, 128, 256 + 1280, 256, 1, 1024)
        + 128 * (1024 + 1280) * 1024
        + chi_conv(16, 384, 192 + 1024, 192, 1, 768)
        + 384 * 2 * 768 * 768
        + chi_conv(12, 768, 192 + 768, 192, 1, 512)
        + 768 * 2 * 512 * 512
        + chi_conv(8, 2048, 128 + 512, 128, 1, 256)
        + 2048 * 2 * 256 * 256
        + 2048 * (256 * 256 * 2 + 256 * 13)
    )
    assert ENTRIES["s3dis", "baseline"].macs == by_hand
