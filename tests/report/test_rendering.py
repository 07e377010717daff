"""The same report on the terminal, in Markdown and on a page; names are never obeyed."""

import io
import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from point2node.report.overview import Report, make_report
from point2node.report.rendering import BORDER, fit, print_report, to_markdown, to_page
from tests.report.runs import write_evaluation, write_run

EVIL = "<script>alert(1)</script> | **x** \x1b[31m\n# y"


def on_terminal(report, width=100):
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=width, force_terminal=False))
    return stream.getvalue()


@pytest.fixture
def small(tmp_path):
    write_run(tmp_path / "a", 0.60)
    write_run(tmp_path / "b", 0.64, variant="baseline")
    write_run(tmp_path / "c")
    return make_report([str(tmp_path)])


@pytest.mark.parametrize("render", [on_terminal, to_markdown, to_page])
def test_every_cell_note_and_missing_run_is_shown(small, render):
    shown = " ".join(unescape(re.sub(r"[\\*]|<[^>]+>|· ", "", render(small))).split())
    for table in small.tables:
        assert table.title in shown
        for row in table.rows:
            assert all(cell.text in shown for cell in row.cells)
            assert row.label in shown
        assert all(note[:40] in shown for note in table.notes)
    assert "c: not evaluated; run" in shown


@pytest.mark.parametrize("render", [on_terminal, to_markdown, to_page])
def test_a_hostile_name_stays_a_name(tmp_path, render):
    report = make_report([str(write_evaluation(tmp_path / "x.json", model=EVIL, variant=None, iou={EVIL: 0.5}))])
    shown = render(report)
    if render is to_page:
        assert "<script" not in shown
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    else:
        assert "\x1b" not in shown or render is to_markdown
        assert "\n# y" not in shown
    if render is to_markdown:
        rows = [line for line in shown.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


class Balance(HTMLParser):
    """Opened and closed tags, and everything that would be loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.loaded = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(small):
    page = to_page(small)
    balance = Balance()
    balance.feed(page)
    assert (balance.open, balance.loaded) == ([], [])
    assert not re.search(r"url\(|@import|http", page.replace("http-equiv", ""))
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_json_has_numbers_with_their_count(small):
    content = json.loads(json.dumps(small.as_dict()))
    row = content["tables"][0]["sections"][0]["rows"][1]
    assert row["cells"]["OA"] == {"text": "90.00", "mean": 90.0, "sd": None, "n": 1, "best": True}
    assert row["runs"] == ["point2node_0"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_of_a_table_is_wider_than_the_terminal(small, width):
    assert all(len(line) <= width for line in on_terminal(Report("", small.tables, ()), width).splitlines())


@given(st.lists(st.integers(1, 30)), st.integers(1, 100))
def test_columns_are_dealt_out_once_and_in_order_and_fit_where_they_can(widths, room):
    lots = fit(widths, room)
    assert [place for lot in lots for place in lot] == list(range(len(widths)))
    assert all(len(lot) == 1 or sum(widths[place] + BORDER for place in lot) <= room for lot in lots)
