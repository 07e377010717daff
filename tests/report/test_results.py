import json

import pytest

from point2node.core.errors import InputError
from point2node.report.results import find_results
from tests.report.runs import evaluation, write_evaluation, write_run


def test_a_run_folder_a_folder_of_them_and_a_pattern_give_the_same_results(tmp_path):
    runs = tmp_path / "my runs"
    write_run(runs / "b", 0.5, 0.6)
    write_run(runs / "a", 0.7)
    whole = find_results([str(runs)])
    assert [result.evaluation.miou for result in whole.results] == [0.7, 0.5, 0.6]
    assert find_results([str(runs / "*")]) == whole
    assert find_results([str(runs / "a"), str(runs / "b"), str(runs)]) == whole


def test_an_evaluation_in_a_run_folder_knows_its_run(tmp_path):
    write_run(tmp_path / "a", 0.5)
    (result,) = find_results([str(tmp_path / "a/evaluations/0.json")]).results
    assert (result.parameters, result.run.steps) == (741234, 2000)


def test_an_evaluation_by_itself_needs_no_run(tmp_path):
    path = write_evaluation(tmp_path / "pooled.json", run=None, seed=None, folds=[1, 2], parameters=5)
    (result,) = find_results([str(path)]).results
    assert (result.name, result.parameters, result.run) == ("pooled", 5, None)


def test_a_run_without_evaluation_is_told_once(tmp_path):
    folder = write_run(tmp_path / "a", steps=None)
    assert find_results([str(folder), str(tmp_path)]).not_evaluated == (folder,)


def test_scores_are_percentages_without_the_ignored_classes(tmp_path):
    given = {"protocol": {"ignored": ["unannotated"]}, "iou": {"unannotated": None, "wall": None, "floor": 0.25}}
    path = write_evaluation(tmp_path / "x.json", 0.25, **given)
    (result,) = find_results([str(path)]).results
    assert result.scores() == {"OA": 90, "mAcc": 80, "mIoU": 25, "wall": None, "floor": 25}


def test_a_class_with_the_name_of_a_heading_is_told_from_it(tmp_path):
    path = write_evaluation(tmp_path / "x.json", iou={"steps": 0.5, "OA": 0.25})
    (result,) = find_results([str(path)]).results
    assert result.scores() == {"OA": 90, "mAcc": 80, "mIoU": 60, "class steps": 50, "class OA": 25}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "x.json: expected an evaluation of format 1, found 'format': Input should be 1."),
        ({"oa": 90.0}, "'oa': Input should be less than or equal to 1"),
        ({"oa": "0.9"}, "'oa': Input should be a valid number"),
        ({"iou": {"wall": -1}}, "'iou.wall': Input should be greater"),
        ({"protocol": {"task": "segmentation"}}, "'protocol.dataset': Field required"),
        ({"model": ""}, "'model': String should have at least 1 character"),
    ],
)
def test_a_wrong_evaluation_is_refused_in_one_line(tmp_path, change, message):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(evaluation() | change))
    with pytest.raises(InputError) as caught:
        find_results([str(path)])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"oa": NaN}', b"null"])
def test_what_is_no_evaluation_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x\.json: expected an evaluation of format 1, found") as caught:
        find_results([str(path)])
    assert "\n" not in str(caught.value)


def test_other_arguments_are_refused_with_what_is_expected(tmp_path):
    (tmp_path / "scan.ply").touch()
    (tmp_path / "empty").mkdir()
    for name, message in (
        ("scan.ply", "scan.ply: expected a run folder or an evaluation JSON, found a .ply file."),
        (
            "empty",
            "empty: expected a run folder, which holds run.json, or a folder of run folders, found neither. Give",
        ),
        ("nowhere", "nowhere: expected a run folder or an evaluation JSON, found nothing there."),
        ("none*", "found nothing there."),
    ):
        with pytest.raises(InputError) as caught:
            find_results([str(tmp_path / name)])
        assert message in str(caught.value)


def test_a_damaged_run_is_refused_with_its_file(tmp_path):
    folder = write_run(tmp_path / "a", 0.5)
    (folder / "run.json").write_text("{}")
    with pytest.raises(InputError, match=r"run\.json: expected a run of format 1, found 'format': Field required"):
        find_results([str(folder)])
