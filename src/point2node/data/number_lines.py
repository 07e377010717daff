"""Text files with a fixed count of numbers per line: read fast, damage reported by line and repaired if unambiguous."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.data.sources import Damage

NUMBER_BYTES = b"0123456789+-.eE \t\r\n,"
BLANKS = b" \t"
SHOWN_BYTES = 80


@dataclass(frozen=True)
class LineFormat:
    """The format of one line."""

    columns: tuple[str, ...]
    separator: str = " "
    """A space means any run of blanks."""
    colours: tuple[int, int] = (0, 0)
    """The slice of the columns that hold whole numbers from 0 to 255."""

    @property
    def expected(self) -> str:
        """Describe what a line should contain."""
        words = {3: "three", 6: "six", 7: "seven"}
        return f"{words.get(len(self.columns), len(self.columns))} numbers {' '.join(self.columns)}"


XYZ_RGB = LineFormat(("x", "y", "z", "r", "g", "b"), colours=(3, 6))
XYZ_NORMAL = LineFormat(("x", "y", "z", "nx", "ny", "nz"), separator=",")

Rows = NDArray[np.float64]


def read_bytes(path: Path) -> bytes:
    """Read a file's bytes; raises InputError for any OSError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(path, expected="a readable file", found=error.strerror or str(error)) from error


def parse_lines(data: bytes, form: LineFormat) -> tuple[Rows, dict[int, bytes]]:
    """Return the numbers of all undamaged lines (rows, columns), and the damaged lines by line number, from 1.

    Blank lines are skipped. The fast parser reads the whole file at once; only if it finds anything unusual does the
    careful one check every line.
    """
    rows = _parse_at_once(data, form)
    if rows is not None:
        return rows, {}
    lines = split_lines(data)
    damaged = {number: line for number, line in enumerate(lines, 1) if line.strip(BLANKS) and not is_sound(line, form)}
    undamaged = b"\n".join(line for number, line in enumerate(lines, 1) if number not in damaged)
    rows = _parse_at_once(undamaged, form)
    if rows is None:
        raise RuntimeError("the fast parser rejects lines that the careful one accepts")
    return rows, damaged


def describe_damage(path: str, damaged: dict[int, bytes]) -> tuple[Damage, ...]:
    """Convert damaged lines for findings and manifests."""
    return tuple(Damage(path, number, show_bytes(line)) for number, line in sorted(damaged.items()))


def split_lines(data: bytes) -> list[bytes]:
    """Split into lines without line ends, for any of the three kinds of line end."""
    if b"\n" not in data:
        return data.split(b"\r")
    return [line.removesuffix(b"\r") for line in data.split(b"\n")]


def is_sound(line: bytes, form: LineFormat) -> bool:
    """Return whether the line has exactly the expected numbers."""
    if not _pattern(form).fullmatch(line):
        return False
    fields = line.split() if form.separator == " " else line.split(form.separator.encode())
    values = [float(field) for field in fields]
    colours = values[slice(*form.colours)]
    return all(map(math.isfinite, values)) and all(0 <= value <= 255 and value.is_integer() for value in colours)


def show_bytes(line: bytes) -> str:
    """Format bytes as quoted text: non-printable and non-ASCII bytes are escaped, long lines are cut."""
    start = 0
    odd = re.search(rb"[^0-9+\-.eE \t,]", line)
    if odd and odd.start() > SHOWN_BYTES // 2:
        start = odd.start() - SHOWN_BYTES // 2
    shown = repr(line[start : start + SHOWN_BYTES])[2:-1]
    before, after = "…" * (start > 0), "…" * (start + SHOWN_BYTES < len(line))
    return f"'{before}{shown}{after}'"


def _parse_at_once(data: bytes, form: LineFormat) -> Rows | None:
    """Parse all rows with the fast parser; None if any line is not as expected."""
    from point2node.formats.numbers import parse_rows  # imports numba, which is not needed to list a data set

    if data.translate(None, NUMBER_BYTES):
        return None  # the fast parser would skip comments and read words such as nan
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        if b"\n" in data:
            return None  # the fast parser treats a carriage return inside a line as a blank
        data = data.replace(b"\r", b"\n")
    try:
        parsed = parse_rows(Path("lines"), data, delimiter=form.separator)
    except InputError:
        return None  # the careful pass lists all such lines
    if not (parsed.counts() == len(form.columns)).all():
        return None
    rows = parsed.values.reshape(-1, len(form.columns))
    return rows if _are_valid(rows, form) else None


def _are_valid(rows: Rows, form: LineFormat) -> bool:
    colours = rows[:, slice(*form.colours)]
    whole = ((colours >= 0) & (colours <= 255) & (colours == np.rint(colours))).all()
    return bool(whole and np.isfinite(rows).all())


@cache
def _pattern(form: LineFormat) -> re.Pattern[bytes]:
    number = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
    gap = rb"[ \t]+" if form.separator == " " else rb"[ \t]*" + re.escape(form.separator.encode()) + rb"[ \t]*"
    return re.compile(rb"[ \t]*" + gap.join([number] * len(form.columns)) + rb"[ \t]*")


# Repairing lines with control bytes, by a rule that never guesses. In the public S3DIS archives, one bit (0x20) was
# cleared in some bytes: a space became NUL, the digit 0 became 0x10, the digit 6 became 0x16. So the bit is set again
# first. If that gives no valid line, the control bytes are treated as separators, and if that gives too many numbers,
# they are removed. A result is used only if the whole line is valid; at most one of the last two can be, because they
# differ in the count of numbers. Other bytes, and lines with too few numbers, are never changed.

CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # all but the tab, which may separate numbers
CLEARED_BIT = 0x20


def repair_line(line: bytes, form: LineFormat) -> bytes | None:
    """Return the line as it was before the damage, or None if that is ambiguous."""
    restored = CONTROL_BYTES.sub(lambda match: bytes([match[0][0] | CLEARED_BIT]), line)
    separated, joined = CONTROL_BYTES.sub(b" ", line), CONTROL_BYTES.sub(b"", line)
    return next((candidate for candidate in (restored, separated, joined) if is_sound(candidate, form)), None)


def repair_file(data: bytes, form: LineFormat) -> tuple[bytes, dict[int, bytes | None]]:
    """Return the file's bytes with all repairable lines repaired, and the new text of the damaged lines by number.

    None marks a line that could not be repaired. Undamaged lines and line ends keep every byte.
    """
    _, damaged = parse_lines(data, form)
    repaired = {number: repair_line(line, form) for number, line in damaged.items()}
    end = b"\n" if b"\n" in data else b"\r"
    lines = data.split(end)
    for number, text in repaired.items():
        if text is not None:
            lines[number - 1] = text + (b"\r" if end == b"\n" and lines[number - 1].endswith(b"\r") else b"")
    return end.join(lines), repaired


def repaired_copy(path: Path, root: Path, repairs: Path | None) -> Path:
    """Return the corrected copy of ``path`` in ``repairs`` if there is one, otherwise ``path``."""
    if repairs is not None:
        copy = repairs / path.relative_to(root)
        if copy.is_file():
            return copy
    return path
