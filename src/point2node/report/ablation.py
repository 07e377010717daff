"""The ablation: the paper's nine variants, their gains here and in the paper, and the paper's conclusions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from point2node.report.comparison import Entry, count_cell, distinguish_recipe, recipe_of, score_cell
from point2node.report.paper_numbers import (
    ABLATION,
    ABLATION_NUMBER,
    AREA_5,
    CLAIMS,
    COMPLEXITY,
    COMPLEXITY_NUMBER,
    AblationRow,
    Claim,
    errata_of,
)
from point2node.report.protocols import Conditions, compare_with_printed, conditions, describe, describe_printed
from point2node.report.results import Result
from point2node.report.tables import (
    NOT_MEASURED,
    NOT_PRINTED,
    Cell,
    Row,
    Section,
    Summary,
    Table,
    difference,
    mark_best,
    summarise,
)


@dataclass(frozen=True)
class Ablation:
    """Two or more variants that were trained with one recipe and scored under the same protocol."""

    results: tuple[Result, ...]
    distinction: tuple[str, ...]
    """How the recipe differs from those of the other ablations, in words."""

    @property
    def conditions(self) -> Conditions:
        """The conditions under which the scores were measured."""
        return conditions(self.results[0].evaluation)

    @property
    def metric(self) -> str:
        """The score that is compared."""
        return "mIoU" if self.conditions["task"] == "segmentation" else "OA"

    @property
    def subject(self) -> str:
        """The data set, the split and how the recipe differs, for titles."""
        return ", ".join((self.conditions["dataset"], self.conditions["split"], *self.distinction))

    def entries(self) -> dict[str, Entry]:
        """Return each variant's results over the seeds."""
        variants = dict.fromkeys(result.variant for result in self.results)
        return {name: Entry(name, tuple(one for one in self.results if one.variant == name)) for name in variants}


def find_ablations(results: Sequence[Result]) -> list[Ablation]:
    """Return an ablation for each recipe with two or more variants, from results of the same protocol."""
    names = {row.variant for row in ABLATION}
    recipes: dict[str, list[Result]] = {}
    for result in results:
        if result.is_point2node and result.variant in names:
            recipes.setdefault(json.dumps(recipe_of(result), sort_keys=True), []).append(result)
    ablated = [chosen for chosen in recipes.values() if len({result.variant for result in chosen}) > 1]
    others = [recipe_of(chosen[0]) for chosen in ablated]
    return [
        Ablation(tuple(chosen), tuple(distinguish_recipe(recipe, others)))
        for chosen, recipe in zip(ablated, others, strict=True)
    ]


def tabulate_variants(ablation: Ablation) -> Table:
    """Return the table of the paper's nine variants, with their gains here and in the paper."""
    given, metric, entries = ablation.conditions, ablation.metric, ablation.entries()
    rows = mark_best(tuple(_row(row, entries, metric) for row in ABLATION))
    protocol = describe(given)
    return Table(
        title=f"Ablation on {ablation.subject}",
        protocol=protocol,
        columns=("variant", f"{metric} here", "Δ here", "Δ, paper", "mIoU, paper", "seeds", "parameters"),
        sections=(Section("measured here, next to the published figures", protocol, rows),),
        notes=(
            "Scores in per cent, Δ in percentage points against the baseline; over several seeds, mean ± sample "
            "standard deviation. Δ is paired by seed, over the seeds that both have.",
            f"Paper: published (paper, Table {ABLATION_NUMBER}), printed under {describe_printed(AREA_5)}. "
            f"Ours vs printed: {compare_with_printed(given, AREA_5)}.",
            *([] if metric == "mIoU" else ["The paper's figures are mIoU, ours OA: only their signs compare."]),
            _note_on_sizes(),
            *errata_of(ABLATION_NUMBER, COMPLEXITY_NUMBER),
        ),
    )


