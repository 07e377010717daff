"""The numba kernels that parse lines with a fixed count of numbers directly into the arrays of a point cloud.

Short decimal numbers are parsed eight characters at a time. A word is eight bytes of text in one 64-bit number, the
first character lowest. One subtraction finds every byte below a limit at once, and three multiplications convert eight
digits to their value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

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
from point2node.kernels.compiling import kernel

Bytes = NDArray[np.uint8]

WORD = 8  # bytes; text must continue for this many after its last number
ONE, BYTE, WORD_BITS = np.uint64(1), np.uint64(8), np.uint64(64)
BYTE_BITS = ~np.uint64(7)  # a number of bits, rounded down to whole bytes
LOWEST_BYTE = np.uint64(0xFF)
EACH = np.uint64(0x0101010101010101)  # times a byte: that byte eight times
TOP_BITS = np.uint64(0x80) * EACH
ABOVE_SPACE = np.uint64(0x21) * EACH
ZEROS = np.uint64(0x30) * EACH
TO_TOP_BIT = np.uint64(0x76) * EACH  # raises any digit of 10 or more to 0x80 or more
MINUS, POINT = np.uint64(45), np.uint64(46)
PAIRS = np.uint64(0x000000FF000000FF)
TEN = np.uint64(10)
OUTER_PAIRS, INNER_PAIRS = np.uint64((1_000_000 << 32) + 100), np.uint64((10_000 << 32) + 1)
HALF_BITS = np.uint64(32)


@intrinsic
def load_word(typing_context: Any, text: Any, position: Any) -> Any:
    """Load the eight bytes at ``position``, which can be unaligned."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(place, context.get_value_type(types.uint64).as_pointer()), align=1)

    return types.uint64(text, types.uint64), generate


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Count the zero bits below the lowest set bit; 64 if none is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.uint64(types.uint64), generate


@kernel(inline="always")
def parse_short(text: Bytes, position: Any, delimiters: Any) -> tuple[Any, Any, bool, bool, Any, bool]:
    """Parse the digits at ``position``: number, count of decimals, if negative, if without point, end, if short.

    Short means up to seven characters: digits with at most one point and an optional minus, followed by a blank, a
    control byte or the byte that ``delimiters`` repeats eight times. Otherwise the other results are undefined.
    """
    word: Any = load_word(text, position)  # type: ignore[call-arg]  # numba gives the context itself
    apart = word ^ delimiters
    ends = (((word - ABOVE_SPACE) & ~word) | ((apart - EACH) & ~apart)) & TOP_BITS
    bits = trailing_zeros(ends) & BYTE_BITS
    end = position + bits // BYTE  # known before the digits are parsed, so that the next number can start earlier
    is_short = bits < WORD_BITS
    negative = word & LOWEST_BYTE == MINUS
    if negative:
        word >>= BYTE
        bits -= BYTE
    digits = word ^ ZEROS
    others = ((digits + TO_TOP_BIT) | digits) & TOP_BITS & ((ONE << bits) - ONE)
    is_short = is_short and bits >= BYTE
    decimals = np.uint64(0)
    if others != 0:
        place = trailing_zeros(others) & BYTE_BITS
        is_point = (word >> place) & LOWEST_BYTE == POINT
        is_short = is_short and is_point and others & (others - ONE) == 0 and bits > BYTE
        before = (ONE << place) - ONE
        digits = ((digits & before) << BYTE) | (digits & ~(before | (LOWEST_BYTE << place)))  # close the gap
        decimals = (bits - place - BYTE) // BYTE
    digits <<= WORD_BITS - bits  # leading zeros, and nothing after the last digit
    digits = digits * TEN + (digits >> BYTE)  # in every second byte: two digits
    number = ((digits & PAIRS) * OUTER_PAIRS + ((digits >> (BYTE + BYTE)) & PAIRS) * INNER_PAIRS) >> HALF_BITS
    return number, decimals, negative, others == 0, end, is_short


REGULAR, IRREGULAR = -1, -2  # results other than the index of a column with numbers beyond its kind
BYTES, WHOLE_NUMBERS, FRACTIONS = 0, 1, 2  # the kinds of columns; each can store those before it
LARGEST_BYTE = 255
COORDINATES = 3


@kernel(error_model="numpy")
def fill_table(
    text: Bytes, delimiter: int, kinds: Any, xyz: Any, small: Any, large: Any, start: int, stop: int, row: int
) -> tuple[int, int]:
    """Read the lines between ``start`` and ``stop`` into the rows from ``row`` on.

    The first three columns go to ``xyz`` (rows, 3). Column ``i`` of the others goes to ``small[i - 3]`` (uint8) or
    ``large[i - 3]`` (float64), by its kind. Blank lines are skipped. Returns the row after the last, and REGULAR; or
    the index of a column with numbers beyond its kind; or IRREGULAR for anything else that is not plain numbers, which
    the caller handles. A line must end at ``stop``, and ``WORD`` more bytes must follow.
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
    """Count the lines that end between ``start`` and ``stop``."""
    lines = 0
    for byte in text[start:stop]:
        lines += byte == NEWLINE
    return lines


@kernel()
def next_line(text: Bytes, position: int) -> int:
    """Return the end of the line that contains ``position``."""
    while text[position] != NEWLINE:
        position += 1
    return position + 1
