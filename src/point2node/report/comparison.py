"""The table of methods: one row for each network over its seeds, and the rows of the paper's table if one fits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from point2node.report.paper_numbers import (
    ABLATION,
    COMPLEXITY,
    COMPLEXITY_NUMBER,
    PUBLISHED,
    PrintedProtocol,
    PublishedScore,
    PublishedTable,
    errata_of,
)
from point2node.report.protocols import Conditions, compare_with_printed, conditions, describe, describe_printed
from point2node.report.results import FACTS, OVERALL, Result
from point2node.report.tables import (
    NO_SCORE,
    NOT_MEASURED,
    NOT_PRINTED,
    Cell,
    Row,
    Section,
    Summary,
    Table,
    mark_best,
    summarise,
)

Recipe = Mapping[str, Any]
PRINTED_NAMES = {row.variant: row.printed_name for row in ABLATION}


@dataclass(frozen=True)
class Entry:
    """The results of one network trained with one recipe, over seeds."""

    label: str
    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """The first result; the others differ only in the seed."""
        return self.results[0]

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(result.name for result in self.results)

    def summary(self, heading: str) -> Summary | None:
        """Return a score over the seeds; None if it was not measured."""
        return summarise([result.scores().get(heading) for result in self.results])

    def by_seed(self, heading: str) -> dict[int | None, float]:
        """Return a score for each seed; for a seed that was run several times, the mean."""
        scores: dict[int | None, list[float | None]] = {}
        for result in self.results:
            scores.setdefault(result.evaluation.seed, []).append(result.scores().get(heading))
        means = {seed: summarise(found) for seed, found in scores.items()}
        return {seed: mean.mean for seed, mean in means.items() if mean is not None}

    def steps(self) -> str:
        """Return the number of training steps, in words."""
        runs = [result.run for result in self.results if result.run is not None]
        known = sorted({run.steps for run in runs if run.steps is not None})
        words = [f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"] if known else []
        if any(run.steps is None for run in runs):
            words.append("not finished")
        return ", ".join(words) or "–"

    def repeated_seeds(self) -> tuple[int, ...]:
        """Return the seeds that more than one result has."""
        counts = Counter(result.evaluation.seed for result in self.results)
        return tuple(seed for seed, count in counts.items() if seed is not None and count > 1)


def merge_seeds(results: Sequence[Result]) -> list[Entry]:
    """Return one entry for each network and recipe, in order of appearance."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        identity = (name_network(result), result.parameters, recipe_of(result))
        groups.setdefault(json.dumps(identity, sort_keys=True), []).append(result)
    recipes = [recipe_of(result) for result in results]
    return [
        Entry(", ".join((name_network(group[0]), *distinguish_recipe(recipe_of(group[0]), recipes))), tuple(group))
        for group in groups.values()
    ]


def name_network(result: Result) -> str:
    """Return the paper's name for Point2Node and its variants, and the own name of other networks."""
    file = result.evaluation
    if result.is_point2node:
        return PRINTED_NAMES.get(result.variant, result.variant)
    return file.model if file.variant in (None, file.model) else f"{file.model} {file.variant}"


def distinguish_recipe(own: Recipe, others: Sequence[Recipe]) -> list[str]:
    """Describe how a recipe differs from others: its preset, and each setting that differs for the same preset.

    A lone evaluation file has no settings and an older run may lack some: a missing setting is not a difference.
    """
    words = [f"preset {own['preset']}"] if any(other["preset"] != own["preset"] for other in others) else []
    alike = [other for other in others if other["preset"] == own["preset"]]
    for key, value in own.items():
        if any(other.get(key, value) != value for other in alike):
            words.append(f"{key} {value}")
    if any(set(other) - set(own) for other in alike):
        words.append("settings not all known")
    return words


def recipe_of(result: Result) -> Recipe:
    """Return the recipe of a result: how it was trained, without the seed and the network."""
    settings = {} if result.run is None else result.run.settings
    chosen = {key: value for key, value in settings.items() if key not in ("model", "variant")}
    return {"preset": result.evaluation.preset, "weights": result.evaluation.weights, **chosen}


def compare(results: Sequence[Result]) -> Table:
    """Return the table of results measured with the same protocol."""
    given = conditions(results[0].evaluation)
    entries = sorted(merge_seeds(results), key=_paper_order)
    scores = tuple(dict.fromkeys(heading for result in results for heading in result.scores()))
    headings = (*(one for one in scores if one in OVERALL), *FACTS, *(one for one in scores if one not in OVERALL))
    published = find_published(given)
    rows = [_measured_row(entry, headings) for entry in entries]
    if published and not any(entry.first.is_point2node and entry.first.variant == "point2node" for entry in entries):
        rows.append(_row("Point2Node", headings, dict.fromkeys(scores, Cell(NOT_MEASURED))))
    protocol = describe(given)
    sections = [Section("measured here", protocol, mark_best(tuple(rows)))]
    if published:
        sections += _published_sections(published, headings, given)
    return Table(
        title=f"{str(given['task']).capitalize()} on {given['dataset']}, {given['split']}",
        protocol=protocol,
        columns=("method", *headings),
        sections=tuple(sections),
        notes=(*_notes(entries, rows), *(_published_notes(published, sections) if published else ())),
    )


