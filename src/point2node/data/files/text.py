"""Text files of one point per line: XYZ, TXT, CSV, PTS and ASC."""

from __future__ import annotations

import sys
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.data.files.columns import cloud_from_columns, columns_from_cloud, narrow, usual_type
from point2node.data.files.number_rows import parse_rows
from point2node.data.files.text_columns import guess_columns
from point2node.data.files.text_layout import sniff_layout

LEFT_OUT = "_"  # the name of a column that is not wanted
LINES_AT_ONCE = 1 << 16  # written together: bounds the memory that their text takes


def read(
    path: Path, *, columns: str | None = None, delimiter: str | None = None, skip: int | None = None
) -> PointCloud:
    """Read one point per line; what the options leave open is taken from the file itself.

    ``columns`` names every column, separated by blanks or commas; ``_`` leaves one out. ``delimiter`` is a blank, a
    tab, a comma or a semicolon. ``skip`` is the number of lines before the first point or header.
    """
    data = path.read_bytes()
    layout = sniff_layout(path, data, delimiter, skip or 0)
    rows = parse_rows(
        path,
        data[layout.start :],
        delimiter=layout.delimiter,
        line_numbers=range(layout.first_line, sys.maxsize),
        expected="numbers" if layout.delimiter == " " else f"numbers separated by {layout.delimiter!r}",
    )
    if not len(rows):
        raise InputError(path, expected="lines of numbers", found="none")
    if layout.points is not None and layout.points != len(rows):
        raise InputError(path, expected=f"{layout.points} points, as its first line says", found=str(len(rows)))
    width = int(rows.ends[0])
    rows.check_width(path, width)
    values = rows.columns(width)
    names = columns.replace(",", " ").split() if columns is not None else layout.names or guess_columns(path, values)
    if len(names) != width:
        found = f"{width} in line {layout.first_line + int(rows.lines[0])}"
        raise InputError(path, expected=f"{len(names)} columns ({' '.join(names)})", found=found)
    kept = [name for name in names if name != LEFT_OUT]
    if len(set(kept)) < len(kept):
        raise InputError(path, expected="columns of different names", found=" ".join(names))
    return cloud_from_columns(path, {name: v for name, v in zip(names, values, strict=True) if name != LEFT_OUT})


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write a line of column names and one line per point; numbers keep every digit. Faces have no place here.

    The names stand in a comment, except in CSV, whose readers expect them without one.
    """
    columns = narrow(path, columns_from_cloud(path, cloud))
    is_csv = path.suffix.lower() == ".csv"
    delimiter = "," if is_csv else " "
    clash = next((name for name in columns if "," in name or ";" in name or "#" in name or '"' in name), None)
    if clash is not None:
        raise InputError(f"{path}, fields", expected='names without , ; # and "', found=repr(clash))
    stream.write((("" if is_csv else "# ") + delimiter.join(columns) + "\n").encode())
    for start in range(0, len(cloud), LINES_AT_ONCE):
        written = [_digits(usual_type(values[start : start + LINES_AT_ONCE])) for values in columns.values()]
        lines = map(delimiter.join, zip(*written, strict=True))
        stream.write("".join(chain.from_iterable(zip(lines, repeat("\n")))).encode())


def _digits(values: Array) -> list[str]:
    """The shortest text that gives each number back exactly."""
    if values.dtype == np.float32:
        return list(values.astype(str))  # as float64 they would get digits that a float32 does not have
    return [repr(value) for value in values.tolist()]
