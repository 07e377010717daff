"""The table of labelled scans: what it keeps, and that it is always whole."""

import csv
import io
import json

import pytest

from point2node.data.label_sidecar import sidecar_path
from point2node.inference.scans import Shard
from point2node.inference.summary import Row, Summary, encode_csv


def labelled(folder, name, points=5):
    """A row, with the files that it is about."""
    output = folder / f"{name}_labelled.ply"
    output.write_text("points")
    sidecar_path(output).write_text(json.dumps({"points": points, "counts": {"wall": points}}))
    return Row(f"{name}.ply", output.name, points, 1.5, {"wall": points}, ("no colour",))


def rows_of(path):
    return json.loads(path.read_text())["rows"]


def test_both_files_have_a_row_for_each_scan_and_the_totals(tmp_path):
    summary = Summary(tmp_path)
    summary.add(labelled(tmp_path, "b"))
    summary.add(Row("a.ply", error="a.ply: expected points, found none."))
    summary.write()
    table = json.loads((tmp_path / "summary.json").read_text())
    assert (table["scans"], table["failed"], table["points"], table["seconds"]) == (2, 1, 5, 1.5)
    assert [row["scan"] for row in table["rows"]] == ["a.ply", "b.ply"]
    header, first, second = csv.reader(io.StringIO((tmp_path / "summary.csv").read_text()))
    assert header == ["scan", "output", "points", "seconds", "doubts", "error", "wall"]
    assert first == ["a.ply", "", "", "", "", "a.ply: expected points, found none.", ""]
    assert second == ["b.ply", "b_labelled.ply", "5", "1.5", "no colour", "", "5"]


def test_a_later_run_keeps_rows_of_results_that_are_there_and_replaces_its_own(tmp_path):
    first = Summary(tmp_path)
    for row in (labelled(tmp_path, "a"), labelled(tmp_path, "b"), labelled(tmp_path, "gone"), Row("c.ply", error="x")):
        first.add(row)
    first.write()
    (tmp_path / "gone_labelled.ply").unlink()
    later = Summary(tmp_path)
    later.add(labelled(tmp_path, "b", points=7))
    later.add(labelled(tmp_path, "c"))
    assert [(row.scan, row.points, row.error) for row in later.rows] == [
        ("a.ply", 5, None),
        ("b.ply", 7, None),
        ("c.ply", 5, None),
    ]


def test_a_scan_labelled_before_has_its_earlier_row_or_what_its_sidecar_says(tmp_path):
    first = Summary(tmp_path)
    row = labelled(tmp_path, "a")
    first.add(row)
    first.write()
    labelled(tmp_path, "b", points=3)
    later = Summary(tmp_path)
    assert later.recall("a.ply", tmp_path / "a_labelled.ply") == row
    assert later.recall("b.ply", tmp_path / "b_labelled.ply") == Row("b.ply", "b_labelled.ply", 3, None, {"wall": 3})
    sidecar_path(tmp_path / "b_labelled.ply").write_text('{"points": "many", "counts": 3}')
    assert later.recall("b.ply", tmp_path / "b_labelled.ply") == Row("b.ply", "b_labelled.ply")


def test_shards_write_tables_of_their_own_which_the_table_of_all_takes_over(tmp_path):
    rows = [labelled(tmp_path, name) for name in "ab"]
    for number, row in enumerate(rows, start=1):
        shard = Summary(tmp_path, Shard(number, 2))
        shard.add(row)
        shard.write()
    assert rows_of(tmp_path / "summary_1_of_2.json")[0]["scan"] == "a.ply"
    assert not (tmp_path / "summary.json").exists()
    assert Summary(tmp_path).rows == rows


@pytest.mark.parametrize("content", ["", "{", "[]", '{"rows": 3}', '{"rows": [{"scan": 3}]}', "[" * 100_000])
def test_a_damaged_table_is_made_anew(tmp_path, content):
    (tmp_path / "summary.json").write_text(content)
    summary = Summary(tmp_path)
    summary.add(labelled(tmp_path, "a"))
    summary.write()
    assert len(rows_of(tmp_path / "summary.json")) == 1


def test_names_that_spreadsheets_would_execute_are_text():
    _, row = csv.reader(io.StringIO(encode_csv([Row("=HYPERLINK(x).ply", error="+1")]).decode()))
    assert row[0] == "'=HYPERLINK(x).ply"
    assert row[5] == "'+1"
