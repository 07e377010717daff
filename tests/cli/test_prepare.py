import errno
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.core.writing import alone_in
from point2node.data.store import open_store
from tests.data.layouts import (
    CLASS_FILE,
    KNOWN_DAMAGE,
    write_damaged_s3dis,
    write_modelnet_h5,
    write_own_cloud,
    write_s3dis,
    write_scannet_pickles,
)


def run(*arguments):
    return CliRunner().invoke(app, ["prepare", *map(str, arguments)])


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_damaged_line_stops_with_exit_code_2_and_one_line(tmp_path):
    write_damaged_s3dis(tmp_path / "root")
    result = run("s3dis", tmp_path / "root", "--out", tmp_path / "store", "--workers", 1)
    assert result.exit_code == 2
    last = result.stderr.splitlines()[-1]
    assert last.startswith("point2node: Area_5/hallway_6/Annotations/ceiling_1.txt, line 2: expected six numbers")
    assert not (tmp_path / "store" / "manifest.json").exists()


def test_doctor_and_repairs_lose_no_point(tmp_path):
    root, store = write_damaged_s3dis(tmp_path / "root"), tmp_path / "store"
    CliRunner().invoke(app, ["doctor", "s3dis", str(root), "--repair", str(tmp_path / "repairs"), "--workers", "1"])
    result = run("s3dis", root, "--out", store, "--repairs", tmp_path / "repairs", "--workers", 1)
    assert result.exit_code == 0
    lines = sum(len(file.read_bytes().splitlines()) for file in root.glob("*/*/Annotations/*.txt"))
    manifest = json.loads((store / "manifest.json").read_text())
    assert sum(scene["points"] for scene in manifest["scenes"]) == lines
    assert manifest["lost"] == []


def test_skipping_accounts_for_every_lost_line_and_not_skipping_again_stops_again(tmp_path):
    root, store = write_damaged_s3dis(tmp_path / "root"), tmp_path / "store"
    result = run("s3dis", root, "--out", store, "--skip-damaged", "--workers", 1)
    assert result.exit_code == 0
    manifest = json.loads((store / "manifest.json").read_text())
    damaged = [path for path in KNOWN_DAMAGE if "Annotations" in path]
    assert sorted(lost["path"] for lost in manifest["lost"]) == sorted(damaged)
    assert {lost["line"] for lost in manifest["lost"]} == {2}
    assert r"185\x00187" in "".join(lost["bytes"] for lost in manifest["lost"])
    lines = sum(len(file.read_bytes().splitlines()) for file in root.glob("*/*/Annotations/*.txt"))
    assert sum(scene["points"] for scene in manifest["scenes"]) + len(manifest["lost"]) == lines
    assert "lost: Area_5/hallway_6/Annotations/ceiling_1.txt, line 2" in result.stderr
    assert run("s3dis", root, "--out", store, "--workers", 1).exit_code == 2


