import errno
import os

import pytest
import torch
from torch import nn

from point2node.core.errors import InputError
from point2node.models import weights_file
from point2node.models.weights_file import read_tensors, write_tensors
from point2node.training.checkpoints import Keeper, Progress, WeightAverage, applied, read_state, write_state
from point2node.training.recipe import build_optimiser
from point2node.weights.cards import card_of, read_weights
from point2node.weights.run_folder import RunFolder
from tests.training.stores import quick, write_scenes


class Trainee:
    """A small network, its optimiser and the mean of its weights, moved by made-up gradients."""

    def __init__(self, seed=0, optimiser="adam", ema=True):
        torch.manual_seed(seed)
        self.network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
        self.optimiser = build_optimiser(quick(f"optimiser={optimiser}", "weight_decay=0.1"), self.network)
        self.average = WeightAverage(self.network, 0.9) if ema else None

    def step(self, number):
        torch.manual_seed(number)
        self.optimiser.zero_grad()
        self.network(torch.randn(8, 3)).square().sum().backward()
        self.optimiser.step()
        if self.average is not None:
            self.average.update(number)

    def write(self, path, progress):
        write_state(path, self.network, self.optimiser, self.average, progress)

    def read(self, path):
        return read_state(path, self.network, self.optimiser, self.average)

    def tensors(self):
        found = {
            **self.network.state_dict(),
            **{f"mean {k}": v for k, v in getattr(self.average, "tensors", {}).items()},
        }
        for number, values in self.optimiser.state_dict()["state"].items():
            found |= {f"{number} {name}": value for name, value in values.items()}
        return {name: torch.as_tensor(value).clone() for name, value in found.items()}


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert tensor.dtype == theirs[name].dtype
        assert torch.equal(tensor, theirs[name]), name


PROGRESS = Progress(seed=7, epoch=2, step=5, best_score=0.1 + 0.2, best_step=3, loss_sum=1 / 3, labelled=9)


@pytest.mark.parametrize("optimiser", ["adam", "adamw"])
@pytest.mark.parametrize("ema", [True, False])
def test_going_on_from_a_saved_state_gives_the_same_bits(optimiser, ema, tmp_path):
    whole = Trainee(0, optimiser, ema)
    for number in range(1, 4):
        whole.step(number)
    whole.write(tmp_path / "state.safetensors", PROGRESS)
    resumed = Trainee(99, optimiser, ema)
    resumed.step(50)  # whatever it did before is forgotten
    assert resumed.read(tmp_path / "state.safetensors") == PROGRESS
    assert_same(resumed.tensors(), whole.tensors())
    for number in range(4, 8):
        whole.step(number)
        resumed.step(number)
    assert_same(resumed.tensors(), whole.tensors())


def test_the_same_state_gives_the_same_bytes(tmp_path):
    contents = set()
    for name in ("a", "b"):
        trainee = Trainee()
        trainee.step(1)
        trainee.write(tmp_path / name, PROGRESS)
        contents.add((tmp_path / name).read_bytes())
    assert len(contents) == 1


def test_a_state_before_the_first_step_has_no_moments(tmp_path):
    Trainee().write(tmp_path / "state", Progress(seed=0))
    other = Trainee(1)
    assert other.read(tmp_path / "state") == Progress(seed=0)
    assert_same(other.tensors(), Trainee().tensors())


