"""How fast scans are labelled, and in how much memory: ``python -m benchmarks labelling``.

``python -m benchmarks.labelling large`` labels 100 thousand, 1 million and 10 million points, to see whether a point
costs the same in a large scan. ``python -m benchmarks.labelling one POINTS`` is the process that labels one scan.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

import point2node
from benchmarks.measure import Row, own_peak_megabytes, write_rows
from point2node.core.point_cloud import PointCloud
from point2node.data.rooms import generate_room
from point2node.engine.labelling import Labeller

POINTS_EACH = 100_000
ROOMS_APART = 14.0
"""Metres: generated rooms are shorter."""
DIFFERENT = 10
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
    assert isinstance(labeller, Labeller)
    labeller(building(POINTS_EACH)[:5000])  # loads the kernels
    cloud = building(points)
    start = time.perf_counter()
    labeller(cloud)
    print(points / (time.perf_counter() - start), own_peak_megabytes() / 1e3)


def in_a_process_of_its_own(points: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.labelling", "one", str(points)]
    speed, peak = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return float(speed), float(peak)


def measure() -> list[Row]:
    speed, peak = in_a_process_of_its_own(1_000_000)
    return [
        Row("labelling a room scan of 1,000,000 points", speed / 1e3, None, "thousand points a second"),
        Row("labelling 1,000,000 points, whole process", MOST_MEMORY / peak, 1, f"x below {MOST_MEMORY:g} GB"),
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
