import pytest
import torch
from torch import nn

from point2node.training.averaging import WeightAverage, applied


def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))


def move(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.copy_(torch.rand(tensor.shape, generator=generator) * 9)


def copies(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_equal(ours, expected):
    assert ours.keys() == expected.keys()
    assert all(torch.equal(ours[name], expected[name]) for name in ours)


@pytest.mark.parametrize("decay", [0.05, 0.5, 0.999])
def test_the_mean_is_what_its_formula_says(decay):
    model = network()
    average, mean = WeightAverage(model, decay), copies(model)
    for step in range(1, 30):
        move(model, step)
        average.update(step)
        d = min(decay, (1 + step) / (10 + step))
        for name, tensor in model.state_dict().items():
            mean[name] = d * mean[name] + (1 - d) * tensor if tensor.is_floating_point() else tensor.clone()
    for name, tensor in average.tensors.items():
        torch.testing.assert_close(tensor, mean[name])


def test_updating_leaves_the_network_alone_and_the_mean_apart_from_it():
    model = network()
    average, before = WeightAverage(model, 0.9), copies(model)
    average.update(1)
    assert_equal(copies(model), before)
    move(model, 1)
    assert_equal(average.tensors, before)


def test_inside_the_network_has_the_mean_and_afterwards_its_own_weights_to_the_bit():
    model = network()
    average, mean = WeightAverage(model, 0.9), copies(model)
    move(model, 1)
    own = copies(model)
    with applied(model, average.tensors):
        assert_equal(copies(model), mean)
    assert_equal(copies(model), own)
    assert_equal(average.tensors, mean)


def test_an_error_inside_gives_the_network_its_weights_back():
    model = network()
    average = WeightAverage(model, 0.9)
    move(model, 1)
    own = copies(model)
    with pytest.raises(RuntimeError, match="in the middle"), applied(model, average.tensors):
        raise RuntimeError("in the middle")
    assert_equal(copies(model), own)


def test_a_loaded_mean_goes_on_as_if_it_had_never_stopped():
    model = network()
    whole = WeightAverage(model, 0.9)
    move(model, 1)
    whole.update(1)
    resumed = WeightAverage(model, 0.9)
    resumed.load({name: tensor.clone() for name, tensor in whole.tensors.items()})
    move(model, 2)
    whole.update(2)
    resumed.update(2)
    assert_equal(resumed.tensors, whole.tensors)
