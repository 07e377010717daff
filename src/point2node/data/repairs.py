"""Mending lines of numbers that control bytes have crept into, by a rule that refuses to guess.

The public S3DIS archives were damaged by a flaw that cleared one bit (0x20) here and there: a space became NUL, the
digit 0 became 0x10, the digit 6 became 0x16. So the bit is set again first. Where that gives no sound line, the control
bytes are taken for separators, and where that gives too many numbers, for strays. Each result counts only if the whole
line is sound; at most one of the last two is, because they differ in how many numbers they leave. Bytes that are no
control bytes, and lines with too few numbers, are never touched.
"""

from __future__ import annotations

import re
from pathlib import Path

from point2node.data.number_lines import LineFormat, is_sound, parse_lines

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
