import pytest

from point2node.core.classes import S3DIS
from point2node.report.comparison import compare
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
