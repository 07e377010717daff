import numpy as np
import pytest
import torch

from point2node.core.errors import InputError
from point2node.inference.labeller import Options, SceneLabeller
from point2node.teaching import learning
from point2node.teaching.corrections import no_corrections
from point2node.teaching.learning import Recipe, extend_logits, joined_classes, teach
from point2node.teaching.observing import label_observed, observe, tail_of
from point2node.weights.trained import Trained
from tests.teaching.lessons import fresh_labeller, taught_room

QUICK = Recipe(steps=150, learning_rate=0.02)


@pytest.fixture(scope="module")
def labeller(tmp_path_factory):
    return fresh_labeller(tmp_path_factory.mktemp("weights"))


def lesson(labeller, **changes):
    scan = taught_room(labeller, **changes)
    return observe(labeller, scan), scan.corrections


def labels_after(taught, observed):
    return label_observed(observed, tail_of(taught.network).eval(), len(taught.card.classes))[0]


def test_corrected_points_get_their_class(labeller):
    observed, corrections = lesson(labeller)
    taught = teach(labeller, [(observed, corrections)], QUICK)
    wanted = corrections.class_indices()[observed.placement.numbers]
    before = label_observed(observed, tail_of(labeller.network), 13)[0]
    after = labels_after(taught, observed)
    known = wanted >= 0
    assert (after == wanted)[known].mean() > 0.5 > (before == wanted)[known].mean()
    assert taught.history[-1]["loss"] < 0.6 * taught.history[0]["loss"]


def test_what_the_network_was_sure_of_stays_and_would_not_without_the_second_loss(labeller):
    scan = taught_room(labeller)
    first = teach(labeller, [lesson(labeller)], QUICK)  # fresh weights are sure of nothing
    sure = SceneLabeller(Trained("sure", first.network, first.card, "saved"))
    observed = observe(sure, scan)
    few = no_corrections(scan.cloud, sure.classes).add("board", scan.corrections.done[0].indices[:40])
    before = label_observed(observed, tail_of(sure.network), 13)[0]

    def change(consistency):
        recipe = Recipe(steps=150, learning_rate=0.02, consistency=consistency)
        return (labels_after(teach(sure, [(observed, few)], recipe), observed) != before).mean()

    assert change(20.0) < 0.5 * change(0.0)


def test_a_new_class_extends_the_last_layer_and_is_learnt(labeller):
    observed, corrections = lesson(labeller, own="plant")
    taught = teach(labeller, [(observed, corrections)], QUICK)
    assert [one.name for one in taught.card.classes][-1] == "plant"
    assert taught.network.head.logits.out_features == 14
    assert (labels_after(taught, observed) == 13).any()


def test_further_classes_leave_the_others_logits_alone():
    torch.manual_seed(0)
    logits = torch.nn.Linear(6, 3)
    x = torch.randn(10, 6)
    grown = extend_logits(logits, 5)(x)
    assert torch.allclose(grown[:, :3], logits(x))
    assert (grown[:, 3:] < logits.bias.min()).all()


def test_own_classes_that_no_correction_uses_are_not_learnt(labeller):
    corrections = taught_room(labeller).corrections.add_class("unused")
    assert joined_classes(labeller.classes, [corrections]) == labeller.classes


def test_the_same_seed_gives_the_same_weights_and_the_labeller_is_left_alone(labeller):
    observed, corrections = lesson(labeller)
    before = {key: tensor.clone() for key, tensor in labeller.network.state_dict().items()}
    recipe = Recipe(steps=5, rows=64, seed=3)
    first, second = (teach(labeller, [(observed, corrections)], recipe).network.state_dict() for _ in range(2))
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert all(torch.equal(before[key], tensor) for key, tensor in labeller.network.state_dict().items())
    other = teach(labeller, [(observed, corrections)], Recipe(steps=5, rows=64, seed=4)).network.state_dict()
    assert any(not torch.equal(first[key], other[key]) for key in first)


def test_only_the_last_layers_change(labeller):
    taught = teach(labeller, [lesson(labeller)], Recipe(steps=3))
    own, changed = labeller.network.state_dict(), taught.network.state_dict()
    assert {key.split(".")[0] for key in own if not torch.equal(own[key], changed[key])} == {"head"}


def test_two_scans_teach_together_and_need_not_share_their_own_classes(labeller):
    lessons = [lesson(labeller, own="plant"), lesson(labeller, seed=1, own="lamp"), lesson(labeller, seed=2)]
    taught = teach(labeller, lessons, Recipe(steps=3))
    assert [one.name for one in taught.card.classes][13:] == ["plant", "lamp"]


