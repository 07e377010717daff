"""Point clouds that are read and written piece by piece, so that memory does not grow with their number of points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud

POINTS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Pieces:
    """A file whose points can be read in order, again and again, without holding all of them."""

    points: int
    """How many there are."""
    row: int
    """Bytes of one point."""
    read: Callable[[], Iterator[PointCloud]]
    """The points from the first to the last, the same pieces each time; all have the same parts and fields."""


def rows_in_pieces(path: Path, row: np.dtype[Any], count: int, offset: int) -> Iterator[Array]:
    """The rows of a table inside a file, as copies of some at a time: a map would be held as long as they are."""
    with path.open("rb") as stream:
        stream.seek(offset)
        for start in range(0, count, POINTS_AT_ONCE):
            rows = np.fromfile(stream, row, min(POINTS_AT_ONCE, count - start))
            if len(rows) < min(POINTS_AT_ONCE, count - start):
                raise InputError(path, expected=f"{count} points", found=f"{start + len(rows)}")
            yield rows


def check_alike(path: Path, first: object, other: object) -> None:
    """Refuse to write pieces one behind the other whose points are not described in the same way."""
    if first != other:
        raise InputError(
            path,
            expected="columns of the same types throughout, to write them piece by piece",
            found=f"{first}, then {other}",
            remedy="Allow more with --memory, or cut it into parts.",
        )
