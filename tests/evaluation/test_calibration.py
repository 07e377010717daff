import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from point2node.evaluation.calibration import TemperatureSearch, bins, fold_temperature, undo_class_weights
from point2node.evaluation.metrics import Calibration
from point2node.models.catalogue import create_model


def labels_drawn_from(logits, seed):
    """Labels that come up as often as the softmax of the logits says."""
    drawn = torch.multinomial(logits.softmax(dim=1), 1, generator=torch.Generator().manual_seed(seed))
    return drawn[:, 0].numpy()


@given(st.floats(0.3, 4), st.integers(0, 20))
def test_a_network_that_is_too_sure_by_a_factor_gets_that_factor_back(factor, seed):
    logits = 2 * torch.randn(20000, 5, generator=torch.Generator().manual_seed(seed))
    truth = labels_drawn_from(logits, seed)
    search = TemperatureSearch()
    for part in range(4):  # as batches
        rows = slice(5000 * part, 5000 * (part + 1))
        search.add(truth[rows], (factor * logits[rows]).softmax(dim=1))
    assert search.best == pytest.approx(factor, rel=0.06)


def test_points_without_a_label_do_not_count():
    logits = torch.randn(4000, 3, generator=torch.Generator().manual_seed(1))
    truth = labels_drawn_from(logits, 2)
    alone, beside = TemperatureSearch(), TemperatureSearch()
    alone.add(truth, logits.softmax(dim=1))
    unknown = np.full(len(truth), -1)
    beside.add(np.concatenate([truth, unknown]), torch.cat([logits, 9 * logits]).softmax(dim=1))
    assert beside.best == pytest.approx(alone.best, rel=1e-5)


def test_a_network_that_is_always_right_and_sure_keeps_a_finite_temperature():
    search = TemperatureSearch()
    search.add(np.zeros(10, np.int64), torch.tensor([[1.0, 0.0]]).repeat(10, 1))
    assert 0.05 < search.best < 10


@pytest.mark.parametrize(("model", "preset"), [("point2node", "tiny"), ("point2node", "modelnet10"), ("dgcnn", "tiny")])
def test_a_folded_temperature_divides_every_logit(model, preset):
    torch.manual_seed(0)
    network = create_model(model, preset=preset).eval()
    xyz = torch.rand(1024, 3)
    features = torch.rand(1024, network.in_features) if network.in_features else None
    before = network.run(xyz, features)
    fold_temperature(network, 2.5)
    torch.testing.assert_close(network.run(xyz, features), before / 2.5, rtol=1e-4, atol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_class_weights_that_are_taken_back_leave_the_probabilities_of_the_data(seed):
    torch.manual_seed(seed)
    network = create_model(preset="tiny").eval()
    weights = torch.rand(13) + 0.1
    weights[4] = 0.0  # never seen
    with torch.no_grad():
        xyz, features = torch.rand(256, 3), torch.rand(256, network.in_features)
        natural = network.run(xyz, features).softmax(dim=1)
        network.head.logits.bias.add_(torch.where(weights > 0, weights, 1.0).log())
        undo_class_weights(network, weights.tolist())
        torch.testing.assert_close(network.run(xyz, features).softmax(dim=1), natural)


def test_bins_tell_how_sure_and_how_right():
    calibration = Calibration()
    calibration.add(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), np.array([0.9, 0.91, 0.3, 0.31]))
    low, high = bins(calibration)
    assert low == {"count": 2, "confidence": pytest.approx(0.305), "accuracy": 0.5}
    assert high == {"count": 2, "confidence": pytest.approx(0.905), "accuracy": 0.5}
