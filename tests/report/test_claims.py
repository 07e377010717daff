import pytest

from point2node.report.ablation import find_ablations
from point2node.report.claims import judge, judge_claims
from point2node.report.paper_numbers import ABLATION, CLAIMS
from point2node.report.run_folders import find_results
from tests.report.runs import write_run

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
