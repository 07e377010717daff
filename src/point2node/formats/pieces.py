"""Point clouds that are read and written in pieces, so that memory does not grow with the number of points."""

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
    """A file whose points can be read in order, repeatedly, without loading all of them."""

    points: int
    """How many there are."""
    row: int
    """Bytes of one point."""
    read: Callable[[], Iterator[PointCloud]]
    """Yield the points in order, the same pieces each time; all have the same parts and fields."""


def rows_in_pieces(path: Path, row: np.dtype[Any], count: int, offset: int) -> Iterator[Array]:
    """Yield the rows of a table in a file in pieces, as copies: views would keep a memory map alive."""
    with path.open("rb") as stream:
        stream.seek(offset)
        for start in range(0, count, POINTS_AT_ONCE):
            rows = np.fromfile(stream, row, min(POINTS_AT_ONCE, count - start))
            if len(rows) < min(POINTS_AT_ONCE, count - start):
                raise InputError(path, expected=f"{count} points", found=f"{start + len(rows)}")
            yield rows


def check_alike(path: Path, first: object, other: object) -> None:
    """Raise InputError if pieces to be written to one file have different columns."""
    if first != other:
        raise InputError(
            path,
            expected="columns of the same types throughout, to write them piece by piece",
            found=f"{first}, then {other}",
            remedy="Allow more with --memory, or cut it into parts.",
        )
