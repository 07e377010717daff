"""Peak memory of a whole process that trains the paper's S3DIS network: ``python -m benchmarks memory``.

``python -m benchmarks.memory step`` is that process: it takes two steps and prints its own peak in GB.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.measure import Row, own_peak_megabytes
from benchmarks.steps import training_step

CLOUDS, POINTS = 16, 2048
LIMIT = 6.0  # GB


def print_peak() -> None:
    step, _ = training_step("s3dis", clouds=CLOUDS, points=POINTS)
    step()
    step()  # the first one does not have Adam's moments yet
    print(own_peak_megabytes() / 1e3)


def measure() -> list[Row]:
    command = [sys.executable, "-m", "benchmarks.memory", "step"]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    name = f"training step, paper width, {CLOUDS} x {POINTS}, whole process"
    return [Row(name, LIMIT / float(answer), 1, f"x below {LIMIT:g} GB")]


if __name__ == "__main__":
    if sys.argv[1:] == ["step"]:
        print_peak()
