"""Files appear whole or not at all, and what a killed process left is removed, but nothing else."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from point2node.core import writing
from point2node.core.errors import InputError
from point2node.core.writing import SURELY_ABANDONED, TEMPORARY, alone_in, refusals_named, remove_abandoned, replacing

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


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "a/b.txt"), "a/b.txt: .*found permission denied"),
        (OSError(errno.ENOSPC, "No space left on device"), "store: .*found no space left on device"),
        (OSError("10 requested and 3 written"), "store: .*found 10 requested and 3 written"),
    ],
)
def test_what_the_system_refuses_is_named(error, message):
    with pytest.raises(InputError, match=message), refusals_named(Path("store")):
        raise error


def test_a_closed_pipe_is_no_refusal():
    with pytest.raises(BrokenPipeError), refusals_named(Path("store")):
        raise BrokenPipeError


HOLD = """
import sys
from pathlib import Path
from point2node.core.writing import alone_in
with alone_in(Path(sys.argv[1]), wait=False):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_a_second_process_is_refused_in_one_line_and_the_lock_ends_with_its_process(tmp_path):
    store = tmp_path / "ein Ziel"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="another 'point2node prepare' at work in it"), alone_in(store, wait=False):
            pass
        holder.kill()
        holder.wait()
        with alone_in(store, wait=True):
            assert store.is_dir()


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(InputError, match="expected a folder that can be made"),
        alone_in(tmp_path / "file/a", wait=True),
    ):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_a_file_system_without_locks_is_no_obstacle(tmp_path, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(writing.fcntl, "flock", refuse)
    with alone_in(tmp_path / "store", wait=False):
        assert (tmp_path / "store").is_dir()
