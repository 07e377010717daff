"""A table of results before anything is known of how it will be shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from point2node.report.summaries import Summary, best_places

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
