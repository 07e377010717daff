import torch

from point2node.models.batch_norm import BatchNorm


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
