import pytest

from point2node.core.classes import S3DIS
from point2node.report.comparison import compare, merge_seeds
from point2node.report.results import find_results
from tests.report.runs import write_evaluation, write_run

AREA_5 = {"dataset": "s3dis", "split": "Area_5", "votes": 4}


def table(folder):
    return compare(find_results([str(folder)]).results)


def cells(table, label, section=0):
    (row,) = [row for row in table.sections[section].rows if row.label == label]
    return dict(zip(table.columns[1:], row.cells, strict=True))


def test_one_row_for_each_network_with_mean_deviation_and_best(tmp_path):
    write_run(tmp_path / "a", 0.60, seed=0)
    write_run(tmp_path / "b", 0.64, seed=1)
    write_run(tmp_path / "c", 0.63, variant="baseline", iou={"floor": 0.9, "wall": None, "chair": 0.1})
    found = table(tmp_path)
    assert found.columns == ("method", "OA", "mAcc", "mIoU", "seeds", "steps", "parameters", "floor", "wall", "chair")
    ours, baseline = cells(found, "Point2Node"), cells(found, "Baseline")
    assert [ours[key].text for key in ("seeds", "steps", "parameters")] == ["2", "2,000", "741,234"]
    assert ours["mIoU"].text == "62.00 ± 2.83"
    assert (ours["mIoU"].best, baseline["mIoU"].best) == (False, True)
    assert (ours["OA"].best, baseline["OA"].best) == (True, True)
    assert (baseline["floor"].best, ours["chair"].best) == (True, True)
    assert baseline["wall"].text == "n/a"
    assert not ours["wall"].best
    assert any(note.startswith("n/a: the class does not occur") for note in found.notes)
    assert len(found.sections) == 1


def test_classification_has_no_class_columns(tmp_path):
    path = write_evaluation(tmp_path / "x.json", miou=None, protocol={"task": "classification", "unit": "shape"})
    assert table(path).columns == ("method", "OA", "mAcc", "seeds", "steps", "parameters")


def test_the_paper_stands_beside_area_5_with_its_protocol_and_slips(tmp_path):
    iou = {one.name: 0.5 for one in S3DIS}
    found = table(write_evaluation(tmp_path / "x.json", iou=iou, protocol=AREA_5))
    assert [section.title for section in found.sections] == ["measured here", "published (paper, Table 2)"]
    printed = cells(found, "Point2Node", 1)
    assert (printed["mIoU"].text, printed["mIoU"].best, printed["parameters"].text) == ("62.96", True, "11.14M")
    assert (cells(found, "PointCNN", 1)["clutter"].best, printed["clutter"].best) == (True, False)
    assert cells(found, "PointNet", 1)["OA"].text == "–"
    assert "votes 4 vs not stated" in found.sections[1].difference
    assert any("votes 4 vs not stated" in note for note in found.notes)
    assert any(note.startswith("clutter: the paper prints Point2Node's 55.17 in bold") for note in found.notes)


def test_point2node_is_not_measured_until_it_is(tmp_path):
    write_evaluation(tmp_path / "x.json", variant="baseline", protocol=AREA_5)
    found = table(tmp_path / "x.json")
    assert {cells(found, "Point2Node")[heading].text for heading in ("OA", "mIoU", "chair")} == {"not measured"}
    write_evaluation(tmp_path / "y.json", protocol=AREA_5)
    found = compare(find_results([str(tmp_path / "x.json"), str(tmp_path / "y.json")]).results)
    assert cells(found, "Point2Node")["mIoU"].text == "60.00"


def test_shapes_of_other_input_are_sections_of_their_own(tmp_path):
    protocol = {"task": "classification", "dataset": "modelnet", "unit": "shape", "points": 1024}
    iou = {f"class {number}": 0.5 for number in range(40)}
    found = table(write_evaluation(tmp_path / "x.json", miou=None, iou=iou, protocol=protocol, units=2468))
    assert [section.title for section in found.sections[1:]] == [
        "published (paper, Table 6; xyz, 1k)",
        "published (paper, Table 6; xyz, 2k)",
        "published (paper, Table 6; xyz,normal, 5k)",
        "published (paper, Table 6; xyz,normal, 1k)",
    ]
    assert cells(found, "Point2Node", 1)["OA"].text == "93.0"
    assert cells(found, "Point2Node", 1)["OA"].best
    assert "points 1,024 vs 2k" in found.sections[2].difference


@pytest.mark.parametrize("split", ["val", "train"])
def test_other_splits_have_no_published_rows(tmp_path, split):
    found = table(write_evaluation(tmp_path / "x.json", protocol={"dataset": "scannet", "split": split}))
    assert len(found.sections) == 1


def test_runs_of_one_seed_are_noted(tmp_path):
    write_run(tmp_path / "a", 0.6)
    write_run(tmp_path / "b", 0.6)
    assert any("several runs have seed 0: point2node_0, point2node_0" in note for note in table(tmp_path).notes)


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