def _row(published: AblationRow, entries: dict[str, Entry], metric: str) -> Row:
    """Return the row of one variant: measured, or marked as not measured, and as printed."""
    printed = (Summary(published.delta), Summary(published.miou))
    there = (Cell(printed[0].words("+"), printed[0]), Cell(printed[1].words(), printed[1]))
    entry = entries.get(published.variant)
    if entry is None:
        missing, unknown = Cell(NOT_MEASURED), Cell(NOT_PRINTED)
        return Row(published.printed_name, (missing, missing, *there, unknown, unknown))
    seeds = len(entry.results)
    here = (score_cell(entry.summary(metric), seeds), _gain(entry, entries.get("baseline"), metric))
    facts = (Cell(str(seeds)), count_cell(entry.first.parameters))
    return Row(published.printed_name, (*here, *there, *facts), entry.runs)


def _gain(entry: Entry, baseline: Entry | None, metric: str) -> Cell:
    ours = entry.by_seed(metric)
    theirs = baseline.by_seed(metric) if baseline else {}
    if not ours or not theirs:
        return Cell(NOT_MEASURED)
    gain = Summary(0.0, None, len(ours)) if entry is baseline else difference(ours, theirs)
    return Cell(gain.words("+"), gain)


def _note_on_sizes() -> str:
    small, large = COMPLEXITY
    return (
        f"The paper's sizes (Table {COMPLEXITY_NUMBER}, M: 2^20): baseline {small.size:.2f}M, "
        f"Point2Node {large.size:.2f}M (+{large.size_change:.2f} %)."
    )


HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
FEWEST_SEEDS = 3


def judge_claims(ablation: Ablation) -> Table:
    """Return the table of claims, with their differences here (over the seeds all variants have) and in the paper."""
    entries, metric = ablation.entries(), ablation.metric
    protocol = describe(ablation.conditions)
    rows = tuple(_claim_row(claim, entries, metric) for claim in CLAIMS)
    return Table(
        title=f"The paper's claims on {ablation.subject}",
        protocol=protocol,
        columns=("claim", "here", f"Δ {metric} here", "seeds in favour", "Δ mIoU, paper"),
        sections=(Section("measured here, next to the published figures", protocol, rows),),
        notes=(
            "Δ in percentage points, paired by seed; over several seeds, mean ± sample standard deviation.",
            f"With {FEWEST_SEEDS} or more seeds, a claim holds if every seed is in favour, and fails if none is. "
            f"By chance alone, all of {FEWEST_SEEDS} seeds are in favour once in {2**FEWEST_SEEDS}.",
            f"Paper: from the mIoU of its Table {ABLATION_NUMBER}; it does not state the number of training runs.",
        ),
    )


def judge(in_favour: int, seeds: int) -> str:
    """Return whether a claim holds, fails or is undecided."""
    if seeds < FEWEST_SEEDS or 0 < in_favour < seeds:
        return UNDECIDED
    return HOLDS if in_favour else FAILS


def _claim_row(claim: Claim, entries: Mapping[str, Entry], metric: str) -> Row:
    printed = {row.variant: row.miou for row in ABLATION}
    there = Summary(sum(printed[name] for name in claim.more) - sum(printed[name] for name in claim.less))
    theirs = Cell(there.words("+"), there)
    differences = seed_differences(claim, {name: entry.by_seed(metric) for name, entry in entries.items()})
    summary = summarise(list(differences.values()))
    if summary is None:
        missing = Cell(NOT_MEASURED)
        return Row(claim.words, (missing, missing, Cell(NOT_PRINTED), theirs))
    in_favour = sum(difference > 0 for difference in differences.values())
    seeds = len(differences)
    here = (Cell(judge(in_favour, seeds)), Cell(summary.words("+"), summary), Cell(f"{in_favour} of {seeds}"))
    runs = (run for name in dict.fromkeys((*claim.more, *claim.less)) for run in entries[name].runs)
    return Row(claim.words, (*here, theirs), tuple(runs))


def seed_differences(claim: Claim, scores: Mapping[str, Mapping[int | None, float]]) -> dict[int | None, float]:
    """Return the difference that the claim says is positive, for each seed that all its variants have."""
    named = {*claim.more, *claim.less}
    if not named <= scores.keys():
        return {}
    shared = set.intersection(*(set(scores[name]) for name in named))
    return {
        seed: sum(scores[name][seed] for name in claim.more) - sum(scores[name][seed] for name in claim.less)
        for seed in sorted(shared, key=str)
    }
