import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.data.samples import ShapeClouds
from point2node.geometry.blocks import BlockRules, cut_blocks
from point2node.inference.votes import BlocksOfScene, SceneInput, Votes, Voting, vote_on_scene, vote_on_shapes
from point2node.models.catalogue import create_model
from tests.training.stores import random_cloud, write_shapes
from tests.training.stubs import PlaceNetwork

POINTS = 7


@st.composite
def ballots(draw):
    """Point numbers, some of them repeated and some missing, with the probabilities of each vote."""
    votes, classes = draw(st.integers(0, 40)), draw(st.integers(2, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    coarse = random.integers(1, 4, (votes, classes)).astype(np.float32)  # few values: ties are frequent
    return random.integers(0, POINTS, votes), torch.from_numpy(coarse / coarse.sum(axis=1, keepdims=True)), classes


def gather(case, rule, pieces=1):
    numbers, probabilities, classes = case
    votes = Votes(POINTS, classes, rule)
    for piece in np.array_split(np.arange(len(numbers)), pieces):
        votes.add(numbers[piece], probabilities[torch.from_numpy(piece)])
    return votes


@given(ballots())
def test_the_surest_vote_counts_and_of_equal_ones_the_first(case):
    numbers, probabilities, _ = case
    label, confidence = [-1] * POINTS, [0.0] * POINTS
    for number, one in zip(numbers.tolist(), probabilities.tolist(), strict=True):
        if max(one) > confidence[number]:
            label[number], confidence[number] = one.index(max(one)), max(one)
    votes = gather(case, "max_confidence")
    assert votes.labels.tolist() == label
    assert votes.confidence.tolist() == confidence


@given(ballots())
def test_the_mean_of_all_probabilities_counts(case):
    numbers, probabilities, _ = case
    votes = gather(case, "mean_probability")
    for point in range(POINTS):
        own = probabilities[torch.from_numpy(np.flatnonzero(numbers == point))].double()
        if not len(own):
            assert (votes.labels[point], votes.confidence[point]) == (-1, 0)
            continue
        mean = own.mean(dim=0)
        assert votes.confidence[point] == pytest.approx(mean.max().item(), rel=1e-5)
        assert mean[votes.labels[point]].item() == pytest.approx(mean.max().item(), rel=1e-5)
        entropy = -(mean * mean.log()).sum().item() / math.log(len(mean))
        assert votes.entropy[point] == pytest.approx(entropy, rel=1e-4)


@pytest.mark.parametrize("rule", ["max_confidence", "mean_probability"])
@given(case=ballots(), pieces=st.integers(1, 6))
def test_votes_may_come_in_any_pieces(rule, case, pieces):
    whole, split = gather(case, rule), gather(case, rule, pieces)
    assert np.array_equal(whole.seen, split.seen)
    assert np.array_equal(whole.labels, split.labels)
    np.testing.assert_allclose(whole.confidence, split.confidence, rtol=1e-6)


@pytest.mark.parametrize("rule", ["max_confidence", "mean_probability"])
@given(case=ballots())
def test_points_are_seen_once_they_have_a_vote(rule, case):
    votes = gather(case, rule)
    assert np.array_equal(votes.seen, np.isin(np.arange(POINTS), case[0]))
    assert np.array_equal(votes.labels >= 0, votes.seen)
    assert np.array_equal(votes.confidence > 0, votes.seen)


@given(ballots())
def test_entropy_is_a_share_of_the_largest(case):
    entropy = gather(case, "mean_probability").entropy
    assert ((entropy >= 0) & (entropy <= 1 + 1e-6)).all()


def test_entropy_is_zero_for_certainty_and_one_for_indifference():
    votes = Votes(2, 4, "mean_probability")
    votes.add(np.array([0, 1]), torch.tensor([[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]]))
    np.testing.assert_allclose(votes.entropy, [0, 1], atol=1e-6)


def test_one_prediction_has_no_entropy():
    with pytest.raises(ValueError, match="mean_probability"):
        _ = Votes(1, 2, "max_confidence").entropy


def test_revised_probabilities_take_the_place_of_the_mean():
    votes = Votes(3, 2, "mean_probability")
    votes.add(np.array([0, 0, 1]), torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]]))
    given = []
    votes.revise(lambda mean: given.append(mean) or mean.flip(1))
    np.testing.assert_allclose(given[0], [[0.8, 0.2], [0.4, 0.6], [0, 0]], atol=1e-6)
    assert votes.labels.tolist() == [1, 0, -1]
    np.testing.assert_allclose(votes.confidence, [0.8, 0.6, 0])
    with pytest.raises(ValueError, match="only mean probabilities"):
        Votes(3, 2, "max_confidence").revise(lambda mean: mean)


RULES = BlockRules(side=1.0, grid=0.1, max_points=200)


