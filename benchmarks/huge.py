"""A scan that is larger than memory: ``make bench-huge``, or ``python -m benchmarks.huge POINTS`` for another size.

Generated rooms next to each other are scanned so densely that they have 200 million points, which are written as LAZ.
The whole command ``point2node predict --memory 4`` labels them in a separate process: reading, labelling, writing, page
and pictures. The rows are its speed, its peak memory against the limit, and the share of correctly labelled points next
to that of a hundredth of the points labelled in memory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import point2node
from benchmarks.labelling import ROOMS_APART
from benchmarks.measure import Row, write_rows
from point2node.core.point_cloud import PointCloud
from point2node.formats import encode_pieces, in_pieces
from point2node.rooms import generate_room

POINTS = 200_000_000
ROOMS = 6
POINTS_EACH = 300_000
JITTER = 0.004
"""Standard deviation in metres of the noise on repeated points, so that no two are the same."""
ALLOWED = 4.0
"""Memory limit in GB."""
IN_MEMORY = 100
"""The factor by which fewer points are labelled in memory."""
KEPT_TRUTH = "classification_input"


def rooms() -> list[PointCloud]:
    """Generate rooms next to each other."""
    found = []
    for number in range(ROOMS):
        room = generate_room(3, number, points=POINTS_EACH, styles="held_out")
        corner = np.array([ROOMS_APART * number, 0, 0])
        found.append(PointCloud(room.xyz - room.xyz.min(axis=0) + corner, rgb=room.rgb, labels=room.labels))
    return found


def rescan(scans: list[PointCloud], points: int) -> Iterator[PointCloud]:
    """Yield ``points`` points of the rooms, room by room, repeating the rooms until there are enough."""
    random, left = np.random.default_rng(0), points
    while left:
        for room in scans:
            taken = room[: min(len(room), left)]
            left -= len(taken)
            if len(taken):
                yield taken.with_(xyz=taken.xyz + random.normal(0, JITTER, taken.xyz.shape))


def share_correct(path: Path) -> float:
    """Return the share of points of a labelled file that have their original label."""
    right = total = 0
    pieces = in_pieces(path)
    assert pieces is not None
    for piece in pieces.read():
        assert piece.labels is not None
        right += int((piece.labels == piece.fields[KEPT_TRUTH]).sum())
        total += len(piece)
    return right / total


def measure(points: int) -> list[Row]:
    scans = rooms()
    parts = list(rescan(scans, points // IN_MEMORY))
    truth = np.concatenate([part.labels for part in parts])
    sparse = PointCloud(np.concatenate([part.xyz for part in parts]))
    in_memory = float((point2node.load("rooms").label(sparse).labels == truth).mean())
    with tempfile.TemporaryDirectory() as folder:
        scan = Path(folder, "huge.laz")
        with scan.open("wb+") as stream:
            encode_pieces(scan, rescan(scans, points), points, stream)
        words = ["predict", str(scan), "--out", folder, "--memory", f"{ALLOWED:g}"]
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.labelling", *words], check=True, stdout=subprocess.PIPE, text=True
        )
        seconds = time.perf_counter() - start
        in_pieces_share = share_correct(Path(folder, "huge_labelled.laz"))
    peak = float(done.stdout.split()[-1])
    name = f"predict on {points:,} points of LAZ, whole command"
    return [
        Row(name, points / seconds / 1e3, None, "thousand points a second"),
        Row(name, ALLOWED / peak, 1, f"x below {ALLOWED:g} GB"),
        Row("labels that are right, read in pieces", 100 * in_pieces_share, 100 * in_memory - 0.5, "%"),
        Row("labels that are right, in memory", 100 * in_memory, None, "%"),
    ]


if __name__ == "__main__":
    write_rows("huge", measure(int(sys.argv[1]) if sys.argv[1:] else POINTS))
