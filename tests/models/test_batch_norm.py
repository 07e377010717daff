import copy

import pytest
import torch
from torch import distributed, multiprocessing, nn

from point2node.models.batch_norm import BatchNorm, synchronise_batch_norms
from point2node.models.layers import Dense
from point2node.models.reference.network import NormalisedDense


def test_the_first_statistics_are_those_of_the_first_batch():
    norm, x = BatchNorm(2), 0.1 * torch.randn(72, 2) + 3
    norm(x)
    torch.testing.assert_close(norm.running_mean, x.mean(0))
    torch.testing.assert_close(norm.running_var, x.var(0))


def test_the_first_batches_count_alike():
    norm, batches = BatchNorm(2), [torch.randn(50, 2) for _ in range(5)]
    for batch in batches:
        norm(batch)
    torch.testing.assert_close(norm.running_mean, torch.stack([batch.mean(0) for batch in batches]).mean(0))


def test_after_a_hundred_batches_statistics_move_by_one_hundredth():
    norm, x = BatchNorm(2), torch.randn(72, 2) + 3
    norm.num_batches_tracked.fill_(500)
    norm(x)
    torch.testing.assert_close(norm.running_mean, 0.01 * x.mean(0))


def test_evaluation_moves_nothing():
    norm = BatchNorm(2).eval()
    norm(torch.randn(10, 2))
    assert norm.num_batches_tracked == 0
    assert not norm.running_mean.any()


def test_epsilon_and_momentum_can_be_chosen():
    norm = BatchNorm(2, eps=1e-5, momentum=0.1)
    assert (norm.eps, norm.momentum) == (1e-5, 0.1)
    assert (BatchNorm(2).eps, BatchNorm(2).momentum) == (1e-3, 0.01)


def test_alone_a_synchronised_norm_is_a_plain_one():
    plain, x = BatchNorm(2), torch.randn(10, 2)
    synchronised = copy.deepcopy(plain)
    synchronise_batch_norms(synchronised)
    assert synchronised.synchronised
    assert torch.equal(synchronised(x), plain(x))


ROWS = 3, 8
"""Of the two processes: unlike, so that a mean of their means would be wrong."""


def two_layers():
    """Both orders of norm and activation, and all the rows: some far from 0."""
    torch.manual_seed(0)
    model = nn.Sequential(Dense(4, 5), NormalisedDense(5, 3)).double()
    return model, 100 + torch.randn(sum(ROWS), 4, dtype=torch.float64)


def loss_of(output, first):
    """A sum over rows that weighs each by its number, the same for any division into processes."""
    return (output * torch.arange(first, first + len(output))[:, None]).square().sum()


def train_a_part(rank, folder):
    """One process: its own rows through the synchronised model; saves all that can be compared."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    model, x = two_layers()
    synchronise_batch_norms(model)
    x = x.split(ROWS)[rank].clone().requires_grad_()
    output = model(x)
    loss_of(output, first=sum(ROWS[:rank])).backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    torch.save((output.detach(), x.grad, gradients, list(model.buffers())), f"{folder}/{rank}.pt")
    distributed.destroy_process_group()


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    multiprocessing.spawn(train_a_part, args=(str(folder),), nprocs=2)
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


@pytest.fixture(scope="module")
def whole():
    model, x = two_layers()
    x.requires_grad_()
    output = model(x)
    loss_of(output, first=0).backward()
    return output.detach(), x.grad, [parameter.grad for parameter in model.parameters()], list(model.buffers())


def test_two_processes_give_what_one_gives_on_all_rows(parts, whole):
    for which in (0, 1):  # output and input gradient
        joined = torch.cat([part[which] for part in parts])
        torch.testing.assert_close(joined, whole[which], rtol=1e-8, atol=1e-8)


def test_the_parameter_gradients_of_two_processes_add_up_to_those_of_one(parts, whole):
    for first, second, expected in zip(parts[0][2], parts[1][2], whole[2], strict=True):
        torch.testing.assert_close(first + second, expected, rtol=1e-8, atol=1e-8)


def test_both_processes_keep_the_running_statistics_of_one(parts, whole):
    for part in parts:
        torch.testing.assert_close(part[3], whole[3])
