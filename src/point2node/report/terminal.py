"""A report on the terminal; tables wider than it are continued below with their labels repeated."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from point2node.report.overview import Report
from point2node.report.tables import Cell, Table

BORDER = 3  # characters that a column takes beside its content
LONGEST_LABEL = 28  # longer ones are wrapped


def print_report(report: Report, console: Console) -> None:
    """Print everything; names go through ``plain``, since anyone may have written them."""
    if report.lead:
        console.print(Text(plain(report.lead)))
        console.print()
    for table in report.tables:
        _print_table(table, console)
    for line in report.missing:
        console.print(Text(plain(line)), soft_wrap=True)


def plain(text: str) -> str:
    """The text in one line, without what a terminal would obey."""
    return "".join(one if one.isprintable() else "�" for one in text)


def _print_table(table: Table, console: Console) -> None:
    console.print(Text(plain(table.title), style="bold"))
    console.print(Text(plain(table.protocol)))
    labels = (*(row.label for row in table.rows), *(section.title for section in table.sections if table.is_divided))
    label_width = min(LONGEST_LABEL, max(cell_len(plain(label)) for label in labels))
    widths = [_width(table, place) for place in range(len(table.columns) - 1)]
    for places in fit(widths, console.width - label_width - 2 * BORDER):
        console.print(_draw_columns(table, label_width, places, widths))
    for note in table.notes:
        console.print(Text(f"· {plain(note)}", style="dim"))
    console.print()


def _width(table: Table, place: int) -> int:
    """The widest cell of a column, or the longest word of its heading."""
    words = plain(table.columns[place + 1]).split()
    return max(cell_len(text) for text in (*words, *(plain(row.cells[place].text) for row in table.rows)))


def _draw_columns(table: Table, label_width: int, places: list[int], widths: list[int]) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD)
    drawn.add_column(table.columns[0], width=label_width)
    for place in places:
        heading = Text(plain(table.columns[place + 1]))
        drawn.add_column(heading, justify="right", width=widths[place], vertical="bottom")
    for section in table.sections:
        if table.is_divided:
            drawn.add_row(Text(plain(section.title), style="italic"))
        for row in section.rows:
            drawn.add_row(Text(plain(row.label)), *(_draw_cell(row.cells[place]) for place in places))
        drawn.add_section()
    return drawn


def fit(widths: list[int], room: int) -> list[list[int]]:
    """The numbers of the columns in as many lots as the room asks for, at least one column to a lot."""
    lots: list[list[int]] = []
    left = 0
    for place, width in enumerate(widths):
        if not lots or width + BORDER > left:
            lots.append([])
            left = room
        lots[-1].append(place)
        left -= width + BORDER
    return lots


def _draw_cell(cell: Cell) -> Text:
    return Text(plain(cell.text), style="bold green" if cell.best else "" if cell.is_number else "dim")
