from statistics import fmean

import pytest

from point2node.core.classes import S3DIS
from point2node.models.catalogue import list_models
from point2node.models.point2node.stages import VARIANTS
from point2node.report.paper_numbers import (
    ABLATION,
    COMPLEXITY,
    ERRATA,
    MODELNET40,
    PUBLISHED,
    S3DIS_AREA_5,
    S3DIS_SIX_FOLD,
    SCANNET,
    errata_of,
)
from point2node.report.tables import best_indices

HEADINGS = ("OA", "mAcc", "mIoU", *(one.name for one in S3DIS))

# the cells that the paper prints in bold, column by column
BOLD = {
    1: "Point2Node Point2Node Point2Node PointCNN PointCNN Point2Node SPGraph Point2Node Point2Node SPGraph Point2Node "
    "SPGraph Point2Node SPGraph - Point2Node",
    2: "Point2Node Point2Node Point2Node Point2Node PointWeb Point2Node PCCN SPGraph PCCN PCCN GACNet PointWeb GACNet "
    "Point2Node GACNet Point2Node",
}
BOLD_ERRATA = {(1, "beam"): "PointCNN", (1, "board"): "PointWeb", (2, "clutter"): "PointCNN"}


def best_methods(table, heading):
    return [table.rows[place].method for place in best_indices([row.score(heading) for row in table.rows])]


@pytest.mark.parametrize(("table", "rows"), [(S3DIS_SIX_FOLD, 7), (S3DIS_AREA_5, 8), (SCANNET, 8), (MODELNET40, 16)])
def test_every_row_is_there_and_every_score_is_a_percentage(table, rows):
    assert len(table.rows) == rows
    scores = [row.score(heading) for row in table.rows for heading in HEADINGS]
    assert all(score is None or 0 <= score <= 100 for score in scores)
    assert len({(row.method, row.protocol) for row in table.rows}) == rows


@pytest.mark.parametrize("table", [S3DIS_SIX_FOLD, S3DIS_AREA_5])
def test_every_s3dis_row_has_all_classes_in_the_order_of_the_class_list(table):
    for row in table.rows:
        assert list(row.iou) == [one.name for one in S3DIS]
        absent = [score is None for score in row.iou.values()]
        assert all(absent) or not any(absent)


@pytest.mark.parametrize("table", [S3DIS_SIX_FOLD, S3DIS_AREA_5])
def test_the_computed_best_is_the_bold_one_but_for_the_erratums(table):
    for heading, bold in zip(HEADINGS, BOLD[table.number].split(), strict=True):
        erratum = BOLD_ERRATA.get((table.number, heading))
        assert best_methods(table, heading) == [erratum or bold]
        assert erratum != bold


@pytest.mark.parametrize("table", [S3DIS_SIX_FOLD, S3DIS_AREA_5])
def test_the_mean_of_the_class_scores_is_nearly_the_printed_one(table):
    for row in table.rows:
        scores = [score for score in row.iou.values() if score is not None]
        assert not scores or abs(fmean(scores) - row.miou) < 0.18


def test_point2node_is_the_best_on_scannet_and_among_shapes_of_1k_xyz():
    assert best_methods(SCANNET, "OA") == ["Point2Node"]
    like = [row for row in MODELNET40.rows if (row.protocol.input, row.protocol.points) == ("xyz", "1k")]
    assert max(like, key=lambda row: row.oa).method == "Point2Node"
    assert best_methods(MODELNET40, "OA") == ["SO-Net"]


def test_the_ablation_has_the_nine_variants_and_ends_with_the_area_5_row():
    assert [row.variant for row in ABLATION] == list(VARIANTS)
    assert ABLATION[-1].miou == S3DIS_AREA_5.rows[-1].miou
    for row in ABLATION:
        erratum = 0.02 if row.variant == "local_only" else 0
        assert row.delta == pytest.approx(row.miou - ABLATION[0].miou + erratum)


def test_the_sizes_and_their_changes_agree():
    small, large = COMPLEXITY
    assert round(100 * (large.size / small.size - 1), 2) == large.size_change
    assert round(100 * (large.miou / small.miou - 1), 2) == large.miou_change
    assert (small.miou, large.miou) == (ABLATION[0].miou, ABLATION[-1].miou)


def test_a_table_fits_only_its_own_data():
    assert [table.number for table in PUBLISHED if table.fits("s3dis", "Area_5", 13)] == [2]
    assert [table.number for table in PUBLISHED if table.fits("s3dis", "6-fold", 13)] == [1]
    assert [table.number for table in PUBLISHED if table.fits("modelnet", "test", 40)] == [6]
    assert [table.number for table in PUBLISHED if table.fits("modelnet", "test", 10)] == []
    assert [table.number for table in PUBLISHED if table.fits("s3dis", "Area_4", 13)] == []


