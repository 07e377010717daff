"""How fast scans are labelled, and in how much memory: ``python -m benchmarks labelling``.

It times the whole command ``point2node predict`` on one room of a million points: start, reading, the input card,
labelling, writing, page and pictures. ``python -m benchmarks.labelling large`` labels 100 thousand, 1 million and 10
million points of a building, to see whether a point costs the same in a large scan; ``python -m benchmarks.labelling
one POINTS`` is the process that labels one of them, and ``predict`` the one whose peak is taken.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import point2node
from benchmarks.measure import Row, own_peak_megabytes, write_rows
from point2node.cli.main import app
from point2node.core.point_cloud import PointCloud
from point2node.formats import write
from point2node.rooms import generate_room

POINTS_EACH = 100_000
ROOMS_APART = 14.0
"""Metres: generated rooms are shorter."""
DIFFERENT = 10
ROOM = 1_000_000
MOST_MEMORY = 4.0  # GB


def building(points: int) -> PointCloud:
    """Generated rooms beside each other, as many as give so many points."""
    rooms = [generate_room(3, index, points=POINTS_EACH, styles="all") for index in range(DIFFERENT)]
    parts, colours = [], []
    for number in range(-(-points // POINTS_EACH)):
        room = rooms[number % DIFFERENT]
        corner = ROOMS_APART * np.array([number % 10, number // 10, 0])
        assert room.rgb is not None
        parts.append(room.xyz - room.xyz.min(axis=0) + corner)
        colours.append(room.rgb)
    return PointCloud(np.concatenate(parts)[:points], rgb=np.concatenate(colours)[:points])


def label_one(points: int) -> None:
    """Print the points a second and this process' peak in GB."""
    labeller = point2node.load("rooms")
    labeller.label(building(POINTS_EACH)[:5000])  # loads the kernels
    cloud = building(points)
    start = time.perf_counter()
    labeller.label(cloud)
    print(points / (time.perf_counter() - start), own_peak_megabytes() / 1e3)


def in_a_process_of_its_own(points: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.labelling", "one", str(points)]
    speed, peak = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return float(speed), float(peak)


def predict_whole(words: list[str]) -> None:
    """The command ``point2node predict``, then this process' peak in GB."""
    app(["predict", *words], standalone_mode=False)
    print(own_peak_megabytes() / 1e3)


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        scan = Path(folder) / "room.ply"
        write(scan, generate_room(3, 0, points=ROOM, styles="held_out").with_(labels=None, instance=None))
        command = [sys.executable, "-m", "benchmarks.labelling", "predict", str(scan), "--out", folder]
        start = time.perf_counter()
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        seconds = time.perf_counter() - start
    peak = float(done.stdout.split()[-1])
    name = f"predict on a room of {ROOM:,} points, whole command"
    return [
        Row(name, ROOM / seconds / 1e3, None, "thousand points a second"),
        Row(name, MOST_MEMORY / peak, 1, f"x below {MOST_MEMORY:g} GB"),
    ]


def measure_large() -> list[Row]:
    rows, speeds = [], {}
    for points in (100_000, 1_000_000, 10_000_000):
        speeds[points], peak = in_a_process_of_its_own(points)
        rows.append(Row(f"labelling {points:,} points", speeds[points] / 1e3, None, "thousand points a second"))
        rows.append(Row(f"labelling {points:,} points, whole process", peak, None, "GB"))
    slowest, quickest = min(speeds.values()), max(speeds.values())
    rows.append(Row("cost of a point, 100,000 to 10,000,000", slowest / quickest, 0.8, "of the quickest"))
    return rows


if __name__ == "__main__":
    if sys.argv[1:] == ["large"]:
        write_rows("labelling_large", measure_large())
    elif sys.argv[1:2] == ["one"]:
        label_one(int(sys.argv[2]))
    elif sys.argv[1:2] == ["predict"]:
        predict_whole(sys.argv[2:])
