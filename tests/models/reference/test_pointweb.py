import torch

from point2node.models.reference.pointweb import AdaptiveFeatureAdjustment, WebAbstraction
from tests.small_networks import leave_start


def test_every_pair_of_a_group_exchanges_features_as_printed():
    torch.manual_seed(0)
    layer = leave_start(AdaptiveFeatureAdjustment(5))
    group = torch.randn(1, 2, 4, 5, dtype=torch.float64)
    adjusted = layer(group)
    for p in range(2):
        for i in range(4):
            F = group[0, p]
            total = F[i].clone()
            for j in range(4):
                difference = F[i] if i == j else F[i] - F[j]
                impact = layer.impact(layer.second(layer.first(difference[None])))[0]
                total += impact * difference
            torch.testing.assert_close(adjusted[0, p, i], total)


def test_macs_count_every_pair():
    layer = WebAbstraction(32, 61, (64,))
    pairs = 10 * 32 * 32
    assert layer.macs(10) == pairs * (64 * 32 + 32 * 32 + 32 * 64 + 64) + 10 * 32 * 64 * 64
