"""Numbers from text: rows of any length, with errors that name the line, and tables parsed directly into columns."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array

LONGEST = 64  # characters of one number
PIECE = 1 << 20  # bytes parsed at once by one thread; also limits the memory for long numbers
SHOWN = 60  # characters of a damaged line in its error


@dataclass(frozen=True)
class NumberRows:
    """The numbers of a text, concatenated, and the line of each row."""

    values: NDArray[np.float64]
    whole: NDArray[np.bool_]
    """Whether each number is written without a decimal point or exponent."""
    long: dict[int, int]
    """The whole numbers that do not fit a double, by index."""
    ends: NDArray[np.int64]
    """Where in ``values`` each row ends."""
    lines: NDArray[np.int64]
    """The line of each row in the text, from 0."""
    line_numbers: Sequence[int]
    """The line in the file of each line of the text."""

    def __len__(self) -> int:
        return len(self.ends)

    def counts(self) -> NDArray[np.int64]:
        """Return the count of numbers in each row."""
        return np.diff(self.ends, prepend=np.int64(0))

    def rows(self, start: int, stop: int) -> NumberRows:
        """Return some of the rows."""
        first = int(self.ends[start - 1]) if start else 0
        last = int(self.ends[stop - 1]) if stop else 0
        return NumberRows(
            self.values[first:last],
            self.whole[first:last],
            {place - first: value for place, value in self.long.items() if first <= place < last},
            self.ends[start:stop] - first,
            self.lines[start:stop],
            self.line_numbers,
        )

    def check_width(self, path: Path, width: int) -> None:
        """Raise InputError unless every row has ``width`` numbers."""
        wrong = np.flatnonzero(self.counts() != width)
        if len(wrong):
            where = f"{path}, line {self.line_numbers[self.lines[wrong[0]]]}"
            raise InputError(where, expected=f"{width} numbers", found=str(self.counts()[wrong[0]]))

    def columns(self, width: int) -> list[Array]:
        """Return the columns of rows of ``width`` numbers each: int64 if every number is whole, else float64."""
        return [self._column(number, width) for number in range(width)]

    def _column(self, number: int, width: int) -> Array:
        values = self.values[number::width]
        if not self.whole[number::width].all():
            return values
        long = {place // width: value for place, value in self.long.items() if place % width == number}
        if not long:
            return values.astype(np.int64)
        exact = np.array([long.get(row, int(value)) for row, value in enumerate(values.tolist())], object)
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= exact.min() and exact.max() <= np.iinfo(kind).max:
                return exact.astype(kind)
        return values


def parse_rows(
    path: Path,
    text: bytes,
    *,
    delimiter: str = " ",
    line_numbers: Sequence[int] = range(1, sys.maxsize),
    expected: str = "numbers",
) -> NumberRows:
    """Parse all numbers of ``text``; ``line_numbers`` are the lines of ``path`` that its lines come from.

    ``delimiter`` is a comma, a semicolon, or blank for any run of spaces and tabs.
    """
    text = text if text.endswith(b"\n") else text + b"\n"  # required by the kernels
    bounds = _cut(text)

    def parse(piece: int) -> _Piece:
        return _parse_piece(np.frombuffer(text, np.uint8)[bounds[piece] : bounds[piece + 1]], delimiter)

    with ThreadPoolExecutor(min(len(bounds) - 1, os.cpu_count() or 1)) as threads:
        pieces = list(threads.map(parse, range(len(bounds) - 1)))
    for start, piece in zip(bounds, pieces, strict=False):
        if piece.damage >= 0:
            raise damaged_line(path, text, start + piece.damage, line_numbers, expected)
    return _join(pieces, line_numbers)


@dataclass(frozen=True)
class _Piece:
    """One thread's result for a piece of whole lines; positions and lines are relative to the piece."""

    values: NDArray[np.float64]
    whole: NDArray[np.bool_]
    long: dict[int, int]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]
    line_count: int
    damage: int
    """The first byte outside any number, or -1."""


def _cut(text: bytes) -> list[int]:
    """Return the bounds of pieces of about ``PIECE`` bytes, each of whole lines."""
    bounds = [0]
    while bounds[-1] < len(text):
        bounds.append(text.find(b"\n", min(bounds[-1] + PIECE, len(text) - 1)) + 1)
    return bounds


def _parse_piece(codes: NDArray[np.uint8], delimiter: str) -> _Piece:
    from point2node.formats import number_kernels as kernels  # imports numba: half a second that most imports can avoid

    mark = kernels.NO_DELIMITER if delimiter.isspace() else ord(delimiter)
    # every number is followed by a separator and every row by a newline; counting is cheaper than fresh memory
    most = np.count_nonzero((codes <= kernels.SPACE) | (codes == mark))
    most_rows = np.count_nonzero(codes == kernels.NEWLINE)
    values, flags = np.empty(most), np.empty(most, np.uint8)
    ends, lines = np.empty(most_rows, np.int64), np.empty(most_rows, np.int64)
    numbers, rows, line_count, damage = kernels.parse_numbers(codes, mark, values, flags, ends, lines)
    values, flags = values[:numbers], flags[:numbers]
    whole, long = (flags & kernels.WHOLE).view(bool), {}
    places = np.flatnonzero(flags & kernels.LONG)
    starts, written = values[places].astype(np.int64), np.zeros((len(places), LONGEST), np.uint8)
    too_long = kernels.copy_numbers(codes, starts, mark, written)
    if too_long >= 0:
        damage = int(starts[too_long])
    else:
        words = written.view(f"S{LONGEST}").ravel()
        values[places] = words.astype(np.float64)
        long = {int(places[i]): int(words[i]) for i in np.flatnonzero(whole[places])}
    return _Piece(values, whole, long, ends[:rows], lines[:rows], line_count, damage)


