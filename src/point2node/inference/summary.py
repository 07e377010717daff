"""A table of all labelled scans in a folder, as JSON and CSV: points, seconds, classes, doubts, errors."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from point2node._version import __version__
from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.words import as_text
from point2node.core.writing import reason, replacing
from point2node.data.remote import Place
from point2node.inference.jobs import read_note
from point2node.inference.scans import Shard

NAME = "summary"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters that spreadsheets take as the start of a formula; file names may start with them."""
PATIENCE = 20
"""The table is written again after this many times the duration of the last write."""


@dataclass(frozen=True)
class Row:
    """The outcome of one scan."""

    scan: str
    """The scan as the user named it, without passwords."""
    output: str | None = None
    """The labelled file, relative to the folder; None for a scan that failed."""
    points: int | None = None
    seconds: float | None = None
    """The time to read, label and write it; None if unknown."""
    counts: dict[str, int] = field(default_factory=dict)
    """The number of points of each class."""
    doubts: tuple[str, ...] = ()
    """Possible problems of the scan, and fixes."""
    error: str | None = None


ROWS = TypeAdapter(list[Row])


class Summary:
    """The rows of this run, and those of earlier runs if their labelled files still exist.

    Args:
        folder: the folder of the labelled scans.
        shard: the shard of scans in this run; it gets a separate table, since others write at the same time.
    """

    def __init__(self, folder: Place, shard: Shard | None = None) -> None:
        self._folder = folder
        self._name = NAME if shard is None else f"{NAME}_{shard.number}_of_{shard.count}"
        earlier = [row for path in self._earlier(shard) for row in _read_rows(path)]
        self._earlier_rows = {
            row.output: row for row in earlier if row.output is not None and self._is_there(row.output)
        }
        self._rows: dict[str, Row] = {}
        self._written, self._took = 0.0, 0.0

    def _earlier(self, shard: Shard | None) -> list[Place]:
        """Return the tables to take rows from: this one, and those of all shards if this is the full table."""
        own: list[Place] = [self._folder / f"{self._name}.json"]
        if shard is not None or not isinstance(self._folder, Path):
            return own
        return [*sorted(self._folder.glob(f"{NAME}_*_of_*.json")), *own]

    def _is_there(self, output: str) -> bool:
        return not isinstance(self._folder, Path) or (self._folder / output).is_file()

    def recall(self, scan: str, output: Place) -> Row:
        """Return the row of a scan that was already labelled: its earlier row, or one made from its sidecar."""
        place = self.relative(output)
        earlier = self._earlier_rows.get(place)
        if earlier is not None:
            return earlier
        note = read_note(output)
        try:
            (row,) = ROWS.validate_python(
                [{"scan": scan, "output": place, "points": note.get("points"), "counts": note.get("counts", {})}]
            )
        except ValidationError:
            return Row(scan, place)
        return row

    def relative(self, output: Place) -> str:
        """Return the path of a labelled file relative to the folder."""
        return as_text(output.relative_to(self._folder).as_posix())  # type: ignore[arg-type]

    def add(self, row: Row) -> None:
        """Add the row of a scan, and write the table unless it was just written."""
        self._rows[row.scan] = row
        if time.monotonic() - self._written > PATIENCE * self._took:
            self.write()

    def write(self) -> None:
        """Write both files, each atomically."""
        start = time.monotonic()
        rows = self.rows
        self._replace(f"{self._name}.json", encode_json(rows))
        self._replace(f"{self._name}.csv", encode_csv(rows))
        self._written = time.monotonic()
        self._took = self._written - start

    @property
    def rows(self) -> list[Row]:
        """All rows, sorted by the names of the scans."""
        new = list(self._rows.values())
        outputs, scans = {row.output for row in new}, {row.scan for row in new}
        earlier = self._earlier_rows.values()
        kept = [row for row in earlier if row.output not in outputs and row.scan not in scans]
        return sorted([*new, *kept], key=lambda row: row.scan)

    def _replace(self, name: str, content: bytes) -> None:
        place = self._folder / name
        if isinstance(place, Path):
            with replacing(place) as stream:
                stream.write(content)
            return
        try:
            place.write_bytes(content)
        except OSError as error:
            raise InputError(place, expected="a file that can be written", found=reason(error)) from error


def encode_json(rows: Iterable[Row]) -> bytes:
    """Encode the table as a JSON document with totals."""
    rows = list(rows)
    table = {
        "format": 1,
        "point2node": __version__,
        "scans": len(rows),
        "failed": sum(row.error is not None for row in rows),
        "points": sum(row.points or 0 for row in rows),
        "seconds": round(sum(row.seconds or 0.0 for row in rows), 1),
        "rows": [asdict(row) for row in rows],
    }
    return (json.dumps(table, indent=1, ensure_ascii=False) + "\n").encode()


def encode_csv(rows: Iterable[Row]) -> bytes:
    """Encode the table as CSV for spreadsheets, with a column for each class."""
    rows = list(rows)
    classes = list(dict.fromkeys(name for row in rows for name in row.counts))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["scan", "output", "points", "seconds", "doubts", "error", *(_cell(name) for name in classes)])
    for row in rows:
        words = (row.scan, row.output, row.points, row.seconds, "; ".join(row.doubts), row.error)
        writer.writerow([_cell(word) for word in (*words, *(row.counts.get(name, "") for name in classes))])
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _read_rows(path: Place) -> list[Row]:
    """Read the rows of an earlier table; empty if there is no readable one."""
    try:
        table = parse_json(path.read_text(encoding="utf-8"))
        return ROWS.validate_python(table["rows"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
