"""Text files: exact numbers, every usual layout, and damaged lines that are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import read, write
from tests.formats.clouds import assert_same, clouds


def written(folder: Path, text: str, name: str = "room.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("suffix", [".xyz", ".txt", ".csv"])
@settings(max_examples=25)
@given(cloud=clouds(smallest=1))
def test_what_is_written_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, cloud: PointCloud
) -> None:
    path = tmp_path_factory.mktemp("text") / f"ä b{suffix}"
    write(path, cloud)
    assert_same(read(path), cloud, types=False)


def test_the_first_line_names_the_columns(tmp_path: Path) -> None:
    cloud = PointCloud(np.array([[0.1, 1e300, np.nan]]), labels=np.array([3]), fields={"my field": np.array([2**60])})
    write(tmp_path / "a.xyz", cloud)
    assert (tmp_path / "a.xyz").read_text() == f"# x y z label my_field\n0.1 1e+300 nan 3 {2**60}\n"
    write(tmp_path / "a.csv", cloud)
    assert (tmp_path / "a.csv").read_text() == f"x,y,z,label,my_field\n0.1,1e+300,nan,3,{2**60}\n"
    assert read(tmp_path / "a.csv").fields["my_field"].tolist() == [2**60]


@pytest.mark.parametrize("separator", [" ", "  ", "\t", ",", ", ", ";", " ; "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_every_delimiter_and_line_end_is_noticed(tmp_path: Path, separator: str, line_end: str) -> None:
    rows = [["0.5", "-1", "2e3", "10", "20", "30"], ["1", "+.5", "3.", "255", "0", "7"]]
    text = line_end.join(separator.join(row) for row in rows)
    cloud = read(written(tmp_path, text))
    assert cloud.rgb is not None
    assert cloud.xyz.tolist() == [[0.5, -1, 2000], [1, 0.5, 3]]
    assert cloud.rgb.tolist() == [[10, 20, 30], [255, 0, 7]]


@pytest.mark.parametrize(
    ("name", "line", "parts"),
    [
        ("a.xyz", "1 2 3", ""),
        ("a.txt", "1 2 3 4", "labels"),
        ("a.txt", "1 2 3 0.4", "intensity"),
        ("a.txt", "1 2 3 -4", "intensity"),
        ("a.pts", "1 2 3 4", "intensity"),
        ("a.txt", "1 2 3 10 20 30", "rgb"),
        ("a.txt", "1 2 3 0.1 0.2 0.3", "rgb"),
        ("a.txt", "1 2 3 0.6 0 0.8", "normals"),
        ("a.txt", "1 2 3 10 20 30 5", "labels rgb"),
        ("a.txt", "1 2 3 -1200 20 30 5", "intensity rgb"),
        ("a.pts", "1 2 3 10 20 30 5", "intensity rgb"),
        ("a.txt", "1 2 3 10 20 30 5 6", "instance labels rgb"),
        ("a.txt", "1 2 3 10 20 30 0 0 1.0", "normals rgb"),
        ("a.txt", "1 2 3 10 20 30 0 0 1.0 5", "column_10 column_4 column_5 column_6 column_7 column_8 column_9"),
    ],
)
def test_columns_without_names_are_guessed_as_documented(tmp_path: Path, name: str, line: str, parts: str) -> None:
    cloud = read(written(tmp_path, f"{line}\n{line}\n", name))
    known = ("rgb", "normals", "intensity", "labels", "instance")
    found = [part for part in known if getattr(cloud, part) is not None] + list(cloud.fields)
    assert " ".join(sorted(found)) == parts
    assert cloud.xyz.tolist() == [[1, 2, 3]] * 2


def test_columns_can_be_named_by_the_caller_and_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "made by a scanner\nx y\n1 2 3 4 5\n")
    cloud = read(path, columns="z,y,x,_,label", skip=2, delimiter=" ")
    assert cloud.labels is not None
    assert (cloud.xyz.tolist(), cloud.labels.tolist(), dict(cloud.fields)) == ([[3, 2, 1]], [5], {})


@pytest.mark.parametrize(
    "header",
    ["x y z Label roughness\n", "//X Y Z Label roughness\n", "# a comment\n\n# x y z scalar_Label roughness\n",
     "\ufeffx y z label roughness\n", "// a comment of five words\nx y z label roughness\n"],
)  # fmt: skip
def test_names_are_found_in_a_header_or_a_comment(tmp_path: Path, header: str) -> None:
    cloud = read(written(tmp_path, header + "1 2 3 4 0.5 # the end\n\n"))
    assert cloud.labels is not None
    assert (cloud.labels.tolist(), cloud.fields["roughness"].tolist()) == ([4], [0.5])


def test_quoted_names_of_a_csv_are_understood_and_a_delimiter_may_end_a_line(tmp_path: Path) -> None:
    cloud = read(written(tmp_path, '"x";"y";"z";"my field"\n1;2;3;4;\n', "a.csv"))
    assert cloud.fields["my field"].tolist() == [4]


def test_the_count_of_a_pts_file_is_compared_with_its_points(tmp_path: Path) -> None:
    assert len(read(written(tmp_path, "2\n1 2 3 -4 5 6 7\n1 2 3 -4 5 6 7\n", "a.pts"))) == 2
    with pytest.raises(InputError, match="expected 3 points, as its first line says, found 2"):
        read(written(tmp_path, "3\n1 2 3 -4 5 6 7\n1 2 3 -4 5 6 7\n", "a.pts"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 3\n" * 50 + "1 2\x003 4\n", r"line 51: expected numbers, found '1 2\\x003 4'"),
        ("1 2 3\n1 2\n", "line 2: expected 3 numbers, found 2"),
        ("1,2,3\n1,,3\n", "line 2: expected numbers separated by ',', found '1,,3'"),
        ("1,2,3\n1 2 3\n", "line 2: expected numbers separated by ','"),
        ("1 2 3\n1 2 3e\n", "line 2: expected numbers, found '1 2 3e'"),
        ("1 2 3\n1 2 -\n", "line 2"),
        ("1 2 3\n1 2 1.2.3\n", "line 2"),
        ("1 2 3\n1 2 " + "9" * 100 + "\n", "line 2"),
        ("x y z\n1 2 three\n", "line 2: expected numbers, or the names of columns"),
        ("x y z label\n1 2 3\n", r"expected 4 columns \(x y z label\), found 3 in line 2"),
        ("x y y\n1 2 3\n", "different names"),
        ("a b c\n1 2 3\n", "columns x, y and z, found a, b, c"),
        ("1 2\n1 2\n", "columns x, y and z"),
        ("# only a comment\n", "a line of numbers"),
        ("words and words\nand more words\n", "or the names of columns"),
        ("\n" * 500, "a line of numbers among the first 100"),
    ],
)
def test_a_damaged_line_is_named_and_shown(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(written(tmp_path, text))
    assert "room.txt" in str(caught.value)


def test_a_damaged_line_far_down_a_long_file_has_the_right_number(tmp_path: Path) -> None:
    good = "1.25 2.5 3.75 10 20 30\n" * 200_000  # some pieces of text for several threads
    cloud = read(written(tmp_path, good))
    assert len(cloud) == 200_000
    assert (cloud.xyz == [1.25, 2.5, 3.75]).all()
    with pytest.raises(InputError, match="line 150001: expected numbers, found '1 2 x'"):
        read(written(tmp_path, good[: 23 * 150_000] + "1 2 x\n" + good[23 * 150_000 :]))


@given(number=st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False), digits=st.integers(1, 25))
def test_numbers_are_rounded_as_python_rounds_them(
    tmp_path_factory: pytest.TempPathFactory, number: float, digits: int
) -> None:
    spellings = [repr(number), f"{number:.{digits}e}", f"{number:.{digits}g}", f"{number:+.3e}".upper()]
    path = tmp_path_factory.mktemp("text") / "a.xyz"
    path.write_text("\n".join(f"{spelling} 0 0" for spelling in spellings))
    assert read(path).xyz[:, 0].tolist() == [float(spelling) for spelling in spellings]


@given(number=st.integers(-(2**63), 2**64 - 1))
def test_whole_numbers_keep_all_64_bits(tmp_path_factory: pytest.TempPathFactory, number: int) -> None:
    path = tmp_path_factory.mktemp("text") / "a.xyz"
    path.write_text(f"# x y z id\n0 0 0 {number}\n0 0 0 7\n")
    assert read(path).fields["id"].tolist() == [number, 7]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"delimiter": "|"}, "delimiter"), ({"skip": -1}, "skip"), ({"columns": "x y"}, r"2 columns \(x y\), found 3")],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(written(tmp_path, "1 2 3\n"), **options)  # type: ignore[arg-type]  # a mix of types, one per case


COMMAS = "x;y;z;label\n1,5;-2,25;3;4\n0,125;1e-3;2,0;5\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", COMMAS),
        ("a.txt", COMMAS.replace(";", "\t")),
        ("a.xyz", COMMAS.replace(";", "  ").replace("x", "# x", 1)),
        ("a.csv", "x;y;z;label\n1;-2;3;4\n" + COMMAS.split("\n", 1)[1]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_decimal_commas_and_utf_16_are_read(tmp_path: Path, name: str, text: str, encoding: str, ending: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.replace("\n", ending).encode(encoding))
    cloud = read(path)
    np.testing.assert_array_equal(cloud.xyz[-2:], [[1.5, -2.25, 3], [0.125, 1e-3, 2]])
    np.testing.assert_array_equal(cloud.labels[-2:], [4, 5])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("1,2,3\n4,5,6\n", [1, 2, 3]),
        ("1, 2, 3\n4, 5, 6\n", [1, 2, 3]),
        ("1.5,2,3,255,0,0\n4.5,5,6,0,1,2\n", [1.5, 2, 3]),
        ("x,y,z\n1,2,3\n", [1, 2, 3]),
        ("1 2 3\n4 5 6\n", [1, 2, 3]),
    ],
)
def test_commas_that_separate_stay_what_they_are(tmp_path: Path, text: str, first: list[float]) -> None:
    (tmp_path / "a.csv").write_text(text)
    cloud = read(tmp_path / "a.csv")
    assert cloud.xyz[0].tolist() == first
    assert cloud.origin is not None


def test_utf_16_without_decimal_commas_and_a_damaged_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("1.5 2 3\n4 5 6\n".encode("utf-16"))
    assert read(tmp_path / "a.txt").xyz.tolist() == [[1.5, 2, 3], [4, 5, 6]]
    (tmp_path / "a.txt").write_bytes("1.5 2 3\n".encode("utf-16") + b"\x00")
    with pytest.raises(InputError, match="damaged text"):
        read(tmp_path / "a.txt")
