"""Text files of one point per line: XYZ, TXT, CSV, PTS and ASC."""

from __future__ import annotations

import codecs
import io
import re
import sys
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import RGB, cloud_from_columns, columns_from_cloud, narrow, plain_name, usual_type
from point2node.formats.numbers import parse_rows, parse_table
from point2node.formats.text_layout import Layout, TextOrigin, sniff_layout

LEFT_OUT = "_"  # the name of a column to leave out
SNIFFED = 1 << 14  # bytes that are checked for how a file writes its numbers
COMMA_NUMBER = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
LINES_AT_ONCE = 1 << 16  # written together, which limits the memory for their text


def read(
    path: Path, *, columns: str | None = None, delimiter: str | None = None, skip: int | None = None
) -> PointCloud:
    """Read one point per line; without options, the layout is guessed from the file.

    ``columns`` names every column, separated by blanks or commas; ``_`` leaves one out. ``delimiter`` is a blank, a
    tab, a comma or a semicolon. ``skip`` is the number of lines before the first point or header.
    """
    with path.open("rb") as stream:
        changed = _in_plain_digits(path, stream, delimiter)
        layout = sniff_layout(path, changed or stream, delimiter, skip or 0)
        names = columns.replace(",", " ").split() if columns is not None else layout.names
        values = _parse_columns(path, changed or stream, layout, names)
    if layout.points is not None and layout.points != len(values[0]):
        raise InputError(path, expected=f"{layout.points} points, as its first line says", found=str(len(values[0])))
    names = names or guess_columns(path, values)
    if len(names) != len(values):
        found = f"{len(values)} in line {layout.first_line}"
        raise InputError(path, expected=f"{len(names)} columns ({' '.join(names)})", found=found)
    kept = [name for name in names if name != LEFT_OUT]
    if len(set(kept)) < len(kept):
        raise InputError(path, expected="columns of different names", found=" ".join(names))
    named = {name: _usual(name, v) for name, v in zip(names, values, strict=True) if name != LEFT_OUT}
    # a file converted while reading cannot be copied with new columns, so it is written from scratch
    origin = TextOrigin(path, layout, tuple(names)) if changed is None else None
    return cloud_from_columns(path, named, origin=origin)


def _in_plain_digits(path: Path, stream: BinaryIO, delimiter: str | None) -> BinaryIO | None:
    """Convert UTF-16 or decimal commas to UTF-8 with decimal points; None if nothing has to be converted."""
    start = stream.read(SNIFFED)
    stream.seek(0)
    is_wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    shown = start.decode("utf-16" if is_wide else "utf-8", "replace")
    has_commas = delimiter != "," and _has_decimal_commas(shown)
    if not (is_wide or has_commas):
        return None
    try:
        content = stream.read().decode("utf-16").encode() if is_wide else stream.read()
    except UnicodeDecodeError as error:
        raise InputError(path, expected="text in UTF-16", found=f"damaged text ({error.reason})") from error
    stream.seek(0)
    return io.BytesIO(content.replace(b",", b".") if has_commas else content)


def _has_decimal_commas(text: str) -> bool:
    """Return whether commas in lines of numbers are decimal, because blanks or semicolons separate them."""
    found = False
    for line in text.splitlines()[:-1]:  # the last line may be cut off
        words = line.split(";") if ";" in line else line.split()
        numbers = [COMMA_NUMBER.fullmatch(word.strip()) for word in words if word.strip()]
        if len(numbers) >= 3 and all(numbers):
            found = found or any("," in number[0] for number in numbers if number)
        elif any(numbers) and len(numbers) >= 3:
            return False
    return found


def _usual(name: str, column: Array) -> Array:
    """Convert whole numbers to int64; only colours stay bytes."""
    is_colour = any(plain_name(name) in spelling for spelling in RGB)
    return column.astype(np.int64) if column.dtype == np.uint8 and not is_colour else column


