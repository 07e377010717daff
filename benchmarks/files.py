"""Reading a room from text and from NPY against ``numpy.loadtxt``: ``python -m benchmarks files``."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measure import Row, alternate
from point2node.formats import read, write

POINTS = 690_000  # about 20 MB of text


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        room, cache = Path(folder) / "room.txt", Path(folder) / "room.npy"
        write_room(room)
        write(cache, read(room))
        seconds = alternate(
            {
                "ours": lambda: read(room),
                "cache": lambda: read(cache),
                "loadtxt": lambda: np.loadtxt(room),
            },
            rounds=11,
        )
        megabytes = room.stat().st_size / 1e6
    name = f"room of {POINTS:,} points, {megabytes:.0f} MB of text"
    return [
        Row(name, seconds["loadtxt"] / seconds["ours"], 10, "x faster than numpy.loadtxt"),
        Row(f"{name}, as NPY", seconds["loadtxt"] / seconds["cache"], 100, "x faster than numpy.loadtxt"),
    ]


def write_room(path: Path) -> None:
    """Write a room as text like that of S3DIS: coordinates with three decimals, colours as bytes."""
    random = np.random.default_rng(0)
    xyz = random.random((POINTS, 3)) * [8, 6, 3]
    rgb = random.integers(0, 256, (POINTS, 3))
    np.savetxt(path, np.hstack([xyz, rgb]), fmt="%.3f %.3f %.3f %d %d %d")
