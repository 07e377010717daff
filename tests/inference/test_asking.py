from functools import partial

import numpy as np
import pytest
import torch

from point2node.core.errors import InputError
from point2node.data.batches import Sample, make_batch
from point2node.inference.asking import answers, ask
from point2node.kernels.calling import torch_only, use_kernels
from point2node.models.catalogue import create_model


@pytest.fixture
def network():
    torch.manual_seed(0)
    return create_model(preset="tiny", num_classes=4, in_features=0).eval()


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def make(network, number):
    xyz = np.random.default_rng(number).uniform(0, 1, (192, 3)).astype(np.float32)
    return make_batch([Sample(xyz, None, np.empty(0, np.int64), f"scene {number}")], network.plan, seed=0)


def test_answers_come_in_order_whoever_gave_them(network, threads):
    found = list(answers(network, (partial(make, network, number) for number in range(9))))
    assert len(found) == 9
    for number, probabilities in enumerate(found):
        torch.testing.assert_close(probabilities, ask(network, make(network, number)))
    assert torch.get_num_threads() == threads


def test_no_batch_gives_no_answer(network):
    assert list(answers(network, iter([]))) == []


def test_batches_are_made_only_a_little_ahead(network):
    made = []

    def makers():
        for number in range(40):
            made.append(number)
            yield partial(make, network, number)

    stream = answers(network, makers())
    for _ in range(5):
        next(stream)
    assert len(made) <= 5 + torch.get_num_threads() + 1
    stream.close()


def test_an_error_in_a_thread_reaches_who_asked_and_leaves_the_thread_count(network, threads):
    def broken():
        raise InputError("cloud", expected="points", found="none")

    stream = answers(network, iter([partial(make, network, 0), partial(make, network, 1), broken]))
    with pytest.raises(InputError, match="cloud: expected points"):
        list(stream)
    assert torch.get_num_threads() == threads


def test_a_choice_of_operators_holds_in_every_thread(network, threads):
    asked = []

    def watch(*_):
        asked.append(use_kernels(torch.zeros(1)))

    network.register_forward_hook(watch)
    with torch_only():
        list(answers(network, (partial(make, network, number) for number in range(4))))
    assert asked == [False] * 4
