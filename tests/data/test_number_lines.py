import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.data.number_lines import (
    XYZ_NORMAL,
    XYZ_RGB,
    describe_damage,
    parse_lines,
    repair_file,
    repair_line,
    repaired_copy,
    show_bytes,
)
from tests.data.layouts import KNOWN_DAMAGE, number_lines


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_kind_of_line_end_gives_the_same_numbers(end):
    lines = number_lines(5)
    rows, damaged = parse_lines(end.join([*lines, b""]), XYZ_RGB)
    assert not damaged
    np.testing.assert_array_equal(rows, [[float(value) for value in line.split()] for line in lines])


@pytest.mark.parametrize(
    "line",
    [
        b"1 2 3 4 5",
        b"1 2 3 4 5 6 7",
        b"1 2 3 185\x00187 5",
        b"1 2 3 4 5 nan",
        b"1e999 2 3 4 5 6",
        b"1 2 3 4 5 256",
        b"1 2 3 4 5 6.5",
        b"1 2 3 -4 5 6",
        b"1..0 2 3 4 5 6",
        b"1 2 3 4\r5 6",
        b"# 1 2 3 4 5 6",
        "1 2 3 4 5 ６".encode(),
    ],
)
def test_a_line_without_six_sensible_numbers_is_named_and_the_others_are_kept(line):
    good = number_lines(3)
    rows, damaged = parse_lines(b"\n".join([good[0], line, *good[1:]]) + b"\n", XYZ_RGB)
    assert damaged == {2: line}
    assert len(rows) == 3


def test_blank_lines_hold_no_point_but_count_as_lines():
    rows, damaged = parse_lines(b"\n1 2 3 4 5 6\n \nx\n", XYZ_RGB)
    assert len(rows) == 1
    assert damaged == {4: b"x"}


def test_an_empty_file_has_no_rows():
    rows, damaged = parse_lines(b"", XYZ_RGB)
    assert rows.shape == (0, 6)
    assert not damaged


def test_numbers_may_be_separated_by_commas():
    rows, damaged = parse_lines(b"1,2,3,0,0,-1\n1,2,3,0,0\n", XYZ_NORMAL)
    np.testing.assert_array_equal(rows, [[1, 2, 3, 0, 0, -1]])
    assert list(damaged) == [2]


@given(st.binary(max_size=60), st.integers(0, 200))
def test_whatever_bytes_stand_in_a_file_every_line_is_a_row_or_named(noise, place):
    data = b"\n".join(number_lines(4)) + b"\n"
    mixed = (data[:place] + noise + data[place:]).replace(b"\r", b"")
    rows, damaged = parse_lines(mixed, XYZ_RGB)
    filled = [line for line in mixed.split(b"\n") if line.strip(b" \t")]
    assert len(rows) + len(damaged) == len(filled)


def test_a_line_of_nothing_but_a_control_byte_is_damaged_and_not_blank():
    rows, damaged = parse_lines(b"1 2 3 4 5 6\n\x0b\n", XYZ_RGB)
    assert len(rows) == 1
    assert damaged == {2: b"\x0b"}


def test_shown_bytes_are_escaped_and_cut_around_the_damage():
    assert show_bytes(b"185\x00187") == r"'185\x00187'"
    shown = show_bytes(b"1 " * 100 + b"\x10" + b" 2" * 100)
    assert r"\x10" in shown
    assert shown.startswith("'…")
    assert len(shown) < 100


def test_damage_is_described_with_path_line_and_bytes():
    (damage,) = describe_damage("Area_5/a.txt", {7: b"\x00"})
    assert str(damage) == r"Area_5/a.txt, line 7: '\x00'"


@pytest.mark.parametrize(("damaged", "original"), KNOWN_DAMAGE.values())
def test_every_known_damage_is_undone_by_setting_the_cleared_bit(damaged, original):
    assert repair_line(damaged, XYZ_RGB) == original


@pytest.mark.parametrize(
    ("damaged", "repaired"),
    [
        (b"1 2 3 185\x01187 5", b"1 2 3 185 187 5"),
        (b"1\x01.5 2 3 4 5 6", b"1.5 2 3 4 5 6"),
        (b"1 2 3 \x01 4 5 6", b"1 2 3   4 5 6"),
    ],
)
def test_other_control_bytes_are_replaced_or_removed_if_that_gives_a_sound_line(damaged, repaired):
    assert repair_line(damaged, XYZ_RGB) == repaired


@pytest.mark.parametrize(
    "line",
    [
        b"1 2 3 4 5",
        b"1 2 3 O 5 6",
        b"1 2 3 4 5 6\r7 8 9 1 2 3",
        b"1\x01.5 2 3 185\x01187 5",  # one byte would have to go and the other to separate
        b"1 2 3 999\x004 5",
    ],
)
def test_what_is_ambiguous_or_not_a_control_byte_is_refused(line):
    assert repair_line(line, XYZ_RGB) is None


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_sound_lines_and_line_ends_keep_every_byte(end):
    lines = [b" 1 2 3\t4 5 6 ", b"1 2 3 185\x00187 5", b"", b"1 2", b"1 2 3 4 5 6"]
    corrected, repaired = repair_file(end.join(lines), XYZ_RGB)
    assert repaired == {2: b"1 2 3 185 187 5", 4: None}
    assert corrected == end.join([lines[0], b"1 2 3 185 187 5", *lines[2:]])


def test_a_corrected_copy_is_used_only_where_there_is_one(tmp_path):
    root, repairs = tmp_path / "root", tmp_path / "repairs"
    file = root / "Area_1" / "a.txt"
    assert repaired_copy(file, root, None) == file
    assert repaired_copy(file, root, repairs) == file
    (repairs / "Area_1").mkdir(parents=True)
    (repairs / "Area_1" / "a.txt").touch()
    assert repaired_copy(file, root, repairs) == repairs / "Area_1" / "a.txt"
