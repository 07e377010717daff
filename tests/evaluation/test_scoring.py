import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from point2node.core.classes import S3DIS, SemanticClass
from point2node.core.errors import InputError
from point2node.evaluation.evaluate import Evaluation
from point2node.evaluation.protocol import protocol_of
from point2node.evaluation.scoring import (
    FOLDS,
    ScoringOptions,
    check_six_folds,
    keep_result,
    open_scored_data,
    pool_folds,
    restrict_classes,
    result_of,
    score_split,
)
from point2node.evaluation.splits import Part
from point2node.inference.asking import choose_device
from point2node.weights.cards import card_of
from point2node.weights.settings import load_preset
from point2node.weights.trained import Trained, load_trained
from tests.training.stores import ignore, quick, write_areas, write_scenes, write_shapes

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def trained(finished):
    return load_trained(str(finished.path))


@pytest.fixture(scope="module")
def areas(tmp_path_factory):
    return write_areas(tmp_path_factory.mktemp("areas"), rooms=1)


@pytest.fixture(scope="module")
def folds(areas):
    """Six trained networks, one for each area, and made-up counts for each."""
    card = card_of(quick(), areas)
    network = card.build()
    all_trained = [
        Trained(f"run {area}", network, card, "best", settings=load_preset("s3dis", [f"test_area={area}"]))
        for area in range(1, 7)
    ]
    random = np.random.default_rng(0)
    names = tuple(one.name for one in areas.classes)
    counts = [random.integers(0, 50, (13, 13)) for _ in FOLDS]
    protocols = [protocol_of(card, areas, Part(split, ("room 0",))) for split in FOLDS]
    return all_trained, [Evaluation(names, *pair) for pair in zip(protocols, counts, strict=True)]


def test_the_held_out_split_is_scored_unless_told_otherwise(trained, rooms):
    score = score_split(trained, rooms, ignore, CPU)
    assert score.protocol.split == "test"
    assert score.confusion.sum() == 300
    chosen = score_split(trained, rooms, ignore, CPU, ScoringOptions("val", 2, "max_confidence"))
    assert (chosen.protocol.split, chosen.protocol.votes, chosen.protocol.rule) == ("val", 2, "max_confidence")


def test_validation_during_training_and_evaluation_afterwards_give_one_figure(trained, rooms, finished):
    summary = json.loads(finished.summary.read_text())
    score = score_split(trained, rooms, ignore, CPU, ScoringOptions("val"))
    assert score.scores.miou == summary["best_score"]


def test_a_result_says_whose_it_is_and_by_which_protocol(trained, rooms):
    result = result_of(trained, score_split(trained, rooms, ignore, CPU))
    assert {"oa", "macc", "miou", "iou", "protocol"} <= set(result)
    assert (result["run"], result["preset"], result["seed"], result["weights"]) == ("finished", "tiny", 0, "best")
    assert (result["model"], result["variant"], result["split"]) == ("point2node", "point2node", "test")
    assert result["parameters"] == sum(one.numel() for one in trained.network.parameters())
    json.dumps(result, allow_nan=False)


def test_results_of_different_protocols_are_kept_side_by_side(trained, rooms, tmp_path, finished):
    shutil.copytree(finished.path, tmp_path / "run")
    own = load_trained(str(tmp_path / "run"))
    for votes in (1, 1, 2):
        keep_result(own, result_of(own, score_split(own, rooms, ignore, CPU, ScoringOptions(votes=votes))))
    kept = [json.loads(file.read_text()) for file in (tmp_path / "run" / "evaluations").iterdir()]
    assert sorted(one["protocol"]["votes"] for one in kept) == [1, 2]


def test_weights_without_a_run_keep_nothing(folds):
    keep_result(folds[0][0], {})


def test_a_run_finds_its_own_data(trained, rooms):
    assert open_scored_data(trained, None, ignore).checksum == rooms.checksum
    assert open_scored_data(trained, rooms.path, ignore).checksum == rooms.checksum


def test_data_that_means_something_else_is_refused(trained, tmp_path):
    shapes = write_shapes(tmp_path / "shapes")
    with pytest.raises(InputError, match="data for segmentation, found data for classification"):
        open_scored_data(trained, shapes.path, ignore)
    fewer = write_scenes(tmp_path / "fewer", {"test": ("a",)}, classes=S3DIS[:5])
    with pytest.raises(
        InputError, match=r"the classes of finished: ceiling, .*, found ceiling, floor, wall, beam, col"
    ):
        open_scored_data(trained, fewer.path, ignore)