def _join(pieces: list[_Piece], line_numbers: Sequence[int]) -> NumberRows:
    firsts = np.cumsum([0] + [len(piece.values) for piece in pieces])
    first_lines = np.cumsum([0] + [piece.line_count for piece in pieces])
    return NumberRows(
        np.concatenate([piece.values for piece in pieces]),
        np.concatenate([piece.whole for piece in pieces]),
        {int(first) + at: n for first, piece in zip(firsts, pieces, strict=False) for at, n in piece.long.items()},
        np.concatenate([first + piece.ends for first, piece in zip(firsts, pieces, strict=False)]),
        np.concatenate([first + piece.lines for first, piece in zip(first_lines, pieces, strict=False)]),
        line_numbers,
    )


def as_type(path: Path, name: str, column: Array, dtype: np.dtype[Any]) -> Array:
    """Convert a column to the type in the file's header; raises InputError for numbers that do not fit."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite
            return column.astype(dtype)
    limits = np.iinfo(dtype)
    if column.size and (column.dtype.kind == "f" or column.min() < limits.min or column.max() > limits.max):
        found = f"{column.min()} to {column.max()}"
        raise InputError(f"{path}, {name}", expected=f"whole numbers from {limits.min} to {limits.max}", found=found)
    return column.astype(dtype)


def damaged_line(path: Path, text: bytes, position: int, line_numbers: Sequence[int], expected: str) -> InputError:
    """Make an error that names and shows the line of ``text`` that contains ``position``."""
    number = line_numbers[text.count(b"\n", 0, position)]
    return InputError(f"{path}, line {number}", expected=expected, found=shown_line(text, position))


def shown_line(text: bytes, position: int) -> str:
    """Return the line around ``position``, quoted, with unusual bytes escaped, and shortened."""
    start = max(text.rfind(b"\n", 0, position) + 1, position - SHOWN // 2)
    line = text[start : start + SHOWN].split(b"\n")[0]
    return repr(line.decode("latin-1").strip())


COORDINATES = 3
PADDING = 8  # bytes that the kernel can read after the last line


def parse_table(stream: BinaryIO, width: int, delimiter: str) -> list[Array] | None:
    """Read the ``width`` columns of the rest of a file; None if any line is not that many plain numbers.

    The first three are float64 and adjacent in memory; of the others, those without fractions are int64. Comments and
    numbers of more than 53 bits also give None; ``parse_rows`` reads them, or names the damaged line.
    """
    if width < COORDINATES:
        return None
    from point2node.formats import (
        number_kernels,
        table_kernels,  # imports numba: half a second that most imports can avoid
    )

    text = _read_padded(stream)
    mark = number_kernels.NO_DELIMITER if delimiter.isspace() else ord(delimiter)
    bounds = [0]
    while bounds[-1] < len(text) - PADDING:
        bounds.append(table_kernels.next_line(text, min(bounds[-1] + PIECE, len(text) - PADDING - 1)))
    with ThreadPoolExecutor(min(len(bounds) - 1, os.cpu_count() or 1)) as threads:
        lines = threads.map(partial(table_kernels.count_lines, text), bounds, bounds[1:])
        starts = np.cumsum([0, *lines]).tolist()
        xyz = np.empty((starts[-1], COORDINATES))
        small = np.empty((width - COORDINATES, starts[-1]), np.uint8)
        large = np.empty(small.shape)  # uses no memory until it is written
        kinds = np.full(width, table_kernels.BYTES, np.uint8)
        fill = partial(table_kernels.fill_table, text, mark, kinds, xyz, small, large)
        while True:
            ends, troubles = zip(*threads.map(fill, bounds, bounds[1:], starts), strict=True)
            if table_kernels.IRREGULAR in troubles:
                return None
            if max(troubles) == table_kernels.REGULAR:
                break
            kinds[max(troubles)] += 1  # it has larger numbers or fractions: try again
    if ends != tuple(starts[1:]):  # blank lines left gaps
        filled = np.concatenate([np.arange(*rows) for rows in zip(starts, ends, strict=False)])
        xyz, small, large = xyz[filled], small[:, filled], large[:, filled]
    held = {
        table_kernels.BYTES: small.__getitem__,
        table_kernels.WHOLE_NUMBERS: lambda column: large[column].astype(np.int64),
        table_kernels.FRACTIONS: large.__getitem__,
    }
    return [*xyz.T, *(held[kind](column) for column, kind in enumerate(kinds[COORDINATES:].tolist()))]


def _read_padded(stream: BinaryIO) -> NDArray[np.uint8]:
    """Read the rest of the file, plus a newline and ``PADDING``, into numpy's memory, which has larger pages."""
    size = os.fstat(stream.fileno()).st_size - stream.tell()
    text = np.empty(size + 1 + PADDING, np.uint8)
    size = stream.readinto(text[:size])  # type: ignore[attr-defined]  # every file opened in binary mode has it
    text[size:] = ord("\n")
    return text[: size + PADDING + (text[size - 1] != ord("\n"))]
