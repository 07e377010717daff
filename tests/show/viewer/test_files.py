import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import point2node
from point2node.core.errors import InputError
from point2node.show.viewer.files import (
    PREFIX,
    UploadFolder,
    check_upload,
    read_upload,
    remove_abandoned_uploads,
    shown_name,
)
from tests.show.viewer.weights import small_room


def test_an_upload_is_read_as_the_file_that_it_is(tmp_path):
    point2node.write(tmp_path / "room.ply", small_room())
    (tmp_path / "kept").mkdir()
    cloud = read_upload("My Room.PLY", (tmp_path / "room.ply").read_bytes(), tmp_path / "kept", 1)
    assert np.allclose(cloud.xyz, small_room().xyz)


@pytest.mark.parametrize("name", ["../../etc/cron.ply", "/etc/passwd.ply", "C:\\boot.ply", "a/b.ply", "..ply.ply"])
def test_a_name_never_leads_out_of_the_folder(tmp_path, name):
    point2node.write(tmp_path / "room.ply", small_room())
    kept = tmp_path / "deep" / "kept"
    kept.mkdir(parents=True)
    read_upload(name, (tmp_path / "room.ply").read_bytes(), kept, 1)
    assert [file.name for file in kept.iterdir()] == ["upload.ply"]
    assert sorted(file.name for file in tmp_path.rglob("*") if file.is_file()) == ["room.ply", "upload.ply"]


def test_an_upload_over_the_limit_is_refused_before_it_is_kept(tmp_path):
    with pytest.raises(InputError, match=r"at most 1 MB, found 2 MB.*--max-upload"):
        read_upload("room.ply", bytes(2_000_000), tmp_path, 1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "found"), [("notes.docx", ".docx"), ("scan", "none"), ("scan.ply.exe", ".exe")])
def test_a_file_of_another_kind_is_refused_by_its_name(name, found):
    with pytest.raises(InputError, match=f"found {found}"):
        check_upload(name, 10, 1)


def test_an_empty_file_is_refused():
    with pytest.raises(InputError, match="an empty file"):
        check_upload("room.ply", 0, 1)


def test_a_broken_file_is_named_as_its_visitor_knows_it(tmp_path):
    with pytest.raises(InputError) as caught:
        read_upload("my room.ply", b"ply\nnonsense", tmp_path, 1)
    assert "my room.ply" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_name_is_shown_without_marks_that_a_page_would_follow():
    assert shown_name("<img src=x onerror=alert(1)>.ply") == "_img src_x onerror_alert(1)_.ply"
    assert shown_name("**bold**[link](http://x).ply") == "x).ply"
    assert shown_name("Büro 3.laz") == "Büro 3.laz"
    assert len(shown_name("a" * 500 + ".ply")) == 60
    assert shown_name("") == "upload"


KILLED = """
import time
from point2node.show.viewer.files import UploadFolder
folder = UploadFolder()
(folder.path / "upload.ply").write_text("secret")
print("ready", flush=True)
time.sleep(600)
"""


def test_uploads_of_a_killed_server_are_removed_and_those_of_a_living_one_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    environment = dict(os.environ, TMPDIR=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdout.readline() == b"ready\n"
        os.kill(server.pid, signal.SIGKILL)
    (tmp_path / f"{PREFIX}elsewhere").mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / "target/in_use").write_text("")
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "target")
    living = UploadFolder()
    assert len(list(tmp_path.glob("*/upload.ply"))) == 1
    remove_abandoned_uploads()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [f"{PREFIX}elsewhere", f"{PREFIX}link", "target", living.path.name]
    )
    living.remove()
    assert not living.path.exists()
