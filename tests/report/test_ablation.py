import pytest

from point2node.report.ablation import find_ablations, judge, judge_claims, tabulate_variants
from point2node.report.paper_numbers import ABLATION, CLAIMS
from point2node.report.results import find_results
from tests.report.runs import write_evaluation, write_run


def tables(folder):
    return of(str(folder))


def of(*places):
    return [tabulate_variants(found) for found in find_ablations(find_results(places).results)]


def texts(table, label):
    (row,) = [row for row in table.rows if row.label == label]
    return [cell.text for cell in row.cells]


def write_variants(folder, scores, **options):
    for variant, by_seed in scores.items():
        for seed, miou in enumerate(by_seed):
            write_run(folder / f"{variant}_{seed}", miou, variant=variant, seed=seed, **options)


def test_nine_rows_with_our_gain_and_the_papers_beside(tmp_path):
    write_variants(tmp_path, {"baseline": (0.50, 0.54), "self_only": (0.52, 0.53), "point2node": (0.60,)})
    (table,) = tables(tmp_path)
    assert [row.label for row in table.rows] == [row.printed_name for row in ABLATION]
    assert texts(table, "Baseline") == ["52.00 ± 2.83", "+0.00", "+0.00", "56.70", "2", "741,234"]
    assert texts(table, "Self only") == ["52.50 ± 0.71", "+0.50 ± 2.12", "+0.75", "57.45", "2", "741,234"]
    assert texts(table, "Point2Node") == ["60.00", "+10.00", "+6.26", "62.96", "1", "741,234"]
    assert texts(table, "LA") == ["not measured", "not measured", "+1.47", "58.17", "–", "–"]
    best = {row.label: [cell.best for cell in row.cells[:4]] for row in table.rows}
    assert best.pop("Point2Node") == [True] * 4
    assert not any(any(row) for row in best.values())


def test_notes_tell_the_erratums_and_the_difference_of_protocols(tmp_path):
    write_variants(tmp_path, {"baseline": (0.5,), "point2node": (0.6,)})
    (table,) = tables(tmp_path)
    assert any("57.91 − 56.70 = +1.21" in note for note in table.notes)
    assert any("dataset rooms vs s3dis" in note for note in table.notes)
    assert any("baseline 10.98M, Point2Node 11.14M (+1.46 %)" in note for note in table.notes)


def test_without_a_baseline_there_is_no_gain(tmp_path):
    write_variants(tmp_path, {"self_only": (0.5,), "point2node": (0.6,)})
    (table,) = tables(tmp_path)
    assert texts(table, "Point2Node")[:2] == ["60.00", "not measured"]


def test_one_variant_or_other_models_are_no_ablation(tmp_path):
    write_variants(tmp_path, {"point2node": (0.5, 0.6)})
    write_run(tmp_path / "dgcnn", 0.5, model="dgcnn", variant=None)
    assert tables(tmp_path) == []


def test_unlike_recipes_are_never_subtracted(tmp_path):
    write_variants(tmp_path / "a", {"baseline": (0.5,), "point2node": (0.6,)}, settings=["steps=5"])
    write_variants(tmp_path / "b", {"baseline": (0.4,), "point2node": (0.6,)}, settings=["steps=9"])
    found = of(str(tmp_path / "a"), str(tmp_path / "b"))
    assert [table.title for table in found] == ["Ablation on rooms, test, steps 5", "Ablation on rooms, test, steps 9"]
    assert [texts(table, "Point2Node")[1] for table in found] == ["+10.00", "+20.00"]


def test_classifiers_are_compared_by_overall_accuracy(tmp_path):
    options = {"miou": None, "protocol": {"task": "classification"}}
    files = [
        write_evaluation(tmp_path / "a.json", variant="baseline", oa=0.9, **options),
        write_evaluation(tmp_path / "b.json", variant="point2node", oa=0.92, **options),
    ]
    (table,) = of(*map(str, files))
    assert table.columns[1] == "OA here"
    assert texts(table, "Point2Node")[:2] == ["92.00", "+2.00"]
    assert any("ours OA" in note for note in table.notes)


SELF, SUM, LINEAR = (
    "the self block helps",
    "together they gain more than the sum of each",
    "adaptive aggregation beats linear",
)


def claims(folder, scores):
    for variant, by_seed in scores.items():
        for seed, miou in by_seed.items():
            write_run(folder / f"{variant}_{seed}", miou, variant=variant, seed=seed)
    (ablation,) = find_ablations(find_results([str(folder)]).results)
    return {row.label: [cell.text for cell in row.cells] for row in judge_claims(ablation).rows}


def seeds(*scores):
    return dict(enumerate(scores))


@pytest.mark.parametrize(
    ("in_favour", "count", "verdict"),
    [(3, 3, "holds"), (0, 3, "fails"), (2, 3, "undecided"), (2, 2, "undecided"), (0, 1, "undecided"), (5, 5, "holds")],
)
def test_a_claim_needs_every_one_of_three_seeds(in_favour, count, verdict):
    assert judge(in_favour, count) == verdict


def test_no_difference_is_not_in_favour(tmp_path):
    found = claims(tmp_path, {"baseline": seeds(0.5, 0.6, 0.7), "self_only": seeds(0.5, 0.6, 0.7)})
    assert found[SELF] == ["fails", "+0.00 ± 0.00", "0 of 3", "+0.75"]


def test_differences_are_those_of_a_seed(tmp_path):
    found = claims(tmp_path, {"baseline": seeds(0.5, 0.6, 0.7), "self_only": seeds(0.51, 0.62, 0.73)})
    assert found[SELF] == ["holds", "+2.00 ± 1.00", "3 of 3", "+0.75"]
    assert found[LINEAR] == ["not measured", "not measured", "–", "+4.79"]


def test_the_sum_of_the_blocks_is_taken_against_the_baseline(tmp_path):
    scores = {"baseline": 0.5, "self_only": 0.51, "local_only": 0.52, "non_local_only": 0.53, "point2node": 0.55}
    found = claims(tmp_path, {variant: seeds(score, score, score) for variant, score in scores.items()})
    assert found[SUM] == ["fails", "−1.00 ± 0.00", "0 of 3", "+1.26"]


def test_only_seeds_that_all_its_variants_have_are_compared(tmp_path):
    found = claims(tmp_path, {"baseline": {0: 0.5, 1: 0.9}, "self_only": {0: 0.6, 2: 0.1}, "local_only": {3: 0.4}})
    assert found[SELF] == ["undecided", "+10.00", "1 of 1", "+0.75"]
    assert found["the local block helps"][0] == "not measured"


def test_every_claim_is_borne_out_by_the_papers_own_table():
    printed = {row.variant: row.miou for row in ABLATION}
    for claim in CLAIMS:
        assert len(claim.more) == len(claim.less)
        assert sum(map(printed.get, claim.more)) > sum(map(printed.get, claim.less)), claim.words
