"""The numba kernels that read lines of equally many numbers straight into the arrays of a point cloud.

Short decimal numbers are read eight characters at a time. A word is eight bytes of text in one 64-bit number, the first
character lowest. One subtraction finds every byte below a limit at once, and three multiplications turn eight digits
into their value.
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

WORD = 8  # bytes; a text has to go on for as many behind its last number
ONE, BYTE, WORD_BITS = np.uint64(1), np.uint64(8), np.uint64(64)
BYTE_BITS = ~np.uint64(7)  # a number of bits, rounded down to whole bytes
LOWEST_BYTE = np.uint64(0xFF)
EACH = np.uint64(0x0101010101010101)  # times a byte: that byte eight times
TOP_BITS = np.uint64(0x80) * EACH
ABOVE_SPACE = np.uint64(0x21) * EACH
ZEROS = np.uint64(0x30) * EACH
TO_TOP_BIT = np.uint64(0x76) * EACH  # lifts whatever is 10 or more to 0x80 or more
MINUS, POINT = np.uint64(45), np.uint64(46)
PAIRS = np.uint64(0x000000FF000000FF)
TEN = np.uint64(10)
OUTER_PAIRS, INNER_PAIRS = np.uint64((1_000_000 << 32) + 100), np.uint64((10_000 << 32) + 1)
HALF_BITS = np.uint64(32)


@intrinsic
def load_word(typing_context: Any, text: Any, position: Any) -> Any:
    """The eight bytes at ``position``, which need not be a multiple of eight."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(place, context.get_value_type(types.uint64).as_pointer()), align=1)

    return types.uint64(text, types.uint64), generate


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """How many bits below the lowest set one are 0; 64 if none is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.uint64(types.uint64), generate


@kernel(inline="always")
def parse_short(text: Bytes, position: Any, delimiters: Any) -> tuple[Any, Any, bool, bool, Any, bool]:
    """The digits at ``position`` as one number, how many are decimals, if < 0, if no point, the end, if it is short.

    Short are up to seven characters, digits with at most one point among them and perhaps a minus before, and then a
    blank, a control byte or the byte that ``delimiters`` holds eight times. For anything else the results mean nothing.
    """
    word: Any = load_word(text, position)  # type: ignore[call-arg]  # numba gives the context itself
    apart = word ^ delimiters
    ends = (((word - ABOVE_SPACE) & ~word) | ((apart - EACH) & ~apart)) & TOP_BITS
    bits = trailing_zeros(ends) & BYTE_BITS
    end = position + bits // BYTE  # known before the digits are looked at: the next number need not wait for them
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
    digits <<= WORD_BITS - bits  # leading zeros, and nothing behind the last digit
    digits = digits * TEN + (digits >> BYTE)  # in every second byte: two digits
    number = ((digits & PAIRS) * OUTER_PAIRS + ((digits >> (BYTE + BYTE)) & PAIRS) * INNER_PAIRS) >> HALF_BITS
    return number, decimals, negative, others == 0, end, is_short


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
