"""The numba kernels that parse decimal numbers in text, about as fast as the text can be scanned.

A number of at most 53 significant bits, scaled by a power of ten that is exact in a double, needs one
multiplication or division and is then correctly rounded (Clinger 1990). Longer ones are marked ``LONG``, and the
caller converts those with a slower, always correct routine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel

Bytes = NDArray[np.uint8]

WHOLE = 1  # flag: written without a decimal point or exponent
LONG = 2  # flag: not exact with one multiplication; the value is the token's position in the text instead

NO_DELIMITER = 256  # not a byte: a NUL in the text is damage, not a delimiter

TAB, NEWLINE, RETURN, SPACE, HASH, SLASH = 9, 10, 13, 32, 35, 47
PLUS, MINUS, POINT = 43, 45, 46
DIGIT_0, DIGIT_9 = 48, 57
LOWER_E, TO_LOWER = 101, 32  # a letter | 32 is its lower case

MOST_DIGITS = 19  # always fit 64 bits
BEYOND_DOUBLES = np.uint64(9999)  # an exponent that tells the caller that the number is a long one
LARGEST_EXACT = np.uint64(2**53)
POWERS = 10.0 ** np.arange(23)  # the powers of ten that are exact in a double
NAN, INFINITY = np.frombuffer(b"nan", np.uint8), np.frombuffer(b"infinity", np.uint8)


@kernel()
def parse_numbers(
    text: Bytes, delimiter: int, values: Any, flags: Bytes, row_ends: Any, row_lines: Any
) -> tuple[int, int, int, int]:
    """Fill ``values`` and ``flags`` (per number) and ``row_ends``, ``row_lines`` (per line with numbers).

    Returns the count of numbers, rows and lines, and the position of the first byte outside any number, or -1.
    ``#`` starts a comment anywhere, ``//`` at the start of a line. Blanks separate numbers; with a
    ``delimiter`` other than ``NO_DELIMITER``, exactly one must be between two numbers, and one more can end a line.
    ``text`` must end with a newline: its end is not checked otherwise.
    """
    size, position = len(text), 0
    numbers = rows = line = first = 0
    wants_number = True
    while position < size:
        byte = text[position]
        if not DIGIT_0 <= byte <= DIGIT_9:  # checked first, because it is usually a digit
            if byte == NEWLINE:
                if numbers > first:
                    row_ends[rows], row_lines[rows] = numbers, line
                    rows, first = rows + 1, numbers
                line += 1
                position += 1
                wants_number = True
                continue
            if byte in (SPACE, TAB, RETURN):
                position += 1
                continue
            if byte == HASH or (byte == SLASH and numbers == first and text[position + 1] == SLASH):
                while text[position] != NEWLINE:
                    position += 1
                continue
            if byte == delimiter and not wants_number:
                position += 1
                wants_number = True
                continue
        if delimiter != NO_DELIMITER and not wants_number:
            return numbers, rows, line, position
        value, flag, end = parse_number(text, position)
        if end < 0 or not (text[end] <= SPACE or text[end] in (delimiter, HASH)):
            return numbers, rows, line, position
        values[numbers], flags[numbers] = value, flag
        numbers += 1
        position = end + (text[end] == SPACE)  # the usual single blank, without another iteration
        wants_number = False
    return numbers, rows, line, -1


@kernel()
def parse_number(text: Bytes, start: Any) -> tuple[float, int, int]:
    """Parse the number at ``start``: value, flag and end; the end is -1 if there is none."""
    position, negative = start, text[start] == MINUS
    if negative or text[start] == PLUS:
        position += 1
    digits_start = position
    mantissa, position = _parse_digits(text, position, np.uint64(0))
    digits, decimals, whole = position - digits_start, 0, True
    if text[position] == POINT:
        whole = False
        mantissa, end = _parse_digits(text, position + 1, mantissa)
        decimals = end - position - 1
        digits += decimals
        position = end
    if digits == 0:
        return _parse_word(text, position, negative) if whole else (0.0, 0, -1)
    scale = -decimals
    if text[position] | TO_LOWER == LOWER_E:
        whole = False
        exponent, position = _parse_exponent(text, position + 1)
        scale += exponent
        if position < 0:
            return 0.0, 0, -1
    flag = WHOLE if whole else 0
    if digits > MOST_DIGITS or mantissa > LARGEST_EXACT or abs(scale) >= len(POWERS):
        return float(start), flag | LONG, position
    value = float(np.int64(mantissa))  # signed: faster to convert
    value = value * POWERS[scale] if scale >= 0 else value / POWERS[-scale]
    return -value if negative else value, flag, position


@kernel()
def _parse_digits(text: Bytes, position: int, mantissa: Any) -> tuple[Any, Any]:
    """Append the digits at ``position`` to ``mantissa``; returns it and their end. It is wrong beyond 19 digits."""
    place = np.uint64(position)  # unsigned: avoids the check for a negative index
    digit = np.uint64(text[place]) - np.uint64(DIGIT_0)  # wraps around to far above 9 for bytes before '0'
    while digit <= np.uint64(9):
        mantissa = mantissa * np.uint64(10) + digit
        place += np.uint64(1)
        digit = np.uint64(text[place]) - np.uint64(DIGIT_0)
    return mantissa, np.int64(place)


@kernel()
def _parse_exponent(text: Bytes, position: int) -> tuple[Any, int]:
    """Parse the exponent at ``position``: value and end (-1 if there is none)."""
    negative = text[position] == MINUS
    if negative or text[position] == PLUS:
        position += 1
    written, end = _parse_digits(text, position, np.uint64(0))
    if end == position or end - position > MOST_DIGITS:
        return 0, -1
    exponent = np.int64(min(written, BEYOND_DOUBLES))
    return -exponent if negative else exponent, end


@kernel()
def _parse_word(text: Bytes, position: int, negative: bool) -> tuple[float, int, int]:
    """Parse ``nan``, ``inf`` or ``infinity``, in any case."""
    if _matches(text, position, NAN):
        return np.nan, 0, position + 3
    infinite = -np.inf if negative else np.inf
    if _matches(text, position, INFINITY):
        return infinite, 0, position + 8
    if _matches(text, position, INFINITY[:3]):
        return infinite, 0, position + 3
    return 0.0, 0, -1


@kernel()
def _matches(text: Bytes, position: int, word: Bytes) -> bool:
    length = 0
    while length < len(word) and text[position + length] | TO_LOWER == word[length]:
        length += 1  # never beyond the end of the text: no word contains a newline
    return length == len(word)


@kernel()
def copy_numbers(text: Bytes, starts: Any, delimiter: int, out: Bytes) -> int:
    """Copy the numbers at ``starts`` into the rows of ``out``; returns the first that is too long, or -1."""
    for row in range(len(starts)):
        position, column = starts[row], 0
        while True:
            byte = text[position]
            if byte <= SPACE or byte in (delimiter, HASH):
                break
            if column == out.shape[1]:
                return row
            out[row, column] = byte
            position += 1
            column += 1
    return -1
