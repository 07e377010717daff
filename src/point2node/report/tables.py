"""A table of results before anything is known of how it will be shown: mean ± standard deviation, the best marked."""

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
    """What is shown, the number behind it if there is one, and whether it is the best of its column."""

    text: str
    summary: Summary | None = None
    best: bool = False

    @property
    def is_number(self) -> bool:
        """Words such as "not measured" are shown more quietly than numbers."""
        return self.text not in (NOT_MEASURED, NOT_PRINTED, NO_SCORE)


@dataclass(frozen=True)
class Row:
    """One method."""

    label: str
    cells: tuple[Cell, ...]
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """Rows that came about in the same way; the best of a column is that of its section."""

    title: str
    protocol: str
    rows: tuple[Row, ...]
    difference: str = ""
    """What sets published rows apart from those measured here."""


@dataclass(frozen=True)
class Table:
    """A title with its protocol, headings, sections of rows, and what has to be known to read them."""

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
        """Whether sections need their titles to be told apart."""
        return len(self.sections) > 1

    def as_dict(self) -> dict[str, Any]:
        """The table as JSON has it; scores are percentages."""
        return {
            "title": self.title,
            "protocol": self.protocol,
            "columns": list(self.columns),
            "sections": [_section_dict(section, self.columns[1:]) for section in self.sections],
            "notes": list(self.notes),
        }


def mark_best(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The same rows, with the best number of each column marked."""
    best = [
        best_places([None if cell.summary is None else cell.summary.mean for cell in column])
        for column in zip(*(row.cells for row in rows), strict=True)
    ]
    return tuple(
        replace(row, cells=tuple(replace(cell, best=number in best[place]) for place, cell in enumerate(row.cells)))
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
        """``62.96 ± 0.40``; with sign "+", as a difference."""
        mean = f"{self.mean:{sign}.{DECIMALS}f}".replace("-", "−")
        return mean if self.deviation is None else f"{mean} ± {self.deviation:.{DECIMALS}f}"


def summarise(values: Sequence[float | None]) -> Summary | None:
    """Mean and deviation of what was measured; None and NaN are left out, and nothing measured gives None."""
    measured = [value for value in values if value is not None and not math.isnan(value)]
    if not measured:
        return None
    return Summary(fmean(measured), stdev(measured) if len(measured) > 1 else None, len(measured))


def difference(of: Mapping[int | None, float], against: Mapping[int | None, float]) -> Summary:
    """The mean over the seeds that both have, pair by pair, with its deviation; without such, that of the two means."""
    pairs = summarise([of[seed] - against[seed] for seed in of if seed in against and seed is not None])
    if pairs is not None:
        return pairs
    return Summary(fmean(of.values()) - fmean(against.values()), None, min(len(of), len(against)))


def best_places(values: Sequence[float | None]) -> frozenset[int]:
    """Where the largest value stands, to the decimals shown; nowhere if fewer than two can be compared."""
    shown = {
        place: round(value, DECIMALS)
        for place, value in enumerate(values)
        if value is not None and not math.isnan(value)
    }
    if len(shown) < 2:
        return frozenset()
    largest = max(shown.values())
    return frozenset(place for place, value in shown.items() if value == largest)