MIOU = {row.variant: row.miou for row in ABLATION}
DELTA = {row.variant: row.delta for row in ABLATION}
BLOCKS = ("self_only", "local_only", "non_local_only")


def the_erratum(where, table):
    (erratum,) = [erratum for erratum in ERRATA if erratum.where == where and table in erratum.tables]
    return erratum


def test_the_gain_of_local_only_is_recomputed():
    erratum = the_erratum("Local only, Δ", 3)
    assert erratum.printed == f"+{DELTA['local_only']:.2f}"
    assert erratum.explanation.endswith(f"= +{MIOU['local_only'] - MIOU['baseline']:.2f}")


def test_the_sum_of_the_blocks_is_recomputed():
    erratum = the_erratum("Sum of the three blocks' Δ in the text", 3)
    assert erratum.printed == f"{sum(DELTA[block] for block in BLOCKS):.2f}"
    assert erratum.explanation.endswith(f"= {sum(MIOU[block] - MIOU['baseline'] for block in BLOCKS):.2f}")


def test_the_relative_gain_is_recomputed():
    gain = 100 * (COMPLEXITY[1].miou / COMPLEXITY[0].miou - 1)
    assert the_erratum("Gain in mIoU", 4).explanation.endswith(f"+{gain:.2f} %")
    assert f"+{gain:.2f} %" in the_erratum("Gain in mIoU", 4).printed


@pytest.mark.parametrize(
    ("table", "heading"), [(S3DIS_SIX_FOLD, "beam"), (S3DIS_SIX_FOLD, "board"), (S3DIS_AREA_5, "clutter")]
)
def test_the_best_that_is_not_bold_is_recomputed(table, heading):
    erratum = the_erratum(heading, table.number)
    (place,) = best_indices([row.score(heading) for row in table.rows])
    best = table.rows[place]
    assert erratum.explanation == f"{best.method}'s {best.score(heading):.2f} is the best"
    bold = erratum.printed.removesuffix(" in bold")
    assert bold == "nothing" or bold in {f"{row.method}'s {row.score(heading):.2f}" for row in _with_classes(table)}


@pytest.mark.parametrize("table", [S3DIS_SIX_FOLD, S3DIS_AREA_5])
def test_the_distance_of_means_is_recomputed(table):
    erratum = the_erratum("mIoU", table.number)
    off = {row.method: fmean(row.iou.values()) - row.miou for row in _with_classes(table)}
    worst = max(_with_classes(table), key=lambda row: abs(off[row.method]))
    assert erratum.printed == f"values up to {abs(off[worst.method]):.2f} off the mean of the 13 IoUs"
    mean = worst.miou + off[worst.method]
    assert erratum.explanation == f"{worst.method}'s {worst.miou:.2f} stands for a mean of {mean:.2f}"


@pytest.mark.parametrize("table", [S3DIS_SIX_FOLD, S3DIS_AREA_5])
def test_the_classes_in_which_another_row_is_the_best_are_recomputed(table):
    erratum = the_erratum("Considerable gains in the text", table.number)
    *_, ours = table.rows
    assert ours.method == "Point2Node"
    best = {name: max(row.score(name) for row in _with_classes(table)) for name in ours.iou}
    beaten = [name for name in erratum.printed.split(", ") if ours.score(name) < best[name]]
    assert erratum.explanation == f"another row is the best in {', '.join(beaten)}"


def test_the_growth_in_parameters_and_the_two_baselines_are_recomputed():
    sizes = {one.variant: one.parameters for one in list_models() if one.preset == "s3dis" and one.name == "point2node"}
    growth = 100 * (sizes["point2node"] / sizes["baseline"] - 1)
    assert the_erratum("Growth in parameters", 4).explanation.endswith(f"+{growth:.3f} %")
    assert the_erratum("Growth in parameters", 4).printed == f"+{COMPLEXITY[1].size_change:.2f} %"
    erratum = the_erratum("Baseline's mIoU", 3)
    assert erratum.printed == f"{MIOU['baseline']:.2f}"
    (pointcnn,) = [row for row in S3DIS_AREA_5.rows if row.method == "PointCNN"]
    assert f"{pointcnn.miou:.2f}" in erratum.explanation


def _with_classes(table):
    return [row for row in table.rows if None not in row.iou.values()]


def test_errata_are_listed_with_the_tables_they_concern():
    assert any(
        note.startswith("Local only, Δ: the paper prints +1.23; 57.91 − 56.70 = +1.21.") for note in errata_of(3)
    )
    assert errata_of(5, 6) == ()
