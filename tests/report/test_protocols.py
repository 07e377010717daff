import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.report.paper_numbers import AREA_5, MODELNET40, SIX_FOLD
from point2node.report.protocols import (
    compare_with_printed,
    conditions,
    describe,
    describe_differences,
    describe_printed,
    group_by_protocol,
)
from point2node.report.results import EvaluationFile, Result
from tests.report.runs import PROTOCOL, evaluation


def result(protocol=None, **more):
    text = json.dumps(evaluation(protocol=protocol, **more))
    return Result(Path("x.json"), EvaluationFile.model_validate_json(text), None)


def test_like_results_are_one_group_whatever_their_scores():
    assert len(group_by_protocol([result(), result(seed=1, variant="baseline"), result(oa=None)])) == 1


OTHERS = {
    "task": "classification",
    "dataset": "s3dis",
    "split": "val",
    "selection": "0123456789ab",
    "data": "fedcba",
    "sampling": "raw .off meshes, 2,048 points a shape",
    "input": "xyz",
    "voxel": 0.1,
    "points": 1024,
    "votes": 4,
    "rule": "mean_probability",
    "ignored": ["clutter"],
    "unit": "voxel 0.1 m",
    "offsets": [0.0],
    "block_side": 2.0,
    "block_grid": None,
    "block_points": 4096,
}


@pytest.mark.parametrize("key", PROTOCOL)
def test_every_key_of_the_protocol_tells_results_apart(key):
    groups = group_by_protocol([result(), result({key: OTHERS[key]}), result()])
    assert [len(group) for group in groups] == [2, 1]
    assert f"they differ in {key} (" in describe_differences(groups)


@given(st.dictionaries(st.text(min_size=1, max_size=9), st.integers() | st.text(max_size=9), max_size=3))
def test_unknown_keys_tell_results_apart_too(more):
    more = {f"x{key}": value for key, value in more.items()}
    assert len(group_by_protocol([result(), result(more)])) == (2 if more else 1)


def test_scenes_units_and_classes_tell_results_apart():
    others = [result(scenes=3), result(units=7), result(iou={"floor": 0.5})]
    groups = group_by_protocol([result(), *others])
    assert len(groups) == 4
    assert describe_differences(groups) == (
        "4 protocols, each with its own table; do not compare them: they differ in scenes (12; 3), units (123,456; 7), "
        "classes (3, from floor to chair; 1, from floor to floor)."
    )


def test_one_protocol_has_nothing_to_tell():
    assert describe_differences(group_by_protocol([result()])) == ""
    assert describe_differences([]) == ""


def test_a_protocol_in_words():
    given = conditions(result({"ignored": ["unannotated"], "turns": 3}).evaluation)
    assert describe(given) == (
        "scored per point, 2,048 points a pass, 1 vote, decided by max_confidence, blocks of 1.5 m, "
        "offset by 0 and 0.75 m, evened in cells of 0.03 m, at most 8,192 points a block, without unannotated, "
        "12 scenes, 123,456 scored, given xyz + rgb, data 01234567, selection fedcba98, turns 3"
    )


def test_what_the_paper_states_in_words():
    assert describe_printed(SIX_FOLD) == "s3dis, 6-fold, scored per point, 6 folds"
    assert describe_printed(MODELNET40.rows[0].protocol) == (
        "modelnet, test, scored per shape, 1k points a pass, 2,468 scored, given xyz"
    )


def test_where_shapes_have_their_points_from_is_told():
    sampling = "h5 files of sampled shapes, 1,024 points a shape"
    ours = conditions(result({"sampling": sampling, "points": 1024, "votes": 10}).evaluation)
    assert "1,024 points a pass, 10 votes, decided by max_confidence, " in describe(ours)
    assert f"shapes from {sampling}" in describe(ours)
    told = compare_with_printed(ours, MODELNET40.rows[0].protocol)
    assert f"sampling {sampling} vs not stated" in told


def test_the_difference_to_the_paper_in_words():
    ours = conditions(result({"dataset": "s3dis", "split": "Area_5", "votes": 4}).evaluation)
    told = compare_with_printed(ours, AREA_5).split("; ")
    assert "votes 4 vs not stated" in told
    assert not any(one.startswith(("unit", "dataset", "split", "data", "selection")) for one in told)
    elsewhere = compare_with_printed(conditions(result().evaluation), AREA_5)
    assert "dataset rooms vs s3dis; split test vs Area_5" in elsewhere


def test_the_pooled_folds_have_no_selection_of_their_own():
    pooled = conditions(result({"dataset": "s3dis", "split": "6-fold", "selection": ""}, folds=[1] * 6).evaluation)
    assert "selection" not in describe(pooled)
    assert "selection" not in compare_with_printed(pooled, SIX_FOLD)


def test_missing_folds_and_shapes_are_differences():
    pooled = conditions(result({"dataset": "s3dis", "split": "6-fold"}, folds=[1, 2, 3]).evaluation)
    assert "folds 3 vs 6" in compare_with_printed(pooled, SIX_FOLD)
    shapes = conditions(result({"points": 1024}, units=10).evaluation)
    told = compare_with_printed(shapes, MODELNET40.rows[0].protocol)
    assert "units 10 vs 2,468" in told
    assert not any(one.startswith("points") for one in told.split("; "))