def find_published(given: Conditions) -> PublishedTable | None:
    """Return the paper's table for this data; None if it has none."""
    dataset, split, classes = given["dataset"], given["split"], len(given["classes"])
    return next((table for table in PUBLISHED if table.fits(dataset, split, classes)), None)


def score_cell(summary: Summary | None, seeds: int) -> Cell:
    """Return the cell of a score over seeds; if some seeds lack it, with the number that have it."""
    if summary is None:
        return Cell(NO_SCORE)
    fewer = f" (n = {summary.count})" if summary.count != seeds else ""
    return Cell(summary.words() + fewer, summary)


def count_cell(count: int | None) -> Cell:
    """Return the cell of a count; a dash if it is not known."""
    return Cell(NOT_PRINTED if count is None else f"{count:,}")


def _paper_order(entry: Entry) -> int:
    """Return a sort key: other networks first, then the variants in the paper's order, Point2Node last."""
    variants = [row.variant for row in ABLATION]
    known = entry.first.is_point2node and entry.first.variant in variants
    return variants.index(entry.first.variant) if known else -1


def _row(label: str, headings: Sequence[str], cells: Mapping[str, Cell], runs: tuple[str, ...] = ()) -> Row:
    """Return a row with its cells in the order of the headings, and a dash where there is no cell."""
    return Row(label, tuple(cells.get(heading, Cell(NOT_PRINTED)) for heading in headings), runs)


def _measured_row(entry: Entry, headings: Sequence[str]) -> Row:
    seeds = len(entry.results)
    cells = {one: score_cell(entry.summary(one), seeds) for one in headings if one not in FACTS}
    facts = (Cell(str(seeds)), Cell(entry.steps()), count_cell(entry.first.parameters))
    return _row(entry.label, headings, cells | dict(zip(FACTS, facts, strict=True)), entry.runs)


def _published_sections(table: PublishedTable, headings: Sequence[str], given: Conditions) -> list[Section]:
    """Return the table's rows in one section for each protocol."""
    groups: dict[PrintedProtocol, list[Row]] = {}
    for row in table.rows:
        cells = {heading: _published_cell(row.score(heading), table.decimals) for heading in headings}
        size = {"parameters": _published_size(row)}
        groups.setdefault(row.protocol, []).append(_row(row.method, headings, cells | size))
    sections = []
    for printed, rows in groups.items():
        kind = "" if printed.input is None else f"; {printed.input}, {printed.points}"
        title = f"published (paper, Table {table.number}{kind})"
        protocol = describe_printed(printed)
        sections.append(Section(title, protocol, mark_best(tuple(rows)), compare_with_printed(given, printed)))
    return sections


def _published_cell(value: float | None, decimals: int) -> Cell:
    return Cell(NOT_PRINTED) if value is None else Cell(f"{value:.{decimals}f}", Summary(value))


def _published_size(row: PublishedScore) -> Cell:
    """Return the size that the paper prints for its own model, the one for S3DIS."""
    sizes = {one.variant: one.size for one in COMPLEXITY}
    if row.protocol.dataset == "s3dis" and row.method == "Point2Node":
        return Cell(f"{sizes['point2node']:.2f}M")
    return Cell(NOT_PRINTED)


def _notes(entries: Sequence[Entry], rows: Sequence[Row]) -> list[str]:
    notes = ["Scores in per cent; the best of each column is computed, section by section."]
    weights = {entry.first.evaluation.weights for entry in entries}
    if weights != {None}:
        notes.append(f"Weights scored: {' and '.join(sorted(one or 'not known' for one in weights))}.")
    if any(len(entry.results) > 1 for entry in entries):
        notes.append("Runs that differ only in their seed are one row: mean ± sample standard deviation.")
    if any(cell.text == NO_SCORE for row in rows for cell in row.cells):
        notes.append(f"{NO_SCORE}: the class does not occur in the scored data; it is left out of the means.")
    for entry in entries:
        twice = ", ".join(str(seed) for seed in entry.repeated_seeds())
        if twice:
            notes.append(f"{entry.label}: several runs have seed {twice}: {', '.join(entry.runs)}.")
    return notes


def _published_notes(table: PublishedTable, sections: Sequence[Section]) -> list[str]:
    notes = [
        f"{section.title}: printed under {section.protocol}. Ours vs printed: {section.difference}."
        for section in sections[1:]
    ]
    notes.append("The paper does not state the protocols of the other methods' numbers.")
    notes.append(f"{NOT_PRINTED}: not printed, or not known.")
    if table.rows[0].protocol.dataset == "s3dis":
        notes.append(f"The paper's M are 2^20 parameters (Table {COMPLEXITY_NUMBER}).")
    return [*notes, *errata_of(table.number)]