def test_what_was_taught_labels_scans(labeller):
    observed, corrections = lesson(labeller)
    taught = teach(labeller, [(observed, corrections)], QUICK)
    again = SceneLabeller(Trained("taught", taught.network, taught.card, "saved"))
    labelled = again.label(taught_room(labeller).cloud, Options(votes=1))
    agree = labelled.places[observed.placement.numbers] == labels_after(taught, observed)
    assert agree.mean() > 0.999
    assert np.isfinite(labelled.confidence).all()


def test_progress_is_told_and_can_stop_it(labeller):
    observed = lesson(labeller)

    def stop(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        teach(labeller, [observed], Recipe(steps=10), stop)


def test_without_a_corrected_point_there_is_nothing_to_learn(labeller):
    scan = taught_room(labeller)
    with pytest.raises(InputError, match="at least one corrected point"):
        teach(labeller, [(observe(labeller, scan), no_corrections(scan.cloud, labeller.classes))])


@pytest.mark.parametrize("changes", [{"steps": 0}, {"learning_rate": 0.0}, {"consistency": -1.0}])
def test_a_recipe_that_cannot_be_followed_is_refused(changes):
    with pytest.raises(InputError, match="setting"):
        Recipe(**changes)


def plain_tail(order):
    """Layers that say of the input e_i that it is of the class ``order[i]``, and are sure of it."""
    tail = torch.nn.Sequential(torch.nn.Linear(3, 3))
    with torch.no_grad():
        tail[0].weight.zero_()
        for place, label in enumerate(order):
            tail[0].weight[label, place] = 10
        tail[0].bias.zero_()
    return tail.eval()


def judged_share(targets, others):
    """The share that is kept of weights that take classes 0 and 1 for each other, by four clicks on points of 0."""
    inputs = torch.eye(3)[[0] * 8 + list(others)]
    given = torch.tensor([*np.repeat(targets, 2), *([-1] * len(others))])
    clicks = torch.tensor([*np.repeat(np.arange(4), 2), *([-1] * len(others))])
    lesson = learning._Lesson(inputs, given, clicks)
    before, after = plain_tail([0, 1, 2]), plain_tail([1, 0, 2])
    parts = learning._folds(lesson, 2)
    assert sorted(torch.cat([left_out for _, left_out in parts]).tolist()) == list(range(8))
    return learning._best_share(
        before, after, [(after, left_out) for _, left_out in parts], lesson, before(inputs).softmax(dim=-1), known=3
    )


def test_what_gets_clicks_wrong_that_were_left_out_is_not_taken_over():
    assert judged_share([0, 0, 0, 0], others=[2, 2]) == 0


def test_what_gets_clicks_right_that_were_left_out_is_taken_over():
    assert judged_share([1, 1, 1, 1], others=[2, 2]) > 0.5  # from there on the new weights prevail


def test_what_changes_labels_that_were_sure_is_not_taken_over_for_a_few_clicks():
    assert judged_share([2, 2, 2, 1], others=[0, 1, 0, 1]) < 0.5  # below that the old weights prevail


def test_a_mixture_lies_between_the_old_layers_and_the_new():
    before, after, x = plain_tail([0, 1, 2]), plain_tail([1, 0, 2]), torch.randn(5, 3)
    assert torch.equal(learning.mix(before, after, 0.0)(x), before(x))
    assert torch.allclose(learning.mix(before, after, 1.0)(x), after(x))
    assert torch.allclose(learning.mix(before, after, 0.25)(x), 0.75 * before(x) + 0.25 * after(x), atol=1e-5)


def test_one_click_cannot_be_left_out_and_is_taken_as_it_is(labeller):
    scan = taught_room(labeller)
    one = no_corrections(scan.cloud, labeller.classes).add("board", scan.corrections.done[0].indices)
    assert teach(labeller, [(observe(labeller, scan), one)], Recipe(steps=3)).share == 1


def test_clicks_that_confirm_labels_outweigh_what_the_network_thought_of_itself():
    lost = [0, 0, 0, 1]  # where the network was right three times and the new weights are right once
    assert judged_share(lost, others=[0, 2]) <= 0.5
    gained = [1, 1, 1, 1]
    assert judged_share(gained, others=[0, 2]) == 0  # mistakes only: the label of the other point may be right
