"""Texts in which every line holds equally many numbers, read straight into columns."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from point2node.core.point_cloud import Array
from point2node.formats.number_rows import PIECE

COORDINATES = 3
PADDING = 8  # bytes that the kernel may look at behind the last line


def parse_table(stream: BinaryIO, width: int, delimiter: str) -> list[Array] | None:
    """The ``width`` columns of the rest of a file, or None where any line is not that many plain numbers.

    The first three are float64 and lie side by side; of the others those without a fraction are int64. Comments and
    numbers of more than 53 bits are not read here either: what this refuses, ``parse_rows`` reads or names.
    """
    if width < COORDINATES:
        return None
    from point2node.formats import (
        number_kernels,
        table_kernels,  # numba: half a second that few imports need
    )

    text = _read_padded(stream)
    mark = number_kernels.NO_DELIMITER if delimiter.isspace() else ord(delimiter)
    bounds = [0]
    while bounds[-1] < len(text) - PADDING:
        bounds.append(table_kernels.next_line(text, min(bounds[-1] + PIECE, len(text) - PADDING - 1)))
    with ThreadPoolExecutor(min(len(bounds) - 1, os.cpu_count() or 1)) as threads:
        lines = threads.map(partial(table_kernels.count_lines, text), bounds, bounds[1:])
        starts = np.cumsum([0, *lines]).tolist()
        xyz = np.empty((starts[-1], COORDINATES))
        small = np.empty((width - COORDINATES, starts[-1]), np.uint8)
        large = np.empty(small.shape)  # costs nothing until it is used
        kinds = np.full(width, table_kernels.BYTES, np.uint8)
        fill = partial(table_kernels.fill_table, text, mark, kinds, xyz, small, large)
        while True:
            ends, troubles = zip(*threads.map(fill, bounds, bounds[1:], starts), strict=True)
            if table_kernels.IRREGULAR in troubles:
                return None
            if max(troubles) == table_kernels.REGULAR:
                break
            kinds[max(troubles)] += 1  # it holds larger numbers or fractions: once more
    if ends != tuple(starts[1:]):  # blank lines left gaps
        filled = np.concatenate([np.arange(*rows) for rows in zip(starts, ends, strict=False)])
        xyz, small, large = xyz[filled], small[:, filled], large[:, filled]
    held = {
        table_kernels.BYTES: small.__getitem__,
        table_kernels.WHOLE_NUMBERS: lambda column: large[column].astype(np.int64),
        table_kernels.FRACTIONS: large.__getitem__,
    }
    return [*xyz.T, *(held[kind](column) for column, kind in enumerate(kinds[COORDINATES:].tolist()))]


def _read_padded(stream: BinaryIO) -> NDArray[np.uint8]:
    """The rest of the file, ended by a newline, and ``PADDING``; numpy's memory comes in larger pages than Python's."""
    size = os.fstat(stream.fileno()).st_size - stream.tell()
    text = np.empty(size + 1 + PADDING, np.uint8)
    size = stream.readinto(text[:size])  # type: ignore[attr-defined]  # every file opened in binary mode has it
    text[size:] = ord("\n")
    return text[: size + PADDING + (text[size - 1] != ord("\n"))]
