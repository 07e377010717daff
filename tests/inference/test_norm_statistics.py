import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.geometry.blocks import BlockRules
from point2node.inference.labeller import Options
from point2node.inference.norm_statistics import (
    SAMPLES_AT_ONCE,
    batch_norms,
    draw_samples,
    estimate_statistics,
    mix_statistics,
)
from point2node.inference.strips import Plan
from point2node.inference.votes import SceneInput
from tests.inference.labellers import height_labeller, real_labeller

RULES = BlockRules(1.5, 0.05, 256)


def scene_of(points=2400, seed=0):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, [4, 3, 2.5], (points, 3)).astype(np.float32)
    rgb = random.uniform(-0.5, 0.5, (points, 3)).astype(np.float32)
    return SceneInput(xyz, lambda numbers: rgb[numbers], "room", "block")


def tensors_of(network):
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def same(ours, theirs):
    return all(torch.equal(ours[name], theirs[name]) for name in theirs)


def naive_statistics(network, samples):
    """Every norm's input is recorded in turn, batch by batch, and its moments are taken in double precision."""
    twin = copy.deepcopy(network)
    order = np.random.default_rng(0).permutation(len(samples))
    batches = np.array_split(order, -(-len(samples) // SAMPLES_AT_ONCE))
    found = {name: [] for name in batch_norms(twin)}

    def recorder(name, norm):
        def normalise(rows):
            x = rows.double()
            mean, variance = x.mean(dim=0), x.var(dim=0, correction=0)
            found[name].append((mean, x.var(dim=0, correction=1)))
            normed = (x - mean) / (variance + norm.eps).sqrt() * norm.weight.double() + norm.bias.double()
            return normed.to(rows)

        return normalise

    for name, norm in batch_norms(twin).items():
        norm.forward = recorder(name, norm)
    from point2node.data.batches import make_batch

    for numbers in batches:
        batch = make_batch([samples[number] for number in numbers], network.plan, seed=0)
        twin(batch.features, batch.pyramid)  # with gradients, norms in evaluation mode are called as modules
    return {
        name: tuple(torch.stack([one[part] for one in parts]).mean(dim=0) for part in (0, 1))
        for name, parts in found.items()
    }


def test_statistics_are_those_of_a_naive_twin_that_records_every_input():
    network = real_labeller().network
    samples = draw_samples(scene_of(), RULES, 192, 11)  # two batches, of six and of five
    before = tensors_of(network)
    found, expected = estimate_statistics(network, samples), naive_statistics(network, samples)
    assert set(found) == set(expected)
    for name, (mean, variance) in found.items():
        torch.testing.assert_close(mean.double(), expected[name][0], rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(variance.double(), expected[name][1], rtol=1e-3, atol=1e-4)
    assert same(network.state_dict(), before)
    assert not any(module.training for module in network.modules())


def test_share_0_leaves_every_bit_and_share_1_takes_the_given_statistics_bit_for_bit():
    network = real_labeller().network
    statistics = estimate_statistics(network, draw_samples(scene_of(), RULES, 192, 4))
    before = tensors_of(network)
    assert same(mix_statistics(network, statistics, 0.0).state_dict(), before)
    mixed = mix_statistics(network, statistics, 1.0)
    for name, norm in batch_norms(mixed).items():
        assert torch.equal(norm.running_mean, statistics[name][0])
        assert torch.equal(norm.running_var, statistics[name][1])
    for name, tensor in mixed.state_dict().items():
        assert name.rpartition(".")[2] in ("running_mean", "running_var") or torch.equal(tensor, before[name])
    assert same(network.state_dict(), before)


@given(st.floats(0, 1), st.integers(0, 100))
@settings(max_examples=20)
def test_a_mixed_statistic_is_the_weighted_mean(share, seed):
    network = real_labeller().network
    generator = torch.Generator().manual_seed(seed)
    statistics = {
        name: (torch.randn(norm.num_features, generator=generator), torch.rand(norm.num_features, generator=generator))
        for name, norm in batch_norms(network).items()
    }
    mixed = batch_norms(mix_statistics(network, statistics, share))
    for name, norm in batch_norms(network).items():
        mean = (1 - share) * norm.running_mean + share * statistics[name][0]
        variance = (1 - share) * norm.running_var + share * statistics[name][1]
        torch.testing.assert_close(mixed[name].running_mean, mean, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(mixed[name].running_var, variance, rtol=1e-5, atol=1e-6)
        assert (mixed[name].running_var >= 0).all()


def cloud_of(points=1200, seed=0):
    random = np.random.default_rng(seed)
    return PointCloud(random.uniform(0, [3, 3, 2.5], (points, 3)), rgb=random.integers(0, 256, (points, 3)))


def test_the_labeller_labels_as_a_network_with_mixed_statistics_would_and_stays_as_it_is():
    labeller, cloud = real_labeller(), cloud_of()
    plain = labeller.label(cloud)
    adapted = labeller.label(cloud, Options(norm_share=0.5))
    assert not np.array_equal(adapted.confidence, plain.confidence)
    assert adapted.protocol["norm_share"] == 0.5
    assert np.array_equal(labeller.label(cloud).confidence, plain.confidence)
    assert np.array_equal(labeller.label(cloud, Options(norm_share=0.5)).confidence, adapted.confidence)


def test_a_cloud_in_strips_is_adapted_once_as_a_whole(monkeypatch):
    from point2node.inference import labeller as labelling

    seen = []
    monkeypatch.setattr(
        labelling,
        "estimate_statistics",
        lambda network, samples: seen.append(samples) or estimate_statistics(network, samples),
    )
    monkeypatch.setattr(labelling, "plan_memory", lambda *_, **__: Plan(900, 0, 0))
    random = np.random.default_rng(0)
    cloud = PointCloud(random.uniform(0, [30, 2, 2.5], (1600, 3)))
    real_labeller(block_side=1.0).label(cloud, Options(norm_share=0.5))
    assert len(seen) == 1
    assert len(seen[0]) > 4


def test_networks_without_batch_norm_and_clouds_without_enough_points_are_refused():
    with pytest.raises(InputError, match="expected a network with batch norm"):
        height_labeller().label(cloud_of(), Options(norm_share=0.5))
    with pytest.raises(InputError, match=r"cloud: expected at least 192 points .*, found 191"):
        real_labeller().label(cloud_of(191), Options(norm_share=0.5))
    with pytest.raises(InputError, match=r"norm share: expected 0 to 1, found 1\.5"):
        Options(norm_share=1.5)
    with pytest.raises(InputError, match="batch norm"):
        batch_norms(nn.Linear(2, 2))
