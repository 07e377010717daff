"""What the paper concludes from its ablation, held against an ablation that was measured here."""

from __future__ import annotations

from collections.abc import Mapping

from point2node.report.ablation import Ablation
from point2node.report.merging import Entry
from point2node.report.paper_numbers import ABLATION, ABLATION_NUMBER, CLAIMS
from point2node.report.protocols import describe
from point2node.report.published import Claim
from point2node.report.summaries import Summary, summarise
from point2node.report.tables import NOT_MEASURED, NOT_PRINTED, Cell, Row, Section, Table

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
FEWEST_SEEDS = 3


def judge_claims(ablation: Ablation) -> Table:
    """Each claim with its difference here, over the seeds that all its variants have, and in the paper."""
    entries, metric = ablation.entries(), ablation.metric
    protocol = describe(ablation.conditions)
    rows = tuple(_row(claim, entries, metric) for claim in CLAIMS)
    return Table(
        title=f"The paper's claims on {ablation.subject}",
        protocol=protocol,
        columns=("claim", "here", f"Δ {metric} here", "seeds in favour", "Δ mIoU, paper"),
        sections=(Section("measured here, published beside", protocol, rows),),
        notes=(
            "Δ in percentage points, seed by seed; over several, mean ± sample standard deviation.",
            f"With {FEWEST_SEEDS} seeds or more a claim holds where every seed is in favour, and fails where none is. "
            f"Of {FEWEST_SEEDS} seeds chance alone is in favour once in {2**FEWEST_SEEDS}.",
            f"Paper: from the mIoU of its Table {ABLATION_NUMBER}; how many trainings are behind it is not stated.",
        ),
    )


def judge(in_favour: int, seeds: int) -> str:
    """In a word what is known of a claim."""
    if seeds < FEWEST_SEEDS or 0 < in_favour < seeds:
        return UNDECIDED
    return HOLDS if in_favour else FAILS


def _row(claim: Claim, entries: Mapping[str, Entry], metric: str) -> Row:
    printed = {row.variant: row.miou for row in ABLATION}
    there = Summary(sum(printed[name] for name in claim.more) - sum(printed[name] for name in claim.less))
    theirs = Cell(there.words("+"), there)
    differences = _by_seed(claim, entries, metric)
    summary = summarise(list(differences.values()))
    if summary is None:
        missing = Cell(NOT_MEASURED)
        return Row(claim.words, (missing, missing, Cell(NOT_PRINTED), theirs))
    in_favour = sum(difference > 0 for difference in differences.values())
    seeds = len(differences)
    here = (Cell(judge(in_favour, seeds)), Cell(summary.words("+"), summary), Cell(f"{in_favour} of {seeds}"))
    runs = (run for name in dict.fromkeys((*claim.more, *claim.less)) for run in entries[name].runs)
    return Row(claim.words, (*here, theirs), tuple(runs))


def _by_seed(claim: Claim, entries: Mapping[str, Entry], metric: str) -> dict[int | None, float]:
    """What the claim says to be positive, for each seed that all its variants were trained with."""
    named = {*claim.more, *claim.less}
    scores = {name: entries[name].by_seed(metric) for name in named if name in entries}
    if len(scores) < len(named):
        return {}
    shared = set.intersection(*(set(found) for found in scores.values()))
    return {
        seed: sum(scores[name][seed] for name in claim.more) - sum(scores[name][seed] for name in claim.less)
        for seed in sorted(shared, key=str)
    }