@pytest.fixture(autouse=True)
def _one_thread():
    """The network that remembers what it was asked would remember it in any order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def ask_about(points, *, votes=1, rule="max_confidence", seed=0, network=None, rules=RULES, group=64):
    """The votes on a random scene, the network that gave them, and how many blocks are "zero" and "half" ones."""
    xyz = random_cloud(points, seed).local()[0]
    random = np.random.default_rng(0)
    halves = [cut_blocks(xyz, offset, random, rules) for offset in (0.0, rules.side / 2)]
    network = (network or PlaceNetwork(5)).eval()
    scene = SceneInput(xyz, lambda numbers: None, "here")
    blocks = BlocksOfScene([*halves[0], *halves[1]], rules)
    found = vote_on_scene(network, scene, blocks, Voting(5, group, votes, rule))
    return found, network, xyz, [len(half) for half in halves]


def recorded(network, xyz):
    """Every group that the network saw, as point numbers, with its probabilities."""
    number_of = {point.tobytes(): number for number, point in enumerate(xyz)}
    assert len(number_of) == len(xyz)
    for asked, said in zip(network.asked, network.said, strict=True):
        yield [number_of[point.tobytes()] for point in asked], said


@pytest.mark.parametrize("rule", ["max_confidence", "mean_probability"])
@pytest.mark.parametrize("points", [1, 2, 10, 2500])
def test_every_point_of_a_scene_gets_a_prediction(points, rule):
    votes, network, xyz, _ = ask_about(points, rule=rule)
    assert votes.seen.all()
    assert len(votes.labels) == points
    assert {len(group) for group, _ in recorded(network, xyz)} == {64}


@pytest.mark.parametrize("votes", [1, 3])
def test_the_surest_prediction_over_zero_and_half_blocks_is_the_definition_in_the_facts(votes):
    """FACTS.md §4: a block is tiled to repeat × its cap and run in groups; the surest answer is kept, then merged."""
    found, network, xyz, (zero, half) = ask_about(1500, votes=votes)
    per_block = votes * -(-RULES.max_points // 64)
    groups = list(recorded(network, xyz))
    assert len(groups) == (zero + half) * per_block
    kept = []
    for part in (groups[: zero * per_block], groups[zero * per_block :]):
        best = {}
        for numbers, said in part:
            for number, probabilities in zip(numbers, said, strict=True):
                if number not in best or probabilities.max() > best[number][0]:
                    best[number] = (probabilities.max(), int(probabilities.argmax()))
        assert set(best) == set(range(len(xyz)))  # the blocks of each offset hold every point
        kept.append(best)
    merged = [max(kept[0][number], kept[1][number], key=lambda one: one[0]) for number in range(len(xyz))]
    assert found.labels.tolist() == [label for _, label in merged]
    np.testing.assert_allclose(found.confidence, [confidence for confidence, _ in merged], rtol=1e-6)


def test_the_mean_is_over_all_that_was_said():
    found, network, xyz, _ = ask_about(700, votes=2, rule="mean_probability")
    sums, counts = np.zeros((700, 5)), np.zeros(700)
    for numbers, said in recorded(network, xyz):
        np.add.at(sums, numbers, said)
        np.add.at(counts, numbers, 1)
    mean = sums / counts[:, None]
    np.testing.assert_allclose(found.confidence, mean.max(axis=1), rtol=1e-5)
    assert (found.labels == mean.argmax(axis=1)).mean() > 0.999


def test_more_votes_ask_about_each_block_as_often():
    once, often = (ask_about(700, votes=votes)[1] for votes in (1, 4))
    assert len(often.asked) == 4 * len(once.asked)


def test_asking_twice_gives_the_same():
    first, second = (ask_about(700)[0] for _ in range(2))
    assert np.array_equal(first.labels, second.labels)
    assert np.array_equal(first.confidence, second.confidence)


def test_groups_larger_than_a_block_repeat_its_points():
    votes, network, xyz, _ = ask_about(30, group=512)
    assert votes.seen.all()
    assert {len(group) for group, _ in recorded(network, xyz)} == {512}


def test_a_real_network_labels_a_scene_of_one_point():
    network = create_model(preset="tiny", num_classes=5, in_features=0)
    votes, *_ = ask_about(1, network=network, group=192, rules=BlockRules(max_points=256))
    assert votes.seen.all()


@pytest.mark.parametrize("rule", ["max_confidence", "mean_probability"])
def test_a_network_that_says_nan_is_refused(rule):
    network = PlaceNetwork(5)
    with torch.no_grad():
        network.scale.fill_(float("nan"))
    with pytest.raises(InputError, match="here: expected finite logits"):
        ask_about(100, network=network, rule=rule)


def test_every_shape_is_voted_on_in_each_round_with_other_points(tmp_path):
    store = write_shapes(tmp_path / "store")
    network = PlaceNetwork(3, "classification").eval()
    shapes = ShapeClouds(store, "train", 32)
    rounds = [
        (votes.labels.copy(), votes.confidence.copy())
        for votes in vote_on_shapes(network, shapes, Voting(3, 32, 3, "mean_probability"))
    ]
    assert len(rounds) == 3
    assert len(network.asked) == 3 * len(shapes)
    said = np.array(network.said).reshape(3, len(shapes), 3).cumsum(axis=0) / np.arange(1, 4)[:, None, None]
    for (labels, confidence), mean in zip(rounds, said, strict=True):
        np.testing.assert_allclose(confidence, mean.max(axis=-1), rtol=1e-5)
        assert np.array_equal(labels, mean.argmax(axis=-1))
    asked = np.array(network.asked).reshape(3, len(shapes), 32, 3)
    for number in range(len(shapes)):
        for vote in range(3):
            own = {point.tobytes() for point in np.asarray(store.shapes("train").xyz[number])}
            assert {point.tobytes() for point in asked[vote, number]} <= own
        assert not np.array_equal(asked[0, number], asked[1, number])


def test_what_a_shape_is_asked_does_not_depend_on_the_others(tmp_path):
    store = write_shapes(tmp_path / "store")
    whole, alone = PlaceNetwork(3, "classification").eval(), PlaceNetwork(3, "classification").eval()
    for network, numbers in ((whole, None), (alone, np.array([7]))):
        shapes = ShapeClouds(store, "train", 32, numbers=numbers)
        list(vote_on_shapes(network, shapes, Voting(3, 32, 2, "mean_probability")))
    count = len(store.shapes("train"))
    assert np.array_equal(alone.asked, [whole.asked[7], whole.asked[count + 7]])
