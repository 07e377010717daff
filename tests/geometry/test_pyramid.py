from contextlib import nullcontext

import pytest
import torch

from point2node.core.errors import InputError
from point2node.geometry.neighbours import dilated_k_nearest_neighbours
from point2node.geometry.pyramid import PyramidPlan, Search, build_pyramid
from point2node.kernels.calling import torch_only

PLAN = PyramidPlan(
    level_sizes=(None, 20, 8, 8),
    sampling="farthest",
    encoder=(Search(4, 1, 0, 0), Search(4, 2, 0, 1), Search(4, 2, 1, 2), Search(4, 2, 2, 3)),
    decoder=(Search(3, 1, 3, 1), Search(3, 1, 1, 0)),
    correlation=Search(5, 2, 0, 0),
    inner=(Search(5, 2, 1, 1), Search(5, 2, 2, 2)),
)
RANDOM = PyramidPlan((None, 20, 8), "random", encoder=(Search(4, 1, 0, 0),))


@pytest.fixture
def clouds():
    return torch.rand(3, 50, 3, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("form", [nullcontext, torch_only], ids=["kernel", "torch"])
def test_every_level_consists_of_the_numbered_input_points(clouds, form):
    with form():
        pyramid = build_pyramid(clouds, PLAN)
    assert [level.shape[1] for level in pyramid.levels] == [50, 20, 8, 8]
    for level, numbers in zip(pyramid.levels, pyramid.numbers, strict=True):
        for b in range(3):
            assert torch.equal(level[b], clouds[b, numbers[b]])
            assert len(numbers[b].unique()) == len(numbers[b])


def test_each_search_has_its_queries_its_neighbours_and_indices_within_its_source(clouds):
    pyramid = build_pyramid(clouds, PLAN)
    sizes = [level.shape[1] for level in pyramid.levels]
    answers = [*pyramid.encoder, *pyramid.decoder, pyramid.correlation, *pyramid.inner]
    for search, found in zip(PLAN.searches, answers, strict=True):
        assert found.shape == (3, sizes[search.queries], search.neighbours)
        assert 0 <= found.min() <= found.max() < sizes[search.source]


def test_the_first_neighbour_of_a_point_among_its_own_level_is_itself(clouds):
    pyramid = build_pyramid(clouds, PLAN)
    assert torch.equal(pyramid.correlation[..., 0], torch.arange(50).expand(3, -1))
    assert torch.equal(pyramid.encoder[1][..., 0], pyramid.numbers[1])


SHARING = PyramidPlan(
    level_sizes=(None, 20, 8, 8),
    sampling="farthest",
    encoder=(Search(8, 1, 0, 0), Search(12, 2, 0, 1), Search(5, 1, 0, 2), Search(4, 3, 1, 1), Search(3, 4, 1, 3)),
    decoder=(Search(30, 2, 1, 0), Search(30, 1, 1, 2), Search(3, 1, 1, 0)),  # 60 and 30 of 20 points: lists are cycled
    correlation=Search(16, 2, 0, 0),
)


def tensors_of(pyramid):
    last = [] if pyramid.correlation is None else [pyramid.correlation]
    return [*pyramid.levels, *pyramid.numbers, *pyramid.encoder, *pyramid.decoder, *last, *pyramid.inner]


@pytest.mark.parametrize("plan", [PLAN, SHARING])
def test_every_search_is_answered_as_if_it_were_alone(clouds, plan):
    pyramid = build_pyramid(clouds, plan)
    answers = [*pyramid.encoder, *pyramid.decoder, pyramid.correlation, *pyramid.inner]
    for search, found in zip(plan.searches, answers, strict=True):
        queries, points = pyramid.levels[search.queries], pyramid.levels[search.source]
        alone = dilated_k_nearest_neighbours(queries, points, search.neighbours, search.dilation)
        assert torch.equal(found, alone)


@pytest.mark.parametrize("plan", [PLAN, RANDOM])
def test_a_cloud_gives_the_same_pyramid_alone_and_in_a_batch(clouds, plan):
    batch, alone = build_pyramid(clouds, plan), build_pyramid(clouds[1:2], plan)
    for together, single in zip(
        tensors_of(batch),
        tensors_of(alone),
        strict=True,
    ):
        assert torch.equal(together[1:2], single)


def test_random_sampling_follows_the_seed(clouds):
    one, same, other = (build_pyramid(clouds, RANDOM, seed=seed).numbers[-1] for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_both_forms_give_the_same_pyramid(clouds):
    fast = build_pyramid(clouds, PLAN)
    with torch_only():
        plain = build_pyramid(clouds, PLAN)
    for a, b in zip(
        tensors_of(fast),
        tensors_of(plain),
        strict=True,
    ):
        assert torch.equal(a, b)


def test_moving_moves_every_part_and_keeps_its_shape(clouds):
    pyramid = build_pyramid(clouds, PLAN)
    for before, after in zip(tensors_of(pyramid), tensors_of(pyramid.to("meta")), strict=True):
        assert after.device.type == "meta"
        assert (after.shape, after.dtype) == (before.shape, before.dtype)
    for before, after in zip(tensors_of(pyramid), tensors_of(pyramid.to("cpu")), strict=True):
        assert torch.equal(before, after)


def test_a_cloud_smaller_than_a_level_is_refused_with_the_number_needed(clouds):
    with pytest.raises(InputError, match=r"at least 20 points .* found 19\."):
        build_pyramid(clouds[:, :19], PLAN)


def test_nan_coordinates_are_refused(clouds):
    clouds[1, 7, 2] = float("nan")
    with pytest.raises(InputError, match="finite"):
        build_pyramid(clouds, PLAN)


def test_all_points_in_one_place_still_give_distinct_samples():
    pyramid = build_pyramid(torch.zeros(1, 30, 3), PLAN)
    assert len(pyramid.numbers[2].unique()) == 8