def test_weights_for_shapes_can_be_asked_about_some_of_their_classes(tmp_path):
    everything = write_shapes(tmp_path / "all", {"test": (3, 4, 5)}, points=1024)
    names = ("desk", "bed")  # another order, and fewer
    some = write_shapes(
        tmp_path / "some",
        {"test": (3, 4)},
        points=1024,
        classes=tuple(SemanticClass(name, number, (0, 0, 0)) for number, name in enumerate(names)),
    )
    card = card_of(load_preset("modelnet10", ["classes=null", "width=1"]), everything)
    torch.manual_seed(0)
    shapes = Trained("shapes", card.build().eval(), card, "best", settings=load_preset("modelnet10"))
    with pytest.raises(InputError, match="the classes of shapes: bed, chair, desk, found desk, bed"):
        open_scored_data(shapes, some.path, ignore)
    open_scored_data(shapes, some.path, ignore, some_classes=True)
    restricted = restrict_classes(shapes, some)
    cloud = torch.rand(1024, 3)
    torch.testing.assert_close(restricted.network.run(cloud), shapes.network.run(cloud)[[2, 0]])
    assert shapes.network.head.logits.out_features == 3
    assert restrict_classes(shapes, everything) is shapes
    score = score_split(shapes, some, ignore, CPU, ScoringOptions("test"))
    assert score.names == names
    assert score.confusion.sum() == 7


def test_weights_without_a_run_need_data(folds):
    for lonely in (replace(folds[0][0], settings=None), load_trained("rooms")):
        with pytest.raises(InputError, match="--data"):
            open_scored_data(lonely, None, ignore)


def test_six_folds_are_each_area_once(folds):
    all_trained, _ = folds
    check_six_folds(all_trained)
    check_six_folds(all_trained[::-1])
    shipped = replace(all_trained[5], settings=None)
    for wrong in (
        all_trained[:5],
        [*all_trained[:5], all_trained[0]],
        [*all_trained, all_trained[0]],
        [*all_trained[:5], shipped],
        [shipped],
        [],
    ):
        with pytest.raises(InputError, match="--six-fold: expected six runs, each holding out another area"):
            check_six_folds(wrong)


def test_six_folds_are_of_one_network(folds):
    all_trained, _ = folds
    other = replace(all_trained[5], card=all_trained[5].card.model_copy(update={"variant": "baseline"}))
    with pytest.raises(InputError, match="run 6: expected the network and input of run 1, found others"):
        check_six_folds([*all_trained[:5], other])


def test_six_folds_are_pooled_before_they_are_scored(folds):
    all_trained, evaluations = folds
    result = pool_folds(all_trained, evaluations)
    total = sum(one.confusion for one in evaluations)
    assert result["confusion"] == total.tolist()
    assert result["units"] == total.sum()
    right = np.diagonal(total)
    assert result["oa"] == pytest.approx(right.sum() / total.sum())
    assert result["miou"] == pytest.approx((right / (total.sum(0) + total.sum(1) - right)).mean())
    assert (result["run"], result["split"], result["protocol"]["split"]) == ("6-fold", "6-fold", "6-fold")
    each = [one.scores for one in evaluations]
    for key in ("oa", "macc", "miou"):
        assert result["mean_of_folds"][key] == pytest.approx(np.mean([getattr(one, key) for one in each]))
    assert result["mean_of_folds"]["miou"] != pytest.approx(result["miou"], abs=1e-6)  # another figure, so labelled
    assert [fold["split"] for fold in result["folds"]] == list(FOLDS)


def test_the_order_of_the_folds_changes_nothing(folds):
    all_trained, evaluations = folds
    one, other = pool_folds(all_trained, evaluations), pool_folds(all_trained[::-1], evaluations[::-1])
    for key in ("oa", "macc", "miou", "iou", "confusion", "protocol"):
        assert one[key] == other[key]


def test_folds_scored_by_different_protocols_are_refused(folds):
    all_trained, evaluations = folds
    odd = replace(evaluations[0], protocol=replace(evaluations[0].protocol, votes=4))
    with pytest.raises(InputError, match="one protocol for all areas"):
        pool_folds(all_trained, [odd, *evaluations[1:]])


def test_a_fold_with_nothing_to_score_leaves_valid_json(folds):
    all_trained, evaluations = folds
    empty = replace(evaluations[0], confusion=np.zeros((13, 13), np.int64))
    result = pool_folds(all_trained, [empty, *evaluations[1:]])
    json.dumps(result, allow_nan=False)
    assert result["folds"][0]["miou"] is None


def test_the_device_is_the_one_there_is():
    assert choose_device("cpu") == CPU
    assert choose_device().type == ("cuda" if torch.cuda.is_available() else "cpu")
