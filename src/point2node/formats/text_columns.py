"""What the columns of a text file are, where it does not say so itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.core.point_cloud import Array

UNIT_LENGTH = (0.98, 1.02)  # of a normal that was written with a few digits


def guess_columns(path: Path, columns: list[Array]) -> list[str]:
    """Names for the columns, by how many there are and by their values; the first three are always x, y and z.

    | columns | meaning                                                                                    |
    |---------|--------------------------------------------------------------------------------------------|
    | 4       | ``label`` where it is whole numbers from 0 on (never in PTS), else ``intensity``           |
    | 6       | ``nx ny nz`` where those have length 1 and are no whole numbers, else ``r g b``            |
    | 7       | ``intensity r g b`` in PTS, or where the fourth is no colour; else ``r g b label``         |
    | 8       | ``r g b label instance``                                                                   |
    | 9       | ``r g b nx ny nz``                                                                         |

    Columns that fit none of this are kept as the fields ``column_4``, ``column_5`` …
    """
    extra = columns[3:]
    is_pts = path.suffix.lower() == ".pts"
    names = [f"column_{number}" for number in range(4, len(columns) + 1)]
    if len(extra) == 1:
        names = ["label"] if _are_numbers_of_things(extra[0]) and not is_pts else ["intensity"]
    elif len(extra) == 3:
        if _are_normals(extra):
            names = ["nx", "ny", "nz"]
        elif _are_colours(extra):
            names = ["r", "g", "b"]
    elif len(extra) == 4:
        if (is_pts or not _are_colours(extra[:1])) and _are_colours(extra[1:]):
            names = ["intensity", "r", "g", "b"]
        elif _are_colours(extra[:3]) and _are_numbers_of_things(extra[3]):
            names = ["r", "g", "b", "label"]
    elif len(extra) == 5:
        if _are_colours(extra[:3]) and all(_are_numbers_of_things(column) for column in extra[3:]):
            names = ["r", "g", "b", "label", "instance"]
    elif len(extra) == 6 and _are_colours(extra[:3]) and _are_normals(extra[3:]):
        names = ["r", "g", "b", "nx", "ny", "nz"]
    return ["x", "y", "z"][: len(columns)] + names


def _are_colours(columns: list[Array]) -> bool:
    """Whole numbers from 0 to 255, or fractions from 0 to 1 or to 255, all three alike."""
    return all(column.min() >= 0 and column.max() <= 255 for column in columns)


def _are_numbers_of_things(column: Array) -> bool:
    return column.dtype.kind in "iu" and bool(column.min() >= 0 and column.max() < 2**31)


def _are_normals(columns: list[Array]) -> bool:
    """Vectors of length 1; some may be 0, where a normal could not be computed."""
    if all(column.dtype.kind in "iu" for column in columns):
        return False
    lengths = np.linalg.norm(np.stack(columns, axis=1), axis=1)
    units = (lengths > UNIT_LENGTH[0]) & (lengths < UNIT_LENGTH[1])
    return bool((units | (lengths == 0)).all() and units.any())