@pytest.fixture
def saved(tmp_path):
    trainee = Trainee()
    trainee.step(1)
    trainee.write(tmp_path / "state", PROGRESS)
    return tmp_path / "state"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda t: t.pop("network/0.weight"), r"with '0\.weight', found none"),
        (lambda t: t.update({"network/0.weight": torch.zeros(2)}), r"'0\.weight' of shape \(4, 3\), found \(2,\)"),
        (lambda t: t.update({"optimiser/0/exp_avg": torch.zeros(5)}), r"found '0/exp_avg' of shape \(5,\)"),
        (lambda t: t.update({"optimiser/77/exp_avg": torch.zeros(5)}), "found '77/exp_avg'"),
        (lambda t: t.update({"optimiser/first/exp_avg": torch.zeros(5)}), "found 'first/exp_avg'"),
        (lambda t: t.update({"average/0.weight": torch.zeros(5)}), r"'0\.weight' of shape"),
        (lambda t: t.pop("average/0.weight"), "found none of that name"),
        (lambda t: [t.pop(name) for name in list(t) if name.startswith("average/")], "ema_decay"),
    ],
)
def test_a_state_that_is_not_of_this_network_is_refused_in_one_line(change, match, saved):
    tensors, _ = read_tensors(saved)
    change(tensors)
    note = '{"best_score": null, "best_step": null, "epoch": 0, "labelled": 0, "loss_sum": 0, "right": 0, '
    write_tensors(saved, tensors, note + '"seed": 0, "step": 0, "weight_sum": 0}')
    with pytest.raises(InputError, match=match) as caught:
        Trainee().read(saved)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("note", ["[]", "{}", '{"step": 3}'])
def test_a_file_that_is_no_state_is_refused(note, saved):
    write_tensors(saved, read_tensors(saved)[0], note)
    with pytest.raises(InputError, match="the state of a training"):
        Trainee().read(saved)


@pytest.fixture
def keeper(tmp_path):
    card = card_of(quick(), write_scenes(tmp_path / "store", {"train": ("a",)}, points=20))
    torch.manual_seed(0)
    network = card.build()
    (tmp_path / "run").mkdir()
    return Keeper(RunFolder(tmp_path / "run"), network, build_optimiser(quick(), network), None, card)


def nudge(keeper):
    with torch.no_grad():
        next(keeper._network.parameters()).add_(1)


def test_a_checkpoint_is_a_state_and_the_weights_of_its_step(keeper):
    keeper.checkpoint(Progress(seed=0, step=3))
    assert keeper.saved_step == 3
    network, _ = read_weights(keeper.run.last)
    state, note = read_tensors(keeper.run.state)
    assert note["step"] == 3
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, state[f"network/{name}"])


def test_the_state_is_never_ahead_of_the_weights(keeper, monkeypatch):
    """A kill between the two files must not leave a finished state beside the weights of an earlier step."""
    keeper.checkpoint(Progress(seed=0, step=3))
    nudge(keeper)
    monkeypatch.setattr("point2node.training.checkpoints.write_weights", kill)
    with pytest.raises(KeyboardInterrupt):
        keeper.checkpoint(Progress(seed=0, step=4))
    assert read_tensors(keeper.run.state)[1]["step"] == 3


def kill(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("failing", [1, 2])
def test_a_full_disk_leaves_the_previous_state_and_says_so(failing, keeper, monkeypatch):
    keeper.checkpoint(Progress(seed=0, step=3))
    before = keeper.run.state.read_bytes()
    nudge(keeper)
    calls = []

    def fsync(number):
        calls.append(number)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(weights_file.os, "fsync", fsync)
    remedy = rf"Free some disk space, then use --resume {keeper.run.path}\.$"
    expected = rf"no space left.*The checkpoint of step 3 is intact\. {remedy}"
    with pytest.raises(InputError, match=expected):
        keeper.checkpoint(Progress(seed=0, step=4))
    assert keeper.run.state.read_bytes() == before
    assert keeper.saved_step == 3
    names = sorted(path.name for path in keeper.run.path.iterdir())
    assert names == ["last.safetensors", "state.safetensors"]
    read_weights(keeper.run.last)  # whole, of one step or the other


def test_the_mean_of_the_weights_is_what_is_kept(keeper):
    keeper.average = WeightAverage(keeper._network, 0.9)
    expected = {name: tensor.clone() for name, tensor in keeper._network.state_dict().items()}
    nudge(keeper)
    keeper.write_best(Progress(seed=0))
    keeper.checkpoint(Progress(seed=0))
    for file in (keeper.run.best, keeper.run.last):
        found = read_weights(file)[0].state_dict()
        assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())


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
