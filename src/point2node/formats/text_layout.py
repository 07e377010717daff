"""The layout of a text file of points: where the numbers start, what separates them, and the names of columns.

Before the numbers there can be comments (``#`` or ``//``), a line of names, and a line with only the number of points,
as in PTS files.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO

from point2node.core.errors import InputError
from point2node.formats.columns import plain_name
from point2node.formats.numbers import shown_line

COMMENTS = ("#", "//")
DELIMITERS = {" ": " ", "\t": " ", ",": ",", ";": ";"}  # any run of blanks and tabs separates
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
COUNT = re.compile(r"\d{1,18}")  # the range of 64 bits
MOST_LINES = 100  # before the first point
LONGEST_LINE = 10_000  # characters


@dataclass(frozen=True)
class Layout:
    """Where the numbers start and how to read them."""

    start: int
    """The first byte of the first line of numbers."""
    first_line: int
    """That line's number in the file, from 1."""
    width: int
    """How many numbers it holds."""
    delimiter: str
    names: list[str]
    """The names of the columns in the file; empty if it has none."""
    points: int | None
    """The number of points stated in the file, if any."""


def sniff_layout(path: Path, stream: BinaryIO, delimiter: str | None, skip: int) -> Layout:
    """Find the layout from the lines before the numbers; the first ``skip`` are ignored."""
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
                # a comment is prose unless it has as many words as there are columns
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
    """Skip the rest of the line that ``line`` is the start of, however long; False at the end of the file."""
    while line and not line.endswith(b"\n"):
        line = stream.readline(LONGEST_LINE)
    return bool(line)


def _find_delimiter(line: str) -> str:
    return next((mark for mark in (",", ";") if mark in line), " ")


def split_words(line: str, delimiter: str | None) -> list[str]:
    """Split a line by the given delimiter, or the one found in it."""
    mark = DELIMITERS[delimiter] if delimiter else _find_delimiter(line)
    words = line.split() if mark == " " else line.strip().removesuffix(mark).split(mark)
    return [word.strip().strip('"') for word in words]


def _names_columns(names: list[str], width: int) -> bool:
    return len(names) == width and {"x", "y", "z"} <= {name.lower() for name in names}


LINES_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class TextOrigin:
    """The text file of a cloud, and how it was read."""

    path: Path
    layout: Layout
    columns: tuple[str, ...]
    """The names used for the columns; "_" for those left out."""


def append_columns(origin: TextOrigin, columns: Mapping[str, Sequence[str]], stream: BinaryIO) -> None:
    """Copy the file to ``stream`` with the formatted values of ``columns`` appended to every point's line.

    A line of column names gets the new names as well; an old column of the same name gets the suffix ``_input``.
    """
    rows = zip(*columns.values(), strict=True)
    changed = InputError(origin.path, expected="the points that were labelled", found="others: the file has changed")
    with origin.path.open("rb") as source:
        stream.write(_renamed(source.read(origin.layout.start), origin.layout, list(columns)))
        while lines := list(islice(source, LINES_AT_ONCE)):
            pieces = []
            for line in lines:
                if not _holds_a_point(line):
                    pieces.append(line)
                elif (words := next(rows, None)) is not None:
                    pieces.append(_extended(line, words, origin.layout.delimiter))
                else:
                    raise changed
            stream.write(b"".join(pieces))
    if next(rows, None) is not None:
        raise changed


def _holds_a_point(line: bytes) -> bool:
    start = line.lstrip()[:2]
    return bool(start) and not any(start.startswith(mark.encode()) for mark in COMMENTS)


def _extended(line: bytes, words: Sequence[str], delimiter: str) -> bytes:
    """Append words to a line, before its comment and line ending if any."""
    content = line.rstrip(b"\r\n")
    ending = line[len(content) :]
    body, mark, comment = content.partition(b"#")
    kept = body.rstrip()
    if delimiter != " ":
        kept = kept.removesuffix(delimiter.encode())
    separator = b"\t" if delimiter == " " and b"\t" in kept and b" " not in kept else delimiter.encode()
    rest = (b" " + mark + comment) if mark else b""
    return kept + separator + separator.join(word.encode() for word in words) + rest + ending


def names_beside(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the old names; one that a new column also has gets the suffix ``_input``, or ``_input_2`` if taken."""
    names = list(old)
    for place, name in enumerate(old):
        if plain_name(name) in new:
            tried = (f"{name}_input{'' if number == 1 else f'_{number}'}" for number in count(1))
            names[place] = next(one for one in tried if one not in names)
    return names


def _renamed(head: bytes, layout: Layout, new: list[str]) -> bytes:
    """Return the text before the points, with the new names added to the line of names, if there is one."""
    return b"".join(_named(line, layout, new) for line in head.splitlines(keepends=True))


def _named(line: bytes, layout: Layout, new: list[str]) -> bytes:
    text = line.decode("utf-8", "replace").strip().lstrip("\ufeff")
    mark = next((mark for mark in COMMENTS if text.startswith(mark)), "")
    if not layout.names or split_words(text.removeprefix(mark), None) != layout.names:
        return line
    content = line.rstrip(b"\r\n")
    ending = line[len(content) :]
    for name, kept in zip(layout.names, names_beside(layout.names, new), strict=True):
        if kept != name:
            whole_word = rb"(?<![\w-])" + re.escape(name.encode()) + rb"(?![\w-])"
            content = re.sub(whole_word, kept.encode().replace(b"\\", b"\\\\"), content)
    words = [f'"{name}"' for name in new] if content.rstrip().endswith(b'"') else new
    separator = next((sign for sign in (b",", b";", b"\t") if sign in content), b" ")
    return content.rstrip() + separator + separator.join(word.encode() for word in words) + ending
