"""Text files of numbers, a fixed count a line: read fast, damage named by line, and repaired where that is no guess."""

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
    """What one line holds."""

    columns: tuple[str, ...]
    separator: str = " "
    """A space stands for any run of blanks."""
    colours: tuple[int, int] = (0, 0)
    """The first, and the one after the last, of the columns that hold whole numbers from 0 to 255."""

    @property
    def expected(self) -> str:
        """What a line should be, in words."""
        words = {3: "three", 6: "six", 7: "seven"}
        return f"{words.get(len(self.columns), len(self.columns))} numbers {' '.join(self.columns)}"


XYZ_RGB = LineFormat(("x", "y", "z", "r", "g", "b"), colours=(3, 6))
XYZ_NORMAL = LineFormat(("x", "y", "z", "nx", "ny", "nz"), separator=",")

Rows = NDArray[np.float64]


def read_bytes(path: Path) -> bytes:
    """The file's bytes; what the system refuses becomes an InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(path, expected="a readable file", found=error.strerror or str(error)) from error


def parse_lines(data: bytes, form: LineFormat) -> tuple[Rows, dict[int, bytes]]:
    """The numbers of every sound line (rows, columns), and the damaged lines by their number, counted from 1.

    Lines that are blank hold no point and are passed over. The fast parser reads the whole file at once; only if
    anything about it is odd does the careful one look at each line.
    """
    rows = _parse_at_once(data, form)
    if rows is not None:
        return rows, {}
    lines = split_lines(data)
    damaged = {number: line for number, line in enumerate(lines, 1) if line.strip(BLANKS) and not is_sound(line, form)}
    sound = b"\n".join(line for number, line in enumerate(lines, 1) if number not in damaged)
    rows = _parse_at_once(sound, form)
    if rows is None:
        raise RuntimeError("the fast parser refuses lines that the careful one takes")
    return rows, damaged


def describe_damage(path: str, damaged: dict[int, bytes]) -> tuple[Damage, ...]:
    """Damaged lines as findings and manifests list them."""
    return tuple(Damage(path, number, show_bytes(line)) for number, line in sorted(damaged.items()))


def split_lines(data: bytes) -> list[bytes]:
    """Lines without their ends, whichever of the three kinds of line end the file has."""
    if b"\n" not in data:
        return data.split(b"\r")
    return [line.removesuffix(b"\r") for line in data.split(b"\n")]


def is_sound(line: bytes, form: LineFormat) -> bool:
    """Whether the line holds exactly the numbers it should."""
    if not _pattern(form).fullmatch(line):
        return False
    fields = line.split() if form.separator == " " else line.split(form.separator.encode())
    values = [float(field) for field in fields]
    colours = values[slice(*form.colours)]
    return all(map(math.isfinite, values)) and all(0 <= value <= 255 and value.is_integer() for value in colours)


def show_bytes(line: bytes) -> str:
    """The bytes as a quoted text: what is not a printing ASCII character is escaped, what is endless is cut."""
    start = 0
    odd = re.search(rb"[^0-9+\-.eE \t,]", line)
    if odd and odd.start() > SHOWN_BYTES // 2:
        start = odd.start() - SHOWN_BYTES // 2
    shown = repr(line[start : start + SHOWN_BYTES])[2:-1]
    before, after = "…" * (start > 0), "…" * (start + SHOWN_BYTES < len(line))
    return f"'{before}{shown}{after}'"


def _parse_at_once(data: bytes, form: LineFormat) -> Rows | None:
    """All rows by the fast parser, or None if any line is not what it should be."""
    from point2node.formats.numbers import parse_rows  # loads numba, which listing a data set does not need

    if data.translate(None, NUMBER_BYTES):
        return None  # the fast parser would pass over comments and read words such as nan
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        if b"\n" in data:
            return None  # to the fast parser a carriage return inside a line is a blank
        data = data.replace(b"\r", b"\n")
    try:
        parsed = parse_rows(Path("lines"), data, delimiter=form.separator)
    except InputError:
        return None  # the careful pass says which lines, all of them
    if not (parsed.counts() == len(form.columns)).all():
        return None
    rows = parsed.values.reshape(-1, len(form.columns))
    return rows if _are_sensible(rows, form) else None


def _are_sensible(rows: Rows, form: LineFormat) -> bool:
    colours = rows[:, slice(*form.colours)]
    whole = ((colours >= 0) & (colours <= 255) & (colours == np.rint(colours))).all()
    return bool(whole and np.isfinite(rows).all())


@cache
def _pattern(form: LineFormat) -> re.Pattern[bytes]:
    number = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
    gap = rb"[ \t]+" if form.separator == " " else rb"[ \t]*" + re.escape(form.separator.encode()) + rb"[ \t]*"
    return re.compile(rb"[ \t]*" + gap.join([number] * len(form.columns)) + rb"[ \t]*")


# Repairing lines that control bytes have crept into, by a rule that refuses to guess. The public S3DIS archives were
# damaged by a flaw that cleared one bit (0x20) here and there: a space became NUL, the digit 0 became 0x10, the digit
# 6 became 0x16. So the bit is set again first. Where that gives no sound line, the control bytes are taken for
# separators, and where that gives too many numbers, for strays. Each result counts only if the whole line is sound; at
# most one of the last two is, because they differ in how many numbers they leave. Bytes that are no control bytes, and
# lines with too few numbers, are never touched.

CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # all but the tab, which may separate numbers
CLEARED_BIT = 0x20


def repair_line(line: bytes, form: LineFormat) -> bytes | None:
    """The line as it was before the damage, or None where that cannot be told."""
    restored = CONTROL_BYTES.sub(lambda match: bytes([match[0][0] | CLEARED_BIT]), line)
    separated, joined = CONTROL_BYTES.sub(b" ", line), CONTROL_BYTES.sub(b"", line)
    return next((candidate for candidate in (restored, separated, joined) if is_sound(candidate, form)), None)


def repair_file(data: bytes, form: LineFormat) -> tuple[bytes, dict[int, bytes | None]]:
    """The file's bytes with every repairable line repaired, and the damaged lines' new text by number.

    None stands for a line that was left as it was. Sound lines and line ends keep every byte.
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
    """The corrected copy of ``path`` in ``repairs`` if there is one, else ``path`` itself."""
    if repairs is not None:
        copy = repairs / path.relative_to(root)
        if copy.is_file():
            return copy
    return path
