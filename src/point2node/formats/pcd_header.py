"""The header of a PCD file: which fields each point has, how many points, and how they are stored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from point2node.core.errors import InputError

STORAGES = ("ascii", "binary", "binary_compressed")
LONGEST = 1 << 20  # bytes: a header beyond that is none
WIDEST = 1 << 16  # numbers per field and point: far above any descriptor's
NO_VIEWPOINT = ("0", "0", "0", "1", "0", "0", "0")  # a sensor at the origin, not turned
TYPES = {("F", 4), ("F", 8), *((kind, size) for kind in "UI" for size in (1, 2, 4, 8))}


@dataclass(frozen=True)
class Field:
    """``count`` numbers of each point under one name."""

    name: str
    dtype: np.dtype[np.generic]
    count: int

    def size(self) -> int:
        """Bytes of one point's numbers."""
        return self.dtype.itemsize * self.count


@dataclass(frozen=True)
class Header:
    """What the header says, and where the data begins."""

    fields: list[Field]
    width: int
    height: int
    viewpoint: str
    storage: str
    lines: int
    size: int
    """The header's length in bytes."""

    def points(self) -> int:
        """How many points there are."""
        return self.width * self.height


def read_header(path: Path, data: bytes) -> Header:
    """Read the header at the start of ``data``; it ends with the line DATA."""
    entries: dict[str, list[str]] = {}
    lines = offset = 0
    while "DATA" not in entries:
        end = data.find(b"\n", offset, LONGEST)
        if end < 0:
            raise InputError(path, expected="a PCD file, whose header ends with a line DATA", found="no such line")
        words = data[offset:end].decode("latin-1").split("#")[0].split()
        lines, offset = lines + 1, end + 1
        if words:
            entries[words[0].upper()] = words[1:]
    try:
        names, points = entries["FIELDS"], int(entries["POINTS"][0]) if "POINTS" in entries else None
        kinds, sizes = entries["TYPE"], [int(size) for size in entries["SIZE"]]
        counts = [int(count) for count in entries.get("COUNT", ["1"] * len(names))]
        width = int(entries["WIDTH"][0]) if points is None or "WIDTH" in entries else points
        height = int(entries.get("HEIGHT", ["1"])[0])
        storage = entries["DATA"][0].lower()
        described = list(zip(names, kinds, sizes, counts, strict=True))
        if not described:
            raise ValueError("no FIELDS")
    except (LookupError, ValueError, TypeError) as error:
        raise InputError(path, expected="a PCD header", found=f"a damaged one ({error})") from error
    known = all((kind, size) in TYPES for _, kind, size, _ in described)
    if not known or storage not in STORAGES:
        found = f"TYPE {' '.join(kinds)}, SIZE {' '.join(entries['SIZE'])}, DATA {storage}"
        raise InputError(path, expected="types, sizes and a storage that PCD has", found=found)
    if min(width, height, *counts) < 0 or max(counts) > WIDEST:
        found = f"WIDTH {width}, HEIGHT {height}, COUNT {' '.join(entries.get('COUNT', []))}"
        raise InputError(path, expected=f"sizes that are not negative, counts up to {WIDEST}", found=found)
    if points is not None and points != width * height:
        raise InputError(path, expected="POINTS to be WIDTH × HEIGHT", found=f"{points} and {width} × {height}")
    fields = [Field(name, np.dtype(f"<{kind.lower()}{size}"), count) for name, kind, size, count in described]
    viewpoint = " ".join(entries.get("VIEWPOINT", NO_VIEWPOINT))
    return Header(fields, width, height, viewpoint, storage, lines, offset)