def test_paths_with_spaces_and_letters_of_any_alphabet_work_with_workers(tmp_path):
    root, store = write_s3dis(tmp_path / "Gebäude 一"), tmp_path / "mein Ziel ä"
    done = subprocess.run(
        [sys.executable, "-m", "point2node", "prepare", "s3dis", root, "--out", store, "--workers", "2"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "240 points" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("preparing 4/4 Area_")
    assert open_store(store).splits == ("Area_1", "Area_5")


def test_scannet_and_modelnet_are_prepared(tmp_path):
    write_scannet_pickles(tmp_path / "scannet")
    assert run("scannet", tmp_path / "scannet", "--out", tmp_path / "a", "--workers", 1).exit_code == 0
    assert len(open_store(tmp_path / "a").scenes("train")) == 3
    write_modelnet_h5(tmp_path / "modelnet")
    assert run("modelnet", tmp_path / "modelnet", "--out", tmp_path / "b", "--up", "y", "--workers", 1).exit_code == 0
    assert len(open_store(tmp_path / "b").shapes("train")) == 9


def test_own_files_are_prepared_with_their_classes(tmp_path):
    (tmp_path / "classes.yaml").write_text(CLASS_FILE)
    for number in range(3):
        write_own_cloud(tmp_path / "scans" / f"{number}.ply", [2, 5, 6, 0], seed=number)
    arguments = ("folder", tmp_path / "scans", "--classes", tmp_path / "classes.yaml", "--out", tmp_path / "store")
    assert run(*arguments, "--workers", 1).exit_code == 0
    store = open_store(tmp_path / "store")
    assert set(store.splits) == {"train", "val", "test"}
    assert [one.value for one in store.classes] == [2, 5, 6]
    assert list(store.number_labels(store.load("0").labels)) == [0, 1, 2, -1]


def test_rooms_are_generated_without_a_download(tmp_path):
    result = run("rooms", "--rooms", 3, "--seed", 1, "--out", tmp_path / "store", "--workers", 1)
    assert result.exit_code == 0
    assert len(open_store(tmp_path / "store").scenes()) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("s3dis",), "ROOT: expected the folder of s3dis"),
        (("rooms", "somewhere"), "ROOT: expected none for 'rooms'"),
        (("folder", "/nowhere"), "--classes: expected a class list"),
        (("folder", "/"), "--out: expected a folder outside ROOT"),
        (("scannet", ".", "--repairs", "."), "--repairs: expected s3dis"),
        (("rooms", "--repairs", "."), "--repairs: expected s3dis"),
        (("s3dis", ".", "--classes", "classes.yaml"), "--classes: expected folder"),
        (("s3dis", ".", "--rooms", "3"), "--rooms: expected rooms"),
        (("folder", ".", "--up", "y"), "--up: expected modelnet"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(tmp_path, arguments, message):
    result = run(*arguments, "--out", tmp_path / "store")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_a_store_that_another_process_is_writing_is_refused_in_one_line(tmp_path):
    root, store = write_s3dis(tmp_path / "root"), tmp_path / "store"
    with alone_in(store, wait=False):
        result = run("s3dis", root, "--out", store, "--workers", 1)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "Wait until it has finished, or choose another --out." in result.stderr
    assert run("s3dis", root, "--out", store, "--workers", 1).exit_code == 0


def test_what_the_system_refuses_to_write_is_said_in_one_line(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    result = run("s3dis", write_s3dis(tmp_path / "root"), "--out", tmp_path / "store", "--workers", 1)
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "store: expected a place that can be read and written, found no space left on device.\n"
    )


def start(root, store, *options, **pipe):
    command = [sys.executable, "-m", "point2node", "prepare", "s3dis", root, "--out", store, *options]
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **pipe,
    )


def test_ctrl_c_leaves_what_was_finished(tmp_path):
    root, store = write_s3dis(tmp_path / "root", rooms=500), tmp_path / "store"
    # a thousand lines of progress do not fit into the smallest pipe: it cannot finish before it is interrupted
    running = start(root, store, "--workers", "1", pipesize=4096)
    assert running.stderr.readline().startswith("preparing 1/1000")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert running.returncode == 130
    assert said.endswith("run the same command to resume.\n")
    finished = len(list((store / ".journal").glob("*.json")))
    assert 1 <= finished < 1000
    result = run("s3dis", root, "--out", store, "--workers", 1)
    assert f"{1000 - finished} newly read" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_killing_at_random_moments_and_running_again_gives_the_same_bytes(tmp_path, workers):
    root = write_s3dis(tmp_path / "root", rooms=30)
    run("s3dis", root, "--out", tmp_path / "whole", "--workers", 1)
    whole = contents(tmp_path / "whole")
    rng = random.Random(0)
    killed = 0
    for _ in range(8):
        store = tmp_path / "store"
        shutil.rmtree(store, ignore_errors=True)
        for _ in range(2):
            running = start(root, store, "--workers", workers)
            running.stderr.readline()  # the imports are over, the writing has begun
            time.sleep(rng.uniform(0, 0.4))
            running.send_signal(signal.SIGKILL)
            running.communicate()
            killed += running.returncode == -signal.SIGKILL
        last = start(root, store, "--workers", workers)
        _, said = last.communicate()
        assert last.returncode == 0, said
        assert contents(store) == whole
    assert killed > 4


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_parent(tmp_path):
    running = start(write_s3dis(tmp_path / "root", rooms=200), tmp_path / "store", "--workers", "2")
    running.stderr.readline()
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    running.send_signal(signal.SIGKILL)
    running.communicate()
    deadline = time.monotonic() + 10
    while any(Path("/proc", child).exists() for child in children) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path("/proc", child).exists() for child in children)


def test_classes_are_proposed_and_then_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_own_cloud(tmp_path / "scans/a.ply", [2, 5, 6])
    result = run("folder", "scans", "--propose-classes")
    assert result.exit_code == 0, result.output
    assert "classes.yaml: 3 label values" in result.stdout
    assert run("folder", "scans", "--classes", "classes.yaml", "--out", "store", "--workers", 1).exit_code == 0
    listed = ("scans", "--classes", "classes.yaml")
    for words in (("scans", "--propose-classes", "--out", "x"), ("--propose-classes",), listed):
        refused = run("folder", *words)
        assert refused.exit_code == 2
        assert len(refused.stderr.splitlines()) == 1
    assert run("rooms", "--propose-classes").exit_code == 2
