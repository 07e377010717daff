"""Files appear whole or not at all, and what a killed process left is removed, but nothing else."""

import os
import signal
import subprocess
import sys
import time

import pytest

from point2node.core.errors import InputError
from point2node.core.writing import SURELY_ABANDONED, TEMPORARY, remove_abandoned, replacing

HALF_WRITTEN = """
import sys, time
from pathlib import Path
from point2node.core.writing import replacing

with replacing(Path(sys.argv[1])) as stream:
    stream.write(b"half")
    stream.flush()
    print("half", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def writer(tmp_path):
    """Another process in the middle of writing a file."""
    with subprocess.Popen([sys.executable, "-c", HALF_WRITTEN, tmp_path / "a.txt"], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"half\n"
        yield process
        process.kill()


def unfinished(folder):
    return [path for path in folder.iterdir() if path.name.startswith(TEMPORARY)]


def test_what_a_living_process_writes_stays_and_what_a_killed_one_left_goes(tmp_path, writer):
    remove_abandoned(tmp_path)
    assert len(unfinished(tmp_path)) == 1
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    (tmp_path / "precious.txt").write_text("kept")
    (tmp_path / ".hidden").write_text("kept")
    remove_abandoned(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden", "precious.txt"]


def test_without_locks_only_age_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[remove_abandoned.__module__], "fcntl", None)
    for age in (0, 2 * SURELY_ABANDONED):
        path = tmp_path / f"{TEMPORARY}{age:.0f}"
        path.write_bytes(b"")
        os.utime(path, (time.time() - age,) * 2)
    remove_abandoned(tmp_path)
    assert [path.name for path in unfinished(tmp_path)] == [f"{TEMPORARY}0"]


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "a.txt").write_text("before")
    with pytest.raises(TypeError), replacing(tmp_path / "a.txt") as stream:
        stream.write("no bytes")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_a_folder_that_is_not_there_is_named_in_one_line(tmp_path):
    with pytest.raises(InputError, match="expected a file that can be written"), replacing(tmp_path / "no" / "a.txt"):
        pass
