from statistics import fmean

import pytest

from point2node.models.catalogue import list_models
from point2node.report.paper_numbers import ABLATION, COMPLEXITY, S3DIS_AREA_5, S3DIS_SIX_FOLD
from point2node.report.paper_slips import SLIPS, slips_of
from point2node.report.summaries import best_places

MIOU = {row.variant: row.miou for row in ABLATION}
DELTA = {row.variant: row.delta for row in ABLATION}
BLOCKS = ("self_only", "local_only", "non_local_only")


def the_slip(where, table):
    (slip,) = [slip for slip in SLIPS if slip.where == where and table in slip.tables]
    return slip


def test_the_gain_of_local_only_is_recomputed():
    slip = the_slip("Local only, Δ", 3)
    assert slip.printed == f"+{DELTA['local_only']:.2f}"
    assert slip.explanation.endswith(f"= +{MIOU['local_only'] - MIOU['baseline']:.2f}")


def test_the_sum_of_the_blocks_is_recomputed():
    slip = the_slip("Sum of the three blocks' Δ in the text", 3)
    assert slip.printed == f"{sum(DELTA[block] for block in BLOCKS):.2f}"
    assert slip.explanation.endswith(f"= {sum(MIOU[block] - MIOU['baseline'] for block in BLOCKS):.2f}")


def test_the_relative_gain_is_recomputed():
    gain = 100 * (COMPLEXITY[1].miou / COMPLEXITY[0].miou - 1)
    assert the_slip("Gain in mIoU", 4).explanation.endswith(f"+{gain:.2f} %")
    assert f"+{gain:.2f} %" in the_slip("Gain in mIoU", 4).printed


@pytest.mark.parametrize(
    ("table", "heading"), [(S3DIS_SIX_FOLD, "beam"), (S3DIS_SIX_FOLD, "board"), (S3DIS_AREA_5, "clutter")]
)
def test_the_best_that_is_not_bold_is_recomputed(table, heading):
    slip = the_slip(heading, table.number)
    (place,) = best_places([row.score(heading) for row in table.rows])
    best = table.rows[place]
    assert slip.explanation == f"{best.method}'s {best.score(heading):.2f} is the best"
    bold = slip.printed.removesuffix(" in bold")
    assert bold == "nothing" or bold in {f"{row.method}'s {row.score(heading):.2f}" for row in _with_classes(table)}


@pytest.mark.parametrize("table", [S3DIS_SIX_FOLD, S3DIS_AREA_5])
def test_the_distance_of_means_is_recomputed(table):
    slip = the_slip("mIoU", table.number)
    off = {row.method: fmean(row.iou.values()) - row.miou for row in _with_classes(table)}
    worst = max(_with_classes(table), key=lambda row: abs(off[row.method]))
    assert slip.printed == f"values up to {abs(off[worst.method]):.2f} off the mean of the 13 IoUs"
    mean = worst.miou + off[worst.method]
    assert slip.explanation == f"{worst.method}'s {worst.miou:.2f} stands for a mean of {mean:.2f}"


@pytest.mark.parametrize("table", [S3DIS_SIX_FOLD, S3DIS_AREA_5])
def test_the_classes_in_which_another_row_is_the_best_are_recomputed(table):
    slip = the_slip("Considerable gains in the text", table.number)
    *_, ours = table.rows
    assert ours.method == "Point2Node"
    best = {name: max(row.score(name) for row in _with_classes(table)) for name in ours.iou}
    beaten = [name for name in slip.printed.split(", ") if ours.score(name) < best[name]]
    assert slip.explanation == f"another row is the best in {', '.join(beaten)}"


def test_the_growth_in_parameters_and_the_two_baselines_are_recomputed():
    sizes = {one.variant: one.parameters for one in list_models() if one.preset == "s3dis" and one.name == "point2node"}
    growth = 100 * (sizes["point2node"] / sizes["baseline"] - 1)
    assert the_slip("Growth in parameters", 4).explanation.endswith(f"+{growth:.3f} %")
    assert the_slip("Growth in parameters", 4).printed == f"+{COMPLEXITY[1].size_change:.2f} %"
    slip = the_slip("Baseline's mIoU", 3)
    assert slip.printed == f"{MIOU['baseline']:.2f}"
    (pointcnn,) = [row for row in S3DIS_AREA_5.rows if row.method == "PointCNN"]
    assert f"{pointcnn.miou:.2f}" in slip.explanation


def _with_classes(table):
    return [row for row in table.rows if None not in row.iou.values()]


def test_slips_are_told_with_the_tables_they_touch():
    assert any(note.startswith("Local only, Δ: the paper prints +1.23; 57.91 − 56.70 = +1.21.") for note in slips_of(3))
    assert slips_of(5, 6) == ()
