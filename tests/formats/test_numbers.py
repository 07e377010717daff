"""The fast parser of plain tables against the careful one: the same numbers, or nothing."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from point2node.core.point_cloud import Array
from point2node.formats import numbers, read
from point2node.formats.numbers import parse_rows, parse_table


def parsed(folder: Path, text: bytes, width: int, delimiter: str = " ") -> list[Array] | None:
    path = folder / "table.txt"
    path.write_bytes(text)
    with path.open("rb") as stream:
        return parse_table(stream, width, delimiter)


NUMBERS = st.one_of(
    st.integers(0, 300).map(str),
    st.integers(-(10**9), 10**9).map(str),
    st.floats(-1e4, 1e4).map(lambda value: f"{value:.3f}"),
    st.tuples(st.integers(-(10**9), 10**9), st.integers(-12, 12)).map(lambda parts: f"{parts[0]}e{parts[1]}"),
    st.sampled_from(["-0", "-0.0", ".5", "-.5", "3.", "+7", "0000012", "1234567", "12345678", "nan", "-inf"]),
)


@st.composite
def texts(draw: st.DrawFn) -> tuple[bytes, int, str]:
    width, delimiter = draw(st.integers(3, 7)), draw(st.sampled_from([" ", ",", ";"]))
    gaps = st.sampled_from([" ", "  ", "\t"] if delimiter == " " else [delimiter, f" {delimiter} "])
    ends = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n \n"] + ([] if delimiter == " " else [f"{delimiter}\n"]))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1, max_size=8))
    lines = ["".join(word + draw(gaps) for word in row[:-1]) + row[-1] + draw(ends) for row in rows]
    text = "".join(lines)
    return (text if draw(st.booleans()) else text.rstrip()).encode(), width, delimiter


@given(case=texts())
@example(case=(b"1 2 3 255\n1 2 3 256\n1 2 3 0.5\n", 4, " "))
def test_it_gives_the_numbers_of_the_careful_parser(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[bytes, int, str]
) -> None:
    text, width, delimiter = case
    columns = parsed(tmp_path_factory.mktemp("table"), text, width, delimiter)
    careful = parse_rows(Path("careful"), text, delimiter=delimiter)
    assert columns is not None
    for column, values in zip(columns, careful.values.reshape(-1, width).T, strict=True):
        np.testing.assert_array_equal(column, values)
        if column.dtype == np.float64:
            np.testing.assert_array_equal(np.signbit(column), np.signbit(values))  # tells -0.0 from 0.0
    for column, values in zip(columns[3:], careful.columns(width)[3:], strict=True):
        assert (column.dtype.kind in "iu") == (values.dtype == np.int64)


@pytest.mark.parametrize(
    "line",
    [b"1 2", b"1 2 3 4 5", b"1 2 3 x", b"1 2 3\x004", b"1 2\x103 4", b"1 2 3 4 # five", b"1 2 3 1.2.3", b"1 2 3 -",
     b"1 2 3 .", b"1 2 3 12345678901234567890", b"1 2 3 0.12345678901234567", b"1 2 3 1e300", b"1,2,3,4", b"# 1 2 3 4",
     "1 2 3 ４".encode()],
)  # fmt: skip
@pytest.mark.parametrize("end", [b"\n", b""])
def test_what_is_no_plain_table_is_left_to_the_careful_parser(tmp_path: Path, line: bytes, end: bytes) -> None:
    assert parsed(tmp_path, b"1 2 3 4\n" + line + end, 4) is None
    assert parsed(tmp_path, line + b"\n1 2 3 4" + end, 4) is None


def test_an_empty_field_is_left_to_the_careful_parser(tmp_path: Path) -> None:
    assert parsed(tmp_path, b"1,2,3\n1,,3\n", 3, ",") is None
    assert parsed(tmp_path, b"1,2,3\n1 2 3\n", 3, ",") is None
    assert parsed(tmp_path, b"1,2,3,\n", 3, ",") is not None


def test_the_coordinates_lie_side_by_side_in_memory_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"1 2 3 10 20 30\n" * 5)
    cloud = read(tmp_path / "a.txt")
    assert cloud.xyz.flags.c_contiguous
    assert cloud.xyz.base is None or cloud.xyz.base.shape == (5, 3)
    assert cloud.xyz.tolist() == [[1, 2, 3]] * 5


@pytest.mark.parametrize("odd", [b"", b"\n", b"1 2 3 0.5\n"])
def test_pieces_of_a_long_file_are_put_together_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: bytes
) -> None:
    monkeypatch.setattr(numbers, "PIECE", 100)
    lines = [b"%d %d.5 -3 %d\n" % (row, row, row % 256) for row in range(2000)]
    lines.insert(1500, odd)
    columns = parsed(tmp_path, b"".join(lines), 4)
    assert columns is not None
    wanted = np.loadtxt(BytesIO(b"".join(lines)))
    np.testing.assert_array_equal(np.stack(columns, axis=1), wanted)


def test_fields_of_whole_numbers_are_int64_whichever_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x y z intensity number r g b\n1 2 3 200 7 1 2 3\n")
    cloud = read(tmp_path / "a.txt")
    assert cloud.intensity is not None
    assert cloud.rgb is not None
    assert (cloud.intensity.dtype, cloud.fields["number"].dtype, cloud.rgb.dtype) == (np.int64, np.int64, np.uint8)
