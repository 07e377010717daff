"""Hours of bad luck, run by ``make test-stress``: kills at random moments, and thousands of damaged files.

``STRESS_KILLS`` (50) and ``STRESS_FILES`` (10,000) set how many.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from point2node.core.point_cloud import PointCloud
from point2node.core.writing import TEMPORARY
from point2node.formats import READABLE, write
from tests.formats.test_damage import originals
from tests.inference.labellers import write_real_weights
from tests.scenarios.test_many_scans import contents, differing, small_scan

pytestmark = pytest.mark.stress

KILLS, FILES = int(os.environ.get("STRESS_KILLS", "50")), int(os.environ.get("STRESS_FILES", "10000"))
AT_ONCE = 250
"""Damaged files in one folder."""
MEMORY = 1 << 20
"""Kilobytes above what labelling a small scan takes."""


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_real_weights(tmp_path_factory.mktemp("weights") / "fresh.safetensors")


def begin(folder, *words, changes="pass"):
    """The command, with changes to the package, in a process group of its own."""
    code = f"{changes}; from point2node.cli.main import app; app()"
    command = [sys.executable, "-c", code, "predict", *map(str, words)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=folder, start_new_session=True, **quiet)


def finish(folder, *words, changes="pass"):
    process = begin(folder, *words, changes=changes)
    return process.wait(timeout=900)


def leftovers(folder):
    return [path.name for path in folder.rglob("*") if TEMPORARY in path.name]


def kill_at_random_moments(folder, words, choose_victim, changes="pass"):
    """Kill a process of the command at a moment of its usual time, run it again, compare; as often as asked."""
    chance = random.Random(0)
    started = time.monotonic()
    assert finish(folder, *words, "--out", "undisturbed", changes=changes) in (0, 1)
    usual = time.monotonic() - started
    assert len(contents(folder / "undisturbed")) > 1
    hit = 0
    for number in range(KILLS):
        out = f"out{number}"
        process = begin(folder, *words, "--out", out, changes=changes)
        time.sleep(chance.uniform(0, usual))
        if process.poll() is None:
            hit += 1
            choose_victim(process, chance)
        process.wait(timeout=900)
        wait_for_the_group(process.pid)
        finish(folder, *words, "--out", out, changes=changes)
        assert not differing(folder / out, folder / "undisturbed"), f"after kill {number}"
        assert not leftovers(folder / out), f"after kill {number}"
    assert hit > KILLS // 2
    return hit


def wait_for_the_group(group):
    """Workers end by themselves when the command has been killed."""
    end = time.monotonic() + 120
    while any(_group_of(process) == group for process in psutil.process_iter()) and time.monotonic() < end:
        time.sleep(0.2)
    assert not any(_group_of(process) == group for process in psutil.process_iter())


def _group_of(process):
    try:
        return os.getpgid(process.pid) if process.status() != psutil.STATUS_ZOMBIE else None
    except (ProcessLookupError, psutil.NoSuchProcess):
        return None


def kill_all(process, chance):
    os.killpg(process.pid, signal.SIGKILL)


def kill_one(process, chance):
    """The command itself or one of its workers."""
    family = [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))]
    os.kill(chance.choice(family), signal.SIGKILL)


@pytest.fixture
def scans(tmp_path):
    (tmp_path / "scans").mkdir()
    for number, suffix in enumerate((".ply", ".npz", ".laz", ".txt", ".pcd")):
        write(tmp_path / "scans" / f"scan{number}{suffix}", small_scan(number))
    return tmp_path


def test_a_folder_killed_at_random_moments(scans, weights):
    kill_at_random_moments(scans, ("scans", "--weights", weights, "--no-report"), kill_all)


def test_a_scan_in_pieces_killed_at_random_moments(tmp_path, weights):
    points = np.random.default_rng(0).uniform(0, [60.0, 2.5, 2.4], (4_000_000, 3))
    points[::2, 2] = 0  # a floor …
    points[1::2, 1] = 0  # … and a wall
    write(tmp_path / "large.las", PointCloud(points))
    words = ("large.las", "--weights", weights, "--memory", "1", "--thin", "0.1", "--no-report")
    several_strips = "from point2node.inference import strips; strips.SMALL = 8000"
    resumed = kill_at_random_moments(tmp_path, words, kill_all, several_strips)
    print(resumed)


def test_a_cluster_of_three_workers_killed_at_random_moments(scans, weights):
    pytest.importorskip("distributed")
    words = ("scans", "--weights", weights, "--no-report", "--cluster", "local:3")
    kill_at_random_moments(scans, words, kill_one)


def damage(content, chance):
    """Some bytes changed, in the header more often than elsewhere, and at times the end cut off."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(data) if chance.random() < 0.5 else min(400, len(data)))
        change = chance.choice(
            [chance.randbytes(chance.randint(1, 8)), b"\xff" * 8, b"\0" * 8, b"-1 ", b"9" * 12, b"nan "]
        )
        data[place : place + len(change)] = change
    return bytes(data[: chance.randint(1, len(data))] if chance.random() < 0.3 else data)


def peak_of_children():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def test_thousands_of_damaged_files_are_labelled_or_refused_in_one_line(tmp_path, weights):
    chance = random.Random(0)
    write(tmp_path / "sound.ply", small_scan(0))
    assert finish(tmp_path, "sound.ply", "--weights", weights, "--no-report", "--out", "first") == 0
    usual = peak_of_children()
    outcomes = {"labelled": 0, "refused": 0}
    for first in range(0, FILES, AT_ONCE):
        folder = tmp_path / f"part{first}"
        (folder / "scans").mkdir(parents=True)
        for number in range(first, min(first + AT_ONCE, FILES)):
            suffix = READABLE[number % len(READABLE)]
            content = damage(chance.choice(originals(suffix)), chance)
            (folder / "scans" / f"file{number}_{suffix[1:]}{suffix}").write_bytes(content)
        words = [
            sys.executable,
            "-m",
            "point2node",
            "predict",
            "scans",
            "--out",
            "out",
            "--no-report",
            "--weights",
            weights,
        ]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=3000)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        rows = json.loads(Path(folder, "out/summary.json").read_text())["rows"]
        assert len(rows) == len(list((folder / "scans").iterdir()))
        for row in rows:
            assert "\n" not in (row["error"] or "")
            outcomes["refused" if row["error"] else "labelled"] += 1
    assert all(outcomes.values()), outcomes
    assert peak_of_children() < usual + MEMORY
    print(outcomes, f"peak {peak_of_children() / 1e6:.2f} GB, of a sound scan {usual / 1e6:.2f} GB")
