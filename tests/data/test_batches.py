import math
from itertools import islice

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from point2node.core.errors import InputError
from point2node.data.batches import BatchLoader, Collate, Sample, Samples
from point2node.geometry.pyramid import PyramidPlan, Search

PLAN = PyramidPlan((None, 8), "random", (Search(4, 1, 0, 0), Search(4, 1, 0, 1)))


class Numbered(Samples):
    """Ten samples whose labels say which one they are."""

    def __len__(self):
        return 10

    def draw(self, number, random):
        xyz = random.random((16, 3), dtype=np.float32)
        return Sample(xyz, xyz * 2, np.full(16, number), f"scene {number}")


def loader(**changes):
    return BatchLoader(Numbered(), PLAN, **({"batch_size": 3, "seed": 7} | changes))


def tensors(batch):
    return [batch.features, batch.labels, *batch.pyramid.levels, *batch.pyramid.encoder]


def assert_same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        assert a.scenes == b.scenes
        assert all(torch.equal(x, y) for x, y in zip(tensors(a), tensors(b), strict=True))


def test_an_epoch_shows_no_sample_twice():
    batches = list(islice(loader(), 3))
    shown = [scene for batch in batches for scene in batch.scenes]
    assert len(set(shown)) == 9


def test_epochs_are_shuffled_anew():
    batches = list(islice(loader(), 6))
    assert [b.scenes for b in batches[:3]] != [b.scenes for b in batches[3:]]


def test_labels_belong_to_their_scenes():
    batch = next(iter(loader()))
    assert [f"scene {label}" for label in batch.labels[:, 0].tolist()] == list(batch.scenes)


def test_one_seed_gives_the_same_bits_twice_and_another_seed_others():
    one, same, other = (list(islice(loader(seed=seed), 4)) for seed in (7, 7, 8))
    assert_same(one, same)
    assert not torch.equal(one[0].features, other[0].features)


@pytest.mark.parametrize("stop", [0, 1, 4])
def test_a_resumed_loader_goes_on_with_the_same_bits(stop):
    whole = list(islice(loader(), 7))
    first = loader()
    list(islice(first, stop))
    second = loader()
    second.load_state_dict(first.state_dict())
    assert_same(list(islice(second, 7 - stop)), whole[stop:])


def test_the_state_says_epoch_step_and_seed():
    running = loader()
    list(islice(running, 4))
    assert running.state_dict() == {"epoch": 1, "step": 4, "seed": 7}


def test_the_state_of_another_seed_is_refused():
    with pytest.raises(InputError, match="seed 7, found seed 8"):
        loader().load_state_dict({"epoch": 0, "step": 0, "seed": 8})


@pytest.mark.parametrize("batch_size", [0, 11])
def test_a_batch_larger_than_an_epoch_is_refused(batch_size):
    with pytest.raises(InputError, match="1 to 10"):
        loader(batch_size=batch_size)


def test_spawned_workers_change_nothing():
    assert_same(list(islice(loader(), 4)), list(islice(loader(workers=2), 4)))


def test_moving_a_batch_keeps_its_contents():
    batch = next(iter(loader()))
    assert_same([batch.to("cpu")], [batch])
    assert math.prod(batch.labels.shape) == 48


@pytest.mark.parametrize("processes", [1, 2, 3, 6])
def test_processes_share_every_batch_equally_and_together_have_all_of_it(processes):
    whole = list(islice(loader(batch_size=6), 4))
    parts = [list(islice(loader(batch_size=6, part=(rank, processes)), 4)) for rank in range(processes)]
    for step, batch in enumerate(whole):
        shares = [part[step] for part in parts]
        assert {len(share.scenes) for share in shares} == {6 // processes}
        assert sum((share.scenes for share in shares), ()) == batch.scenes
        for name in ("features", "labels"):
            assert torch.equal(torch.cat([getattr(share, name) for share in shares]), getattr(batch, name))
        for level in range(2):  # the random levels are the same in every process
            together = torch.cat([share.pyramid.levels[level] for share in shares])
            assert torch.equal(together, batch.pyramid.levels[level])
            assert torch.equal(torch.cat([s.pyramid.encoder[level] for s in shares]), batch.pyramid.encoder[level])


def test_processes_have_the_same_epochs():
    assert loader(part=(2, 3)).steps_per_epoch == loader().steps_per_epoch == 3


def test_a_batch_that_cannot_be_shared_equally_is_refused():
    with pytest.raises(InputError, match="a multiple of the 2 processes, found 3"):
        loader(part=(0, 2))


class Damaged(Numbered):
    """Its files cannot be read."""

    def draw(self, number, random):
        raise InputError("room 7", expected="a whole file", found="half of one")


@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_in_the_input_stays_one_line_on_its_way_from_a_worker(workers):
    broken = BatchLoader(Damaged(), PLAN, batch_size=2, seed=0, workers=workers)
    with pytest.raises(InputError, match=r"^room 7: expected a whole file, found half of one\.$"):
        next(iter(broken))
    assert broken.step == 0


def test_a_sample_too_small_for_the_network_is_refused_by_a_worker_too():
    plan = PyramidPlan((None, 17), "random", ())
    with pytest.raises(InputError, match="at least 17 points"):
        next(iter(BatchLoader(Numbered(), plan, batch_size=2, seed=0, workers=1)))


def plain(**options):
    return DataLoader(Numbered(), batch_size=3, shuffle=True, collate_fn=Collate(PLAN), **options)


def test_a_plain_loader_shows_every_sample_once_with_its_pyramid():
    batches = list(plain())
    assert sorted(scene for batch in batches for scene in batch.scenes) == sorted(f"scene {n}" for n in range(10))
    assert [batch.pyramid.levels[1].shape for batch in batches] == [(3, 8, 3)] * 3 + [(1, 8, 3)]
    assert torch.equal(batches[0].features, 2 * batches[0].pyramid.levels[0])


def test_torchs_seed_repeats_a_plain_loop():
    torch.manual_seed(0)
    first, second = list(plain()), list(plain())
    torch.manual_seed(0)
    assert_same(list(plain()), first)
    assert not torch.equal(first[0].features, second[0].features)


def test_samples_can_be_walked_through():
    assert [sample.scene for sample in Numbered()] == [f"scene {n}" for n in range(10)]
    with pytest.raises(IndexError):
        Numbered()[10]


def test_a_forked_worker_says_what_to_do_instead_of_dying():
    with pytest.raises(RuntimeError, match="Give it multiprocessing_context='spawn'"):
        next(iter(plain(num_workers=1, multiprocessing_context="fork")))


def test_spawned_workers_of_a_plain_loader_build_pyramids():
    batch = next(iter(plain(num_workers=1, multiprocessing_context="spawn")))
    assert len(batch.scenes) == 3
