"""Speed and memory of labelling scans: ``python -m benchmarks labelling``.

On one room of a million points this measures the share of the GEMM peak that labelling reaches, and the whole command
``point2node predict``: start, reading, the input card, labelling, writing, page and pictures.

The share is (2 × multiply-accumulates of the paper's formulas × groups that went through the network) ÷ seconds ÷ GEMM
speed of the same run with the same number of threads; the seconds include geometry and features. The share of the
network alone is computed from the processor time of its threads, and a thread's part of the GEMM speed.

``python -m benchmarks.labelling large`` labels 100 thousand, 1 million and 10 million points of a building, to see
whether a point costs the same in a large scan; ``python -m benchmarks.labelling one POINTS`` is the process that labels
one of them, and ``predict`` the process for the peak memory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import point2node
from benchmarks.measure import Row, alternate, own_peak_megabytes, write_rows
from benchmarks.steps import GEMM
from point2node.cli.main import app
from point2node.core.point_cloud import PointCloud
from point2node.formats import write
from point2node.geometry.pyramid import Pyramid
from point2node.models.network import Network
from point2node.rooms import generate_room

POINTS_EACH = 100_000
ROOMS_APART = 14.0
"""Metres between rooms; generated rooms are shorter."""
DIFFERENT = 10
ROOM = 1_000_000
MOST_MEMORY = 4.0  # GB


def building(points: int) -> PointCloud:
    """Generate rooms next to each other until there are ``points`` points."""
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
    """Print the points per second and the peak memory of this process in GB."""
    labeller = point2node.load("rooms")
    labeller.label(building(POINTS_EACH)[:5000])  # loads the kernels
    cloud = building(points)
    start = time.perf_counter()
    labeller.label(cloud)
    print(points / (time.perf_counter() - start), own_peak_megabytes() / 1e3)


def label_in_subprocess(points: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.labelling", "one", str(points)]
    speed, peak = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return float(speed), float(peak)


def predict_whole(words: list[str]) -> None:
    """Run the command ``point2node predict``, then print the peak memory of this process in GB."""
    app(["predict", *words], standalone_mode=False)
    print(own_peak_megabytes() / 1e3)


class Meter:
    """Counts the groups and the processor seconds of a network while it labels, over all threads.

    Args:
        network: the network to watch from now on.
    """

    def __init__(self, network: Network) -> None:
        self.groups, self.seconds = 0, 0.0
        self._lock, self._starts = threading.Lock(), threading.local()
        network.register_forward_pre_hook(self._start_timer)
        network.register_forward_hook(self._stop_timer)

    def _start_timer(self, network: object, given: tuple[Any, Pyramid]) -> None:
        self._starts.time = time.thread_time()

    def _stop_timer(self, network: object, given: tuple[Any, Pyramid], logits: object) -> None:
        with self._lock:
            self.seconds += time.thread_time() - self._starts.time
            self.groups += len(given[1].levels[0])


def measure_share(room: PointCloud) -> list[Row]:
    """Measure the share of the GEMM peak that labelling a room reaches."""
    labeller, watched = point2node.load("rooms"), point2node.load("rooms")
    labeller.label(room[:5000])  # loads the kernels
    meter, a, b = Meter(watched.network), torch.rand(GEMM, GEMM), torch.rand(GEMM, GEMM)
    watched.label(room)
    seconds = alternate({"gemm": lambda: a @ b, "label": lambda: labeller.label(room)}, rounds=3)
    peak = 2 * GEMM**3 / seconds["gemm"]
    work = 2 * labeller.network.macs(labeller.trained.card.points) * meter.groups
    whole = 100 * work / seconds["label"] / peak
    alone = 100 * work / meter.seconds / (peak / torch.get_num_threads())
    print(f"GEMM {GEMM}³: {peak / 1e9:.0f} GFLOP/s; {meter.groups} groups in {seconds['label']:.1f} s")
    name = f"labelling a room of {len(room):,} points"
    return [
        Row(f"{name}, geometry and features included", whole, 35, "% of the GEMM peak", 50),
        Row(f"{name}, the network alone", alone, None, "% of the GEMM peak"),
    ]


def measure() -> list[Row]:
    room = generate_room(3, 0, points=ROOM, styles="held_out").with_(labels=None, instance=None)
    with tempfile.TemporaryDirectory() as folder:
        scan = Path(folder) / "room.ply"
        write(scan, room)
        command = [sys.executable, "-m", "benchmarks.labelling", "predict", str(scan), "--out", folder]
        start = time.perf_counter()
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        seconds = time.perf_counter() - start
    peak = float(done.stdout.split()[-1])
    name = f"predict on a room of {ROOM:,} points, whole command"
    return [
        *measure_share(room),
        Row(name, ROOM / seconds / 1e3, None, "thousand points a second"),
        Row(name, MOST_MEMORY / peak, 1, f"x below {MOST_MEMORY:g} GB"),
    ]


def measure_large() -> list[Row]:
    rows, speeds = [], {}
    for points in (100_000, 1_000_000, 10_000_000):
        speeds[points], peak = label_in_subprocess(points)
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