def _parse_columns(path: Path, stream: BinaryIO, layout: Layout, names: list[str]) -> list[Array]:
    """Read the columns below the header, with the fast parser for plain files and the careful one for all others."""
    is_file = not isinstance(stream, io.BytesIO)  # which the fast one maps into memory
    if is_file and [plain_name(name) for name in names[:3]] in ([], ["x", "y", "z"]):
        stream.seek(layout.start)
        table = parse_table(stream, layout.width, layout.delimiter)
        if table is not None:
            return table
    stream.seek(layout.start)
    rows = parse_rows(
        path,
        stream.read(),
        delimiter=layout.delimiter,
        line_numbers=range(layout.first_line, sys.maxsize),
        expected="numbers" if layout.delimiter == " " else f"numbers separated by {layout.delimiter!r}",
    )
    rows.check_width(path, layout.width)
    return rows.columns(layout.width)


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write a line of column names and one line per point; numbers keep every digit. Faces are not stored.

    The names are in a comment, except in CSV, whose readers expect them without one.
    """
    columns = narrow(path, columns_from_cloud(path, cloud))
    is_csv = path.suffix.lower() == ".csv"
    delimiter = "," if is_csv else " "
    clash = next((name for name in columns if "," in name or ";" in name or "#" in name or '"' in name), None)
    if clash is not None:
        raise InputError(f"{path}, fields", expected='names without , ; # and "', found=repr(clash))
    stream.write((("" if is_csv else "# ") + delimiter.join(columns) + "\n").encode())
    for start in range(0, len(cloud), LINES_AT_ONCE):
        written = [written_digits(usual_type(values[start : start + LINES_AT_ONCE])) for values in columns.values()]
        lines = map(delimiter.join, zip(*written, strict=True))
        stream.write("".join(chain.from_iterable(zip(lines, repeat("\n")))).encode())


def written_digits(values: Array) -> list[str]:
    """Return the shortest text that restores each number exactly."""
    if values.dtype == np.float32:
        return list(values.astype(str))  # as float64 they would get digits beyond float32's precision
    return [repr(value) for value in values.tolist()]


UNIT_LENGTH = (0.98, 1.02)  # of a normal that was written with a few digits


def guess_columns(path: Path, columns: list[Array]) -> list[str]:
    """Guess the names of columns from their count and their values; the first three are always x, y and z.

    | columns | meaning                                                                                    |
    |---------|--------------------------------------------------------------------------------------------|
    | 4       | ``label`` where it is whole numbers from 0 on (never in PTS), else ``intensity``           |
    | 6       | ``nx ny nz`` where those have length 1 and are no whole numbers, else ``r g b``            |
    | 7       | ``intensity r g b`` in PTS, or where the fourth is no colour; else ``r g b label``         |
    | 8       | ``r g b label instance``                                                                   |
    | 9       | ``r g b nx ny nz``                                                                         |

    Other columns become the fields ``column_4``, ``column_5`` …
    """
    extra = columns[3:]
    is_pts = path.suffix.lower() == ".pts"
    names = [f"column_{number}" for number in range(4, len(columns) + 1)]
    if len(extra) == 1:
        names = ["label"] if _are_numbers_of_things(extra[0]) and not is_pts else ["intensity"]
    elif len(extra) == 3:
        if _are_normals(extra):
            names = ["nx", "ny", "nz"]
        elif _are_colours(extra):
            names = ["r", "g", "b"]
    elif len(extra) == 4:
        if (is_pts or not _are_colours(extra[:1])) and _are_colours(extra[1:]):
            names = ["intensity", "r", "g", "b"]
        elif _are_colours(extra[:3]) and _are_numbers_of_things(extra[3]):
            names = ["r", "g", "b", "label"]
    elif len(extra) == 5:
        if _are_colours(extra[:3]) and all(_are_numbers_of_things(column) for column in extra[3:]):
            names = ["r", "g", "b", "label", "instance"]
    elif len(extra) == 6 and _are_colours(extra[:3]) and _are_normals(extra[3:]):
        names = ["r", "g", "b", "nx", "ny", "nz"]
    return ["x", "y", "z"][: len(columns)] + names


def _are_colours(columns: list[Array]) -> bool:
    """Return whether three columns are all whole numbers from 0 to 255, or fractions from 0 to 1 or to 255."""
    return all(column.min() >= 0 and column.max() <= 255 for column in columns)


def _are_numbers_of_things(column: Array) -> bool:
    return column.dtype.kind in "iu" and bool(column.min() >= 0 and column.max() < 2**31)


def _are_normals(columns: list[Array]) -> bool:
    """Return whether vectors have length 1; some can be 0, if a normal could not be computed."""
    if all(column.dtype.kind in "iu" for column in columns):
        return False
    lengths = np.linalg.norm(np.stack(columns, axis=1), axis=1)
    units = (lengths > UNIT_LENGTH[0]) & (lengths < UNIT_LENGTH[1])
    return bool((units | (lengths == 0)).all() and units.any())
