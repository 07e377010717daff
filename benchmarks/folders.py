"""Folders of small scans: ``python -m benchmarks folders``.

The cost of each further scan of a folder, without the start of the command, with and without pages and pictures, and
the gain from ``--workers``. All are measured on whole commands.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measure import Row, alternate
from benchmarks.versions import ROOT, predict_seconds
from point2node.formats import write
from point2node.rooms import generate_room

POINTS = 5_000
FEW, MANY, WORKERS = 20, 60, 3
SECONDS = 0.3
"""Target in seconds for each further scan."""
ROUNDS = 2


def write_scans(folder: Path, count: int) -> Path:
    """Write a folder with ``count`` rooms."""
    folder.mkdir()
    for number in range(count):
        room = generate_room(5, number, points=POINTS, styles="held_out").with_(labels=None, instance=None)
        write(folder / f"room_{number}.ply", room)
    return folder


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        one, few, many = (write_scans(Path(folder, str(count)), count) for count in (1, FEW, MANY))
        predict = partial(predict_seconds, ROOT / "src")
        predict(one)  # compiles the kernels
        forms = {
            "one": lambda: predict(one),
            "few": lambda: predict(few),
            "one, bare": lambda: predict(one, "--no-report"),
            "few, bare": lambda: predict(few, "--no-report"),
            "many": lambda: predict(many),
            "many, workers": lambda: predict(many, "--workers", str(WORKERS)),
        }
        seconds = alternate(forms, rounds=ROUNDS, warm_up=False)
    print(", ".join(f"{name} {one_form:.1f} s" for name, one_form in seconds.items()))
    further = (seconds["few"] - seconds["one"]) / (FEW - 1)
    bare = (seconds["few, bare"] - seconds["one, bare"]) / (FEW - 1)
    name = f"each further scan of {FEW} of {POINTS:,} points"
    return [
        Row(name, SECONDS / further, 1, f"x below {SECONDS:g} s"),
        Row(f"{name}, --no-report", SECONDS / bare, 1, f"x below {SECONDS:g} s"),
        Row(
            f"{MANY} scans of {POINTS:,} points, --workers {WORKERS}",
            seconds["many"] / seconds["many, workers"],
            1.8,
            "x faster than one process",
        ),
    ]
