"""Tables of results, independent of how they are shown: mean ± standard deviation, with the best marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

NOT_MEASURED = "not measured"
NOT_PRINTED = "–"
NO_SCORE = "n/a"


@dataclass(frozen=True)
class Cell:
    """The text of a cell, the number behind it if there is one, and whether it is the best of its column."""

    text: str
    summary: Summary | None = None
    best: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is a number; words such as "not measured" are shown less prominently."""
        return self.text not in (NOT_MEASURED, NOT_PRINTED, NO_SCORE)


@dataclass(frozen=True)
class Row:
    """One method."""

    label: str
    cells: tuple[Cell, ...]
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """Rows of the same origin; the best of a column is marked within each section."""

    title: str
    protocol: str
    rows: tuple[Row, ...]
    difference: str = ""
    """How the protocol of published rows differs from the one used here."""


@dataclass(frozen=True)
class Table:
    """A title with its protocol, headings, sections of rows, and notes for the reader."""

    title: str
    protocol: str
    columns: tuple[str, ...]
    """The headings; the first is that of the rows' labels."""
    sections: tuple[Section, ...]
    notes: tuple[str, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of every section."""
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def is_divided(self) -> bool:
        """Whether there are several sections, whose titles have to be shown."""
        return len(self.sections) > 1

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON values; scores are percentages."""
        return {
            "title": self.title,
            "protocol": self.protocol,
            "columns": list(self.columns),
            "sections": [_section_dict(section, self.columns[1:]) for section in self.sections],
            "notes": list(self.notes),
        }


def mark_best(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the rows with the best number of each column marked."""
    best = [
        best_indices([None if cell.summary is None else cell.summary.mean for cell in column])
        for column in zip(*(row.cells for row in rows), strict=True)
    ]
    return tuple(
        replace(row, cells=tuple(replace(cell, best=number in best[column]) for column, cell in enumerate(row.cells)))
        for number, row in enumerate(rows)
    )


def _section_dict(section: Section, headings: tuple[str, ...]) -> dict[str, Any]:
    rows = [
        {
            "label": row.label,
            "runs": list(row.runs),
            "cells": {heading: _cell_dict(cell) for heading, cell in zip(headings, row.cells, strict=True)},
        }
        for row in section.rows
    ]
    return {
        "title": section.title,
        "protocol": section.protocol,
        "difference": section.difference,
        "rows": rows,
    }


def _cell_dict(cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {"text": cell.text}
    if cell.summary is not None:
        found |= {"mean": cell.summary.mean, "sd": cell.summary.deviation, "n": cell.summary.count, "best": cell.best}
    return found


DECIMALS = 2


@dataclass(frozen=True)
class Summary:
    """The mean of ``count`` measurements and their sample standard deviation (n − 1); None: not known."""

    mean: float
    deviation: float | None = None
    count: int | None = None

    def words(self, sign: str = "") -> str:
        """Return ``62.96 ± 0.40``; with sign "+", positive numbers get a plus sign."""
        mean = f"{self.mean:{sign}.{DECIMALS}f}".replace("-", "−")
        return mean if self.deviation is None else f"{mean} ± {self.deviation:.{DECIMALS}f}"


def summarise(values: Sequence[float | None]) -> Summary | None:
    """Return mean and deviation, leaving out None and NaN; None if nothing was measured."""
    measured = [value for value in values if value is not None and not math.isnan(value)]
    if not measured:
        return None
    return Summary(fmean(measured), stdev(measured) if len(measured) > 1 else None, len(measured))


def difference(of: Mapping[int | None, float], against: Mapping[int | None, float]) -> Summary:
    """Return the paired difference over the seeds that both have; without common seeds, that of the two means."""
    pairs = summarise([of[seed] - against[seed] for seed in of if seed in against and seed is not None])
    if pairs is not None:
        return pairs
    return Summary(fmean(of.values()) - fmean(against.values()), None, min(len(of), len(against)))


def best_indices(values: Sequence[float | None]) -> frozenset[int]:
    """Return the indices of the largest value, to the decimals shown; none if fewer than two can be compared."""
    shown = {
        index: round(value, DECIMALS)
        for index, value in enumerate(values)
        if value is not None and not math.isnan(value)
    }
    if len(shown) < 2:
        return frozenset()
    largest = max(shown.values())
    return frozenset(index for index, value in shown.items() if value == largest)
