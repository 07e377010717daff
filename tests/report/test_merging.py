import pytest

from point2node.report.merging import merge_seeds
from point2node.report.results import find_results
from tests.report.runs import write_evaluation, write_run


def entries(folder):
    return merge_seeds(find_results([str(folder)]).results)


def test_runs_that_differ_only_in_their_seed_are_one_entry(tmp_path):
    for seed, miou in enumerate((0.60, 0.61, 0.65)):
        write_run(tmp_path / str(seed), miou, seed=seed, settings=[f"num_workers={seed}"])
    (entry,) = entries(tmp_path)
    assert entry.label == "Point2Node"
    assert entry.summary("mIoU").words() == "62.00 ± 2.65"
    assert entry.by_seed("mIoU") == pytest.approx({0: 60, 1: 61, 2: 65})
    assert (entry.steps(), entry.repeated_seeds()) == ("2,000", ())


def test_another_setting_is_another_entry_and_says_so(tmp_path):
    write_run(tmp_path / "a", 0.6, settings=["batch_size=3"])
    write_run(tmp_path / "b", 0.6, seed=1, settings=["batch_size=4"])
    assert [entry.label for entry in entries(tmp_path)] == ["Point2Node, batch_size 3", "Point2Node, batch_size 4"]


def test_a_setting_that_differs_between_networks_is_told(tmp_path):
    write_run(tmp_path / "a", 0.6, settings=["steps=5"])
    write_run(tmp_path / "b", 0.6, variant="baseline", settings=["steps=7"])
    assert [entry.label for entry in entries(tmp_path)] == ["Point2Node, steps 5", "Baseline, steps 7"]


def test_networks_are_told_by_their_names_and_presets_before_settings(tmp_path):
    write_run(tmp_path / "a", 0.6, model="dgcnn", variant=None)
    write_run(tmp_path / "b", 0.6, variant="linear_aggregation", preset="tiny", settings=["points=7"])
    assert [entry.label for entry in entries(tmp_path)] == ["dgcnn, preset rooms", "LA, preset tiny"]


def test_best_and_last_weights_are_two_entries(tmp_path):
    write_run(tmp_path / "a", 0.6)
    write_evaluation(tmp_path / "a/evaluations/last.json", 0.5, weights="last")
    assert [entry.label for entry in entries(tmp_path)] == ["Point2Node, weights best", "Point2Node, weights last"]


def test_an_evaluation_by_itself_does_not_bring_out_every_setting_of_the_others(tmp_path):
    write_run(tmp_path / "a", 0.6)
    write_evaluation(tmp_path / "b.json", 0.5)
    results = find_results([str(tmp_path / "a"), str(tmp_path / "b.json")]).results
    labels = [entry.label for entry in merge_seeds(results)]
    assert labels == ["Point2Node", "Point2Node, settings not all known"]


def test_repeated_seeds_and_unfinished_trainings_are_known(tmp_path):
    write_run(tmp_path / "a", 0.6, steps=None)
    write_run(tmp_path / "b", 0.7, steps=10)
    write_run(tmp_path / "c", 0.8, steps=20)
    (entry,) = entries(tmp_path)
    assert entry.repeated_seeds() == (0,)
    assert entry.steps() == "10 to 20, not finished"
    assert entry.by_seed("mIoU") == pytest.approx({0: 70})


def test_a_class_that_one_seed_lacks_is_the_mean_of_the_others(tmp_path):
    write_run(tmp_path / "a", 0.6, iou={"floor": None})
    write_run(tmp_path / "b", 0.6, seed=1, iou={"floor": 0.5})
    (entry,) = entries(tmp_path)
    assert (entry.summary("floor").mean, entry.summary("floor").count) == (50, 1)
