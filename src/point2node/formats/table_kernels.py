"""The numba kernel that reads lines of equally many numbers straight into the arrays of a point cloud."""

from __future__ import annotations

from typing import Any

import numpy as np

from point2node.formats.number_kernels import (
    LONG,
    NEWLINE,
    NO_DELIMITER,
    POWERS,
    RETURN,
    SPACE,
    TAB,
    WHOLE,
    parse_number,
)
from point2node.formats.word_kernels import EACH, ONE, Bytes, parse_short
from point2node.kernels.compiling import kernel

REGULAR, IRREGULAR = -1, -2  # what is the matter with a text, where it is not a column that is of another kind
BYTES, WHOLE_NUMBERS, FRACTIONS = 0, 1, 2  # what a column may hold; every kind can hold the ones before
LARGEST_BYTE = 255
COORDINATES = 3


@kernel(error_model="numpy")
def fill_table(
    text: Bytes, delimiter: int, kinds: Any, xyz: Any, small: Any, large: Any, start: int, stop: int, row: int
) -> tuple[int, int]:
    """Read the lines between ``start`` and ``stop`` into the rows from ``row`` on.

    The first three columns go to ``xyz`` (rows, 3). Column ``i`` of the others goes to ``small[i - 3]`` (uint8) or
    ``large[i - 3]`` (float64), by its kind. Blank lines give no row. Returns where the rows end, and REGULAR; or a
    column that has numbers beyond its kind; or IRREGULAR for whatever else is not plain numbers, which is for the
    caller to look into. At ``stop`` a line has just ended, and ``WORD`` more bytes follow.
    """
    position, end = np.uint64(start), np.uint64(stop)
    separators = EACH * np.uint64(SPACE if delimiter == NO_DELIMITER else delimiter)
    while position < end:
        position = _skip_blanks(text, position)
        if text[position] == NEWLINE:
            position += ONE
            continue
        for column in range(len(kinds)):
            if column:
                before = position
                position = _skip_blanks(text, position)
                if delimiter != NO_DELIMITER:
                    before = position
                    position = _skip_blanks(text, position + np.uint64(text[position] == delimiter))
                if position == before:
                    return row, IRREGULAR
            digits, decimals, negative, is_whole, number_end, is_short = parse_short(text, position, separators)
            value = float(np.int64(digits)) / POWERS[decimals]
            if negative:
                value = -value
            if not is_short:
                value, flag, found_end = parse_number(text, np.int64(position))
                if found_end < 0 or flag & LONG or not (text[found_end] <= SPACE or text[found_end] == delimiter):
                    return row, IRREGULAR
                is_whole, number_end = flag & WHOLE != 0, np.uint64(found_end)
            position = number_end
            if column < COORDINATES:
                xyz[row, column] = value
            elif kinds[column] == BYTES and is_whole and 0 <= value <= LARGEST_BYTE:
                small[column - COORDINATES, row] = np.uint8(value)
            elif kinds[column] == FRACTIONS or (kinds[column] == WHOLE_NUMBERS and is_whole):
                large[column - COORDINATES, row] = value
            else:
                return row, column
        if text[position] != NEWLINE:
            position = _skip_blanks(text, position)
            if text[position] == delimiter:
                position = _skip_blanks(text, position + ONE)
            if text[position] != NEWLINE:
                return row, IRREGULAR
        position += ONE
        row += 1
    return row, REGULAR


@kernel(inline="always")
def _skip_blanks(text: Bytes, position: Any) -> Any:
    while text[position] <= SPACE and text[position] in (SPACE, TAB, RETURN):
        position += ONE
    return position


@kernel()
def count_lines(text: Bytes, start: int, stop: int) -> int:
    """How many lines end between ``start`` and ``stop``."""
    lines = 0
    for byte in text[start:stop]:
        lines += byte == NEWLINE
    return lines


@kernel()
def next_line(text: Bytes, position: int) -> int:
    """Where the line that ``position`` is in has its end."""
    while text[position] != NEWLINE:
        position += 1
    return position + 1
