import errno
import subprocess
import sys

import pytest

from point2node.core.errors import InputError
from point2node.data import locking
from point2node.data.locking import alone_in

HOLD = """
import sys
from pathlib import Path
from point2node.data.locking import alone_in
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

    monkeypatch.setattr(locking.fcntl, "flock", refuse)
    with alone_in(tmp_path / "store", wait=False):
        assert (tmp_path / "store").is_dir()
