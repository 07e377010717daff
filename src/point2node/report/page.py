"""A report as one page that needs nothing else: no network, no script; light or dark as the reader's system is."""

from __future__ import annotations

from html import escape

from point2node._version import __version__
from point2node.report.overview import Report
from point2node.report.tables import Cell, Section, Table

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
    """The whole report as HTML; every text is escaped, and the page may load nothing."""
    body = ["<h1>Results</h1>"]
    if report.lead:
        body.append(f'<p class="lead">{escape(report.lead)}</p>')
    body += [_table(table) for table in report.tables]
    if report.missing:
        body.append("<h2>Not evaluated</h2>")
        body.append(_list(report.missing))
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


def _table(table: Table) -> str:
    headings = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in table.columns)
    sections = "\n".join(_section(section, table) for section in table.sections)
    return (
        f'<section>\n<h2>{escape(table.title)}</h2>\n<p class="protocol">{escape(table.protocol)}</p>\n'
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{headings}</tr></thead>\n{sections}\n</table></div>\n'
        f"{_list(table.notes)}\n</section>"
    )


def _section(section: Section, table: Table) -> str:
    """Rows under a line that says where they are from, if there are several such sections."""
    lines = []
    if table.is_divided:
        lines.append(
            f'<tr class="section"><th colspan="{len(table.columns)}" scope="rowgroup">'
            f"<span>{escape(section.title)}</span></th></tr>"
        )
    for row in section.rows:
        cells = "".join(_cell(cell) for cell in row.cells)
        lines.append(f'<tr><th scope="row" title="{escape(", ".join(row.runs))}">{escape(row.label)}</th>{cells}</tr>')
    return "<tbody>\n" + "\n".join(lines) + "\n</tbody>"


def _cell(cell: Cell) -> str:
    kind = ' class="best"' if cell.best else "" if cell.is_number else ' class="quiet"'
    return f"<td{kind}>{escape(cell.text)}</td>"


def _list(lines: tuple[str, ...]) -> str:
    return '<ul class="notes">' + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
