"""A report in Markdown."""

from __future__ import annotations

import re

from point2node.report.overview import Report
from point2node.report.tables import Cell, Table


def to_markdown(report: Report) -> str:
    """The whole report; the best of each column is bold."""
    parts = ["# Results"]
    if report.lead:
        parts.append(_escape(report.lead))
    parts += [_table(table) for table in report.tables]
    if report.missing:
        parts.append("## Not evaluated")
        parts.append("\n".join(f"- {_escape(line)}" for line in report.missing))
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    """Rows say where they are from, if there are several sections."""
    source = ("source",) if table.is_divided else ()
    lines = [
        _line(*(_escape(heading) for heading in (table.columns[0], *source, *table.columns[1:]))),
        _line("---", *("---" for _ in source), *("---:" for _ in table.columns[1:])),
    ]
    for section in table.sections:
        for row in section.rows:
            told = (_escape(row.label), *(_escape(section.title) for _ in source))
            lines.append(_line(*told, *(_cell(cell) for cell in row.cells)))
    notes = "\n".join(f"- {_escape(note)}" for note in table.notes)
    return "\n\n".join((f"## {_escape(table.title)}", _escape(table.protocol), "\n".join(lines), notes))


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell) -> str:
    return f"**{_escape(cell.text)}**" if cell.best else _escape(cell.text)


def _escape(text: str) -> str:
    """Text that means itself: no markup, no new cell, no new line."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", " ".join(text.split()))
