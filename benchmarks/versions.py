"""The whole command ``predict`` against version 0.1.0 of this package: ``python -m benchmarks versions``.

Version 0.1.0 labelled every point twice, with the weights of its time. Its last commit is extracted from the git
history, so this needs a full clone, and runs with the same interpreter and packages. It stays in build/ with its
compiled code for the next run. ``python -m benchmarks.versions large`` also measures scans of three and ten million
points, with one run each.
"""

from __future__ import annotations

import io
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from benchmarks.labelling import ROOM, building
from benchmarks.measure import Row, write_rows
from point2node.formats import write
from point2node.rooms import generate_room

ROOT = Path(__file__).parents[1]
OLD = "0.1.0"
VERSION_FILE = "src/point2node/_version.py"
TINY = 5_000
ROUNDS = 2
LARGE = {3_000_000: None, 10_000_000: 8}
"""Points of the large scans, and the target speed-up over version 0.1.0."""


def old_source() -> Path:
    """Return the folder with the package as of the last commit of version 0.1.0, extracting it if needed."""
    folder = ROOT / "build" / "versions" / OLD
    if not folder.is_dir():
        newer = _git("log", "-1", "--format=%H", f"-S{OLD}", "--", VERSION_FILE).decode().strip()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            with tarfile.open(fileobj=io.BytesIO(_git("archive", f"{newer}^", "src"))) as archive:
                archive.extractall(unfinished, filter="data")
            Path(unfinished, "src").rename(folder)
    return folder


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout


def version_of(source: Path) -> str:
    command = [sys.executable, "-c", "import point2node; print(point2node.__version__)"]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=_environment(source)
    ).stdout.strip()


def predict_seconds(source: Path, scan: Path, *words: str) -> float:
    """Time the whole command with the package in a folder: start, reading, labelling, page, pictures."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "point2node", "predict", str(scan), "--out", out, *words]
        start = time.perf_counter()
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_environment(source), cwd=out
        )
        return time.perf_counter() - start


def _environment(source: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(source)}


def measure() -> list[Row]:
    old, new = old_source(), ROOT / "src"
    if (found := version_of(old)) != OLD:
        raise RuntimeError(f"{old} holds version {found}, not {OLD}: remove it")
    with tempfile.TemporaryDirectory() as folder:
        tiny, scan = Path(folder, "tiny.ply"), Path(folder, "room.ply")
        room = generate_room(3, 0, points=ROOM, styles="held_out").with_(labels=None, instance=None)
        write(tiny, room[:TINY])
        write(scan, room)
        for source in (old, new):
            predict_seconds(source, tiny)  # compiles the kernels
        seconds = [(predict_seconds(old, scan), predict_seconds(new, scan)) for _ in range(ROUNDS)]
    before, after = (statistics.median(column) for column in zip(*seconds, strict=True))
    print(f"room of {ROOM:,} points: {before:.1f} s with version {OLD}, {after:.1f} s")
    return [Row(f"predict on a room of {ROOM:,} points, whole command", before / after, 5, f"x faster than {OLD}")]


def measure_large() -> list[Row]:
    rows, old, new = [], old_source(), ROOT / "src"
    for points, bar in LARGE.items():
        with tempfile.TemporaryDirectory() as folder:
            scan = Path(folder, "building.ply")
            write(scan, building(points))
            before, after = predict_seconds(old, scan), predict_seconds(new, scan)
        print(f"scan of {points:,} points: {before:.1f} s with version {OLD}, {after:.1f} s", flush=True)
        name = f"predict on a scan of {points:,} points, whole command"
        rows.append(Row(name, before / after, bar, f"x faster than {OLD}"))
    return rows


if __name__ == "__main__" and sys.argv[1:] == ["large"]:
    write_rows("versions_large", measure_large())
