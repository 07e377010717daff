"""A report to read: as Markdown, on the terminal, or as one self-contained HTML page."""

from __future__ import annotations

import re
from html import escape

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from point2node._version import __version__
from point2node.report.overview import Report
from point2node.report.tables import Cell, Section, Table


def to_markdown(report: Report) -> str:
    """Return the whole report as Markdown, with the best of each column in bold."""
    parts = ["# Results"]
    if report.lead:
        parts.append(_escape(report.lead))
    parts += [_markdown_table(table) for table in report.tables]
    if report.missing:
        parts.append("## Not evaluated")
        parts.append("\n".join(f"- {_escape(line)}" for line in report.missing))
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: Table) -> str:
    """Return one table; if there are several sections, a column names that of each row."""
    source = ("source",) if table.is_divided else ()
    lines = [
        _markdown_line(*(_escape(heading) for heading in (table.columns[0], *source, *table.columns[1:]))),
        _markdown_line("---", *("---" for _ in source), *("---:" for _ in table.columns[1:])),
    ]
    for section in table.sections:
        for row in section.rows:
            labels = (_escape(row.label), *(_escape(section.title) for _ in source))
            lines.append(_markdown_line(*labels, *(_markdown_cell(cell) for cell in row.cells)))
    notes = "\n".join(f"- {_escape(note)}" for note in table.notes)
    return "\n\n".join((f"## {_escape(table.title)}", _escape(table.protocol), "\n".join(lines), notes))


def _markdown_line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(cell: Cell) -> str:
    return f"**{_escape(cell.text)}**" if cell.best else _escape(cell.text)


def _escape(text: str) -> str:
    """Escape text so that it contains no markup, no new cell and no new line."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", " ".join(text.split()))


BORDER = 3  # characters that a column takes in addition to its content
LONGEST_LABEL = 28  # longer ones are wrapped


def print_report(report: Report, console: Console) -> None:
    """Print the whole report; names go through ``plain``, because the files may come from anyone."""
    if report.lead:
        console.print(Text(plain(report.lead)))
        console.print()
    for table in report.tables:
        _print_table(table, console)
    for line in report.missing:
        console.print(Text(plain(line)), soft_wrap=True)


def plain(text: str) -> str:
    """Return the text in one line, without control characters for the terminal."""
    return "".join(one if one.isprintable() else "�" for one in text)


def _print_table(table: Table, console: Console) -> None:
    console.print(Text(plain(table.title), style="bold"))
    console.print(Text(plain(table.protocol)))
    labels = (*(row.label for row in table.rows), *(section.title for section in table.sections if table.is_divided))
    label_width = min(LONGEST_LABEL, max(cell_len(plain(label)) for label in labels))
    widths = [_width(table, column) for column in range(len(table.columns) - 1)]
    for columns in fit(widths, console.width - label_width - 2 * BORDER):
        console.print(_draw_columns(table, label_width, columns, widths))
    for note in table.notes:
        console.print(Text(f"· {plain(note)}", style="dim"))
    console.print()


def _width(table: Table, column: int) -> int:
    """Return the width of the widest cell of a column, or of the longest word of its heading."""
    words = plain(table.columns[column + 1]).split()
    return max(cell_len(text) for text in (*words, *(plain(row.cells[column].text) for row in table.rows)))


def _draw_columns(table: Table, label_width: int, columns: list[int], widths: list[int]) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD)
    drawn.add_column(table.columns[0], width=label_width)
    for column in columns:
        heading = Text(plain(table.columns[column + 1]))
        drawn.add_column(heading, justify="right", width=widths[column], vertical="bottom")
    for section in table.sections:
        if table.is_divided:
            drawn.add_row(Text(plain(section.title), style="italic"))
        for row in section.rows:
            drawn.add_row(Text(plain(row.label)), *(_draw_cell(row.cells[column]) for column in columns))
        drawn.add_section()
    return drawn


def fit(widths: list[int], room: int) -> list[list[int]]:
    """Split the column indices into groups that each fit into ``room`` characters, with at least one column each."""
    groups: list[list[int]] = []
    left = 0
    for column, width in enumerate(widths):
        if not groups or width + BORDER > left:
            groups.append([])
            left = room
        groups[-1].append(column)
        left -= width + BORDER
    return groups


def _draw_cell(cell: Cell) -> Text:
    return Text(plain(cell.text), style="bold green" if cell.best else "" if cell.is_number else "dim")


STYLE = """
:root { color-scheme: light dark; --text: #1c2126; --quiet: #5d6873; --back: #fff; --band: #f1f4f7; --line: #d5dce2;
  --best: #0b6e3f; --best-back: #e2f4ea; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ec; --quiet: #9aa6b2; --back: #14181c; --band: #20262c;
  --line: #343d46; --best: #7fdcab; --best-back: #163526; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; margin: .5rem 0 1rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0; }
.protocol, .notes, footer { color: var(--quiet); font-size: .875rem; max-width: 60rem; }
.protocol { margin: .2rem 0 .8rem; }
.lead { border-left: .25rem solid var(--best); padding: .4rem .8rem; background: var(--band); max-width: 60rem; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; width: fit-content; max-width: 100%; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--line); }
thead th { border-top: 0; background: var(--band); vertical-align: bottom; }
tr > :first-child { text-align: left; position: sticky; left: 0; background: var(--back); white-space: normal;
  min-width: 7rem; max-width: 14rem; font-weight: 600; }
