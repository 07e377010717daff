"""New columns behind those of a text file, whose own characters stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO

from point2node.core.errors import InputError
from point2node.formats.columns import plain_name
from point2node.formats.text_layout import COMMENTS, Layout, split_words

LINES_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class TextOrigin:
    """Where a cloud's text is, and how it was read."""

    path: Path
    layout: Layout
    columns: tuple[str, ...]
    """The names that were given to the columns; "_" for those left out."""


def append_columns(origin: TextOrigin, columns: Mapping[str, Sequence[str]], stream: BinaryIO) -> None:
    """Copy the file into ``stream`` with the written values of ``columns`` at the end of every point's line.

    Where a line names the columns, it names the new ones as well; an old one of the same name gets ``_input`` behind.
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
    """A line with more words, before the comment and the line ending that it may have."""
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
    """The old names; one that a new column has, too, gets ``_input`` behind, or ``_input_2`` where that is taken."""
    names = list(old)
    for place, name in enumerate(old):
        if plain_name(name) in new:
            tried = (f"{name}_input{'' if number == 1 else f'_{number}'}" for number in count(1))
            names[place] = next(one for one in tried if one not in names)
    return names


def _renamed(head: bytes, layout: Layout, new: list[str]) -> bytes:
    """What stands before the points, with the new names in the line of names, if there is one."""
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
