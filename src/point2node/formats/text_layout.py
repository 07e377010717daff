"""How a text file of points is laid out: where the numbers begin, what separates them, what the columns are called.

Before the numbers there may be comments (``#`` or ``//``), a line of names, and a line that holds nothing but the
number of points, as PTS files have.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from point2node.core.errors import InputError
from point2node.formats.number_rows import shown_line

COMMENTS = ("#", "//")
DELIMITERS = {" ": " ", "\t": " ", ",": ",", ";": ";"}  # any run of blanks and tabs separates alike
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
COUNT = re.compile(r"\d{1,18}")  # what 64 bits hold
MOST_LINES = 100  # before the first point
LONGEST_LINE = 10_000  # characters


@dataclass(frozen=True)
class Layout:
    """Where the numbers begin and how to read them."""

    start: int
    """The first byte of the first line of numbers."""
    first_line: int
    """That line's number in the file, from 1."""
    width: int
    """How many numbers it holds."""
    delimiter: str
    names: list[str]
    """What the file calls its columns; empty where it does not say."""
    points: int | None
    """How many points the file says that it has, if it does."""


def sniff_layout(path: Path, stream: BinaryIO, delimiter: str | None, skip: int) -> Layout:
    """Look at the lines before the numbers; the first ``skip`` of them do not count."""
    if delimiter is not None and delimiter not in DELIMITERS:
        raise InputError("delimiter", expected="a blank, a tab, ',' or ';'", found=repr(delimiter))
    if skip < 0:
        raise InputError("skip", expected="a number of lines, 0 or more", found=str(skip))
    start = len(codecs.BOM_UTF8) if stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0
    comment_names, header_names = list[str](), list[str]()
    points: int | None = None
    for number in range(1, skip + MOST_LINES + 1):
        stream.seek(start)
        written = stream.readline(LONGEST_LINE)
        line = written.decode("utf-8", "replace").strip()
        mark = next((mark for mark in COMMENTS if line.startswith(mark)), None)
        if number <= skip or not line:
            pass
        elif mark is not None:
            comment_names = split_words(line.removeprefix(mark), delimiter) or comment_names
        else:
            words = split_words(line.split("#")[0], delimiter)
            numeric = [NUMBER.fullmatch(word) is not None for word in words]
            if len(words) == 1 and COUNT.fullmatch(words[0]) and points is None:
                points = int(words[0])
            elif all(numeric):
                separator = DELIMITERS[delimiter] if delimiter else _find_delimiter(line)
                # a comment is prose unless it names as many columns as there are
                names = header_names or (comment_names if _names_columns(comment_names, len(words)) else [])
                return Layout(start, number, len(words), separator, names, points)
            elif any(numeric) or header_names:
                found = shown_line(written, 0)
                raise InputError(f"{path}, line {number}", expected="numbers, or the names of columns", found=found)
            else:
                header_names = words
        if not _skip_rest(stream, written):
            break
        start = stream.tell()
    raise InputError(path, expected=f"a line of numbers among the first {skip + MOST_LINES}", found="none")


def _skip_rest(stream: BinaryIO, line: bytes) -> bool:
    """Go to the next line, however long the one is that ``line`` is the beginning of; False at the end."""
    while line and not line.endswith(b"\n"):
        line = stream.readline(LONGEST_LINE)
    return bool(line)


def _find_delimiter(line: str) -> str:
    return next((mark for mark in (",", ";") if mark in line), " ")


def split_words(line: str, delimiter: str | None) -> list[str]:
    """The words of a line, by the delimiter that is given or found in it."""
    mark = DELIMITERS[delimiter] if delimiter else _find_delimiter(line)
    words = line.split() if mark == " " else line.strip().removesuffix(mark).split(mark)
    return [word.strip().strip('"') for word in words]


def _names_columns(names: list[str], width: int) -> bool:
    return len(names) == width and {"x", "y", "z"} <= {name.lower() for name in names}