thead tr > :first-child { background: var(--band); }
.section th { background: var(--band); max-width: none; min-width: 0; color: var(--quiet); position: static; }
.section span { position: sticky; left: .7rem; display: inline-block; white-space: normal;
  max-width: min(60rem, calc(100vw - 4rem)); }
.best { background: var(--best-back); color: var(--best); font-weight: 700; }
.quiet { color: var(--quiet); }
.notes { padding-left: 1.2rem; }
footer { margin-top: 3rem; }
"""


def to_page(report: Report) -> str:
    """Return the whole report as HTML; every text is escaped, and the page may not load anything."""
    body = ["<h1>Results</h1>"]
    if report.lead:
        body.append(f'<p class="lead">{escape(report.lead)}</p>')
    body += [_html_table(table) for table in report.tables]
    if report.missing:
        body.append("<h2>Not evaluated</h2>")
        body.append(_html_list(report.missing))
    body.append(f"<footer>Made by point2node {escape(__version__)}.</footer>")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>Point2Node results</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _html_table(table: Table) -> str:
    headings = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in table.columns)
    sections = "\n".join(_html_section(section, table) for section in table.sections)
    return (
        f'<section>\n<h2>{escape(table.title)}</h2>\n<p class="protocol">{escape(table.protocol)}</p>\n'
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{headings}</tr></thead>\n{sections}\n</table></div>\n'
        f"{_html_list(table.notes)}\n</section>"
    )


def _html_section(section: Section, table: Table) -> str:
    """Return the rows of a section, under a line with its title if there are several sections."""
    lines = []
    if table.is_divided:
        lines.append(
            f'<tr class="section"><th colspan="{len(table.columns)}" scope="rowgroup">'
            f"<span>{escape(section.title)}</span></th></tr>"
        )
    for row in section.rows:
        cells = "".join(_html_cell(cell) for cell in row.cells)
        lines.append(f'<tr><th scope="row" title="{escape(", ".join(row.runs))}">{escape(row.label)}</th>{cells}</tr>')
    return "<tbody>\n" + "\n".join(lines) + "\n</tbody>"


def _html_cell(cell: Cell) -> str:
    kind = ' class="best"' if cell.best else "" if cell.is_number else ' class="quiet"'
    return f"<td{kind}>{escape(cell.text)}</td>"


def _html_list(lines: tuple[str, ...]) -> str:
    return '<ul class="notes">' + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
