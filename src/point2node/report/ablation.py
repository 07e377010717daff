"""The ablation: the paper's nine variants, what they gain here and what they gain there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from point2node.report.comparison import count_cell, score_cell
from point2node.report.merging import Entry, recipe_of, tell_apart
from point2node.report.paper_numbers import ABLATION, ABLATION_NUMBER, AREA_5, COMPLEXITY, COMPLEXITY_NUMBER
from point2node.report.paper_slips import slips_of
from point2node.report.protocols import Conditions, conditions, describe, describe_printed, tell_against_printed
from point2node.report.published import AblationRow
from point2node.report.results import Result
from point2node.report.summaries import Summary, difference
from point2node.report.tables import NOT_MEASURED, NOT_PRINTED, Cell, Row, Section, Table, mark_best


@dataclass(frozen=True)
class Ablation:
    """Two variants or more that were trained by one recipe and scored under the same protocol."""

    results: tuple[Result, ...]
    apart: tuple[str, ...]
    """What sets the recipe apart from those of the other ablations, in words."""

    @property
    def conditions(self) -> Conditions:
        """How the scores came about."""
        return conditions(self.results[0].evaluation)

    @property
    def metric(self) -> str:
        """The score that is compared."""
        return "mIoU" if self.conditions["task"] == "segmentation" else "OA"

    @property
    def subject(self) -> str:
        """What it was done on."""
        return ", ".join((self.conditions["dataset"], self.conditions["split"], *self.apart))

    def entries(self) -> dict[str, Entry]:
        """Each variant's results over the seeds."""
        variants = dict.fromkeys(result.variant for result in self.results)
        return {name: Entry(name, tuple(one for one in self.results if one.variant == name)) for name in variants}


def find_ablations(results: Sequence[Result]) -> list[Ablation]:
    """An ablation for each recipe with two variants or more, from results had under the same protocol."""
    names = {row.variant for row in ABLATION}
    recipes: dict[str, list[Result]] = {}
    for result in results:
        if result.is_point2node and result.variant in names:
            recipes.setdefault(json.dumps(recipe_of(result), sort_keys=True), []).append(result)
    ablated = [chosen for chosen in recipes.values() if len({result.variant for result in chosen}) > 1]
    others = [recipe_of(chosen[0]) for chosen in ablated]
    return [
        Ablation(tuple(chosen), tuple(tell_apart(recipe, others)))
        for chosen, recipe in zip(ablated, others, strict=True)
    ]


def tabulate_variants(ablation: Ablation) -> Table:
    """The paper's nine rows: what each gains here and what it gains there."""
    given, metric, entries = ablation.conditions, ablation.metric, ablation.entries()
    rows = mark_best(tuple(_row(row, entries, metric) for row in ABLATION))
    protocol = describe(given)
    return Table(
        title=f"Ablation on {ablation.subject}",
        protocol=protocol,
        columns=("variant", f"{metric} here", "Δ here", "Δ, paper", "mIoU, paper", "seeds", "parameters"),
        sections=(Section("measured here, published beside", protocol, rows),),
        notes=(
            "Scores in per cent, Δ in percentage points against the baseline; over several seeds, mean ± sample "
            "standard deviation, and Δ likewise, pair by pair, over the seeds that both have.",
            f"Paper: published (paper, Table {ABLATION_NUMBER}), printed under {describe_printed(AREA_5)}. "
            f"Ours vs printed: {tell_against_printed(given, AREA_5)}.",
            *([] if metric == "mIoU" else ["The paper's figures are mIoU, ours OA: only their signs compare."]),
            _told_sizes(),
            *slips_of(ABLATION_NUMBER, COMPLEXITY_NUMBER),
        ),
    )


def _row(published: AblationRow, entries: dict[str, Entry], metric: str) -> Row:
    """One variant: measured, or said not to be, and as printed."""
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


def _told_sizes() -> str:
    small, large = COMPLEXITY
    return (
        f"The paper's sizes (Table {COMPLEXITY_NUMBER}, M: 2^20): baseline {small.size:.2f}M, "
        f"Point2Node {large.size:.2f}M (+{large.size_change:.2f} %)."
    )
