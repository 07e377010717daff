"""Many scans through the real command line: in parts, in several processes, on clusters, at URLs, and killed."""

import json
import os
import signal
import subprocess
import sys
import time

import fsspec
import numpy as np
import psutil
import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.core.point_cloud import PointCloud
from point2node.core.writing import TEMPORARY
from point2node.formats import read, write
from tests.inference.labellers import write_real_weights

SUMMARIES = ("summary.json", "summary.csv")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_real_weights(tmp_path_factory.mktemp("weights") / "fresh.safetensors")


@pytest.fixture
def scans(tmp_path, monkeypatch):
    """A working folder with five small scans in ``scans``, and one that is none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scans/sub").mkdir(parents=True)
    for number, name in enumerate(("a.ply", "b.npz", "c.ply", "sub/d.ply", "sub/e.txt")):
        write(tmp_path / "scans" / name, small_scan(number))
    (tmp_path / "scans/bad.laz").write_bytes(b"no laz")
    return tmp_path


def small_scan(seed, points=900):
    random = np.random.default_rng(seed)
    return PointCloud(random.uniform(0, [3.0, 2.5, 2.4], (points, 3)), rgb=random.integers(0, 256, (points, 3)))


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def start(*words):
    """The command in a process and process group of its own."""
    command = [sys.executable, "-m", "point2node", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **pipes, start_new_session=True)


def contents(folder):
    """The labelled files by name; seconds differ, so the tables are left out."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("summary")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def differing(one, other):
    """The names of the labelled files that only one of two folders has, or that differ."""
    here, there = contents(one), contents(other)
    return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))


def rows_of(folder, name="summary.json"):
    return {row["scan"]: row for row in json.loads((folder / name).read_text())["rows"]}


def without_seconds(rows):
    return [{**row, "seconds": 0, "error": bool(row["error"])} for row in rows.values()]


def test_one_table_says_what_became_of_every_scan_and_a_rerun_keeps_its_rows(scans, weights):
    words = ("predict", "scans", "--weights", weights, "--no-report", "--out", "out")
    assert run(*words).exit_code == 1
    tables = [(scans / "out" / name).read_bytes() for name in SUMMARIES]
    rows = rows_of(scans / "out")
    assert len(rows) == 6
    row = rows["scans/sub/d.ply"]
    assert row["output"] == "sub/d_labelled.ply"
    assert row["points"] == sum(row["counts"].values()) == 900
    assert row["seconds"] > 0
    assert any("too thin" in doubt for doubt in row["doubts"])
    assert "scans/bad.laz: expected a LAS file" in rows["scans/bad.laz"]["error"]
    result = run(*words)
    assert "0 of 6 scans labelled, 5 labelled before, 1 failed" in result.stdout
    assert [(scans / "out" / name).read_bytes() for name in SUMMARIES] == tables


def test_a_bug_in_one_scan_is_shown_and_stops_no_other(scans, weights, monkeypatch):
    def broken(path):
        if path.name == "b.npz":
            raise ZeroDivisionError("ours")
        return read(path)

    monkeypatch.setattr("point2node.inference.jobs.read", broken)
    result = run("predict", "scans/*.ply", "scans/*.npz", "--weights", weights, "--no-report", "--out", "out")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "2 of 3 scans labelled, 1 failed" in result.stdout
    assert rows_of(scans / "out")["scans/b.npz"]["error"] == "ZeroDivisionError: ours"


def test_a_scan_that_lacks_memory_is_tried_with_less_and_then_told(scans, weights, monkeypatch):
    from point2node.core.memory import memory_limit

    limits = []

    def greedy(path):
        if path.name == "a.ply":
            limits.append(memory_limit())
            raise MemoryError
        return read(path)

    monkeypatch.setattr("point2node.inference.jobs.read", greedy)
    words = ("--weights", weights, "--no-report", "--out", "out", "--memory", "8")
    result = run("predict", "scans/a.ply", "scans/c.ply", *words)
    assert result.exit_code == 1
    assert limits == [8 * 10**9, 4 * 10**9, 2 * 10**9]
    assert "1 of 2 scans labelled, 1 failed" in result.stdout
    assert "ran out of memory on every try" in rows_of(scans / "out")["scans/a.ply"]["error"]


def test_shards_together_do_all_and_a_last_run_makes_one_table(scans, weights):
    words = ("predict", "scans", "--weights", weights, "--no-report", "--out", "out")
    for number in (1, 2, 3):
        assert run(*words, "--shard", f"{number}/3").exit_code == (1 if number == 3 else 0)
    assert run(*words, "--shard", "7/8").exit_code == 0  # nothing is left for it
    assert not (scans / "out/summary.json").exists()
    assert "5 labelled before, 1 failed" in run(*words).stdout
    rows = rows_of(scans / "out")
    assert len(rows) == 6
    assert all(row["seconds"] for row in rows.values() if not row["error"])


def test_what_cannot_be_is_refused_before_any_work(scans, weights, monkeypatch):
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)
    monkeypatch.delenv("JOB_COMPLETION_INDEX", raising=False)
    for words in (
        ("--shard", "4/3"),
        ("--shard", "auto"),
        ("--workers", "2", "--cluster", "local:2"),
        ("--workers", "0"),
    ):
        result = run("predict", "scans", "--weights", weights, "--out", "out", *words)
        assert result.exit_code == 2, words
    assert not (scans / "out").exists()


def test_without_dask_the_line_says_what_to_install(scans, weights, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "point2node.inference.cluster", raising=False)
    result = run("predict", "scans", "--weights", weights, "--out", "out", "--workers", "2")
    assert result.exit_code == 2
    assert "pip install 'point2node[cluster]'" in result.stderr
    assert not (scans / "out").exists()


def test_remote_scans_and_results_are_those_of_local_files(scans, weights):
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for path in (scans / "scans").rglob("*.*"):
        memory.pipe_file(f"/bucket/{path.relative_to(scans / 'scans').as_posix()}", path.read_bytes())
    options = ("--weights", weights, "--no-report")
    assert run("predict", "scans", *options, "--out", "local").exit_code == 1
    words = ("predict", "memory://bucket", *options, "--out", "memory://results/deep")
    result = run(*words)
    assert result.exit_code == 1, result.output
    assert "memory://bucket/bad.laz: expected a LAS file" in result.stderr
    sent = {path.removeprefix("/results/deep/"): memory.cat_file(path) for path in memory.find("/results/deep")}
    here = contents(scans / "local")
    assert set(sent) == {*here, *SUMMARIES}
    for name in here:
        if name.endswith("_labelled.ply"):
            assert sent[name] == here[name]
    assert len(json.loads(sent["summary.json"])["rows"]) == 6
    again = run(*words)
    assert "0 of 6 scans labelled, 5 labelled before, 1 failed" in again.stdout
    assert memory.cat_file("/results/deep/summary.json") == sent["summary.json"]
    memory.pipe_file("/bucket/a.ply", (scans / "scans/c.ply").read_bytes())
    assert "1 of 6 scans labelled, 4 labelled before" in run(*words).stdout


def test_the_page_and_the_pictures_of_a_remote_result_lie_next_to_it(scans, weights):
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    result = run("predict", "scans/a.ply", "--weights", weights, "--out", "memory://out")
    assert result.exit_code == 0, result.output
    assert "open memory://out/a_labelled.html" in result.stdout
    pictures = {f"/out/a_labelled_{kind}.png" for kind in ("class", "rgb", "confidence", "entropy")}
    files = {"/out/a_labelled.ply", "/out/a_labelled.ply.classes.json", "/out/a_labelled.html"}
    assert set(memory.find("/out")) == files | pictures


def test_a_remote_scan_goes_to_a_local_folder_and_one_that_is_missing_is_named(scans, weights):
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pipe_file("/bucket/a.ply", (scans / "scans/a.ply").read_bytes())
    words = ("--weights", weights, "--no-report")
    assert run("predict", "memory://bucket/a.ply", *words).exit_code == 0
    assert len(read(scans / "labelled/a_labelled.ply")) == 900
    result = run("predict", "memory://bucket/b.ply", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("point2node: memory://bucket/b.ply: expected a file that can be read")
    assert len(result.stderr.splitlines()) == 1


def test_after_a_stop_between_two_uploads_the_same_command_makes_all_files(scans, weights, monkeypatch):
    from point2node.data.remote import RemotePath

    memory = fsspec.filesystem("memory")
    memory.store.clear()
    send, left = RemotePath.send, [1]

    def stopped(self, source):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        send(self, source)

    words = ("predict", "scans/a.ply", "--weights", weights, "--no-report", "--out", "memory://out")
    monkeypatch.setattr(RemotePath, "send", stopped)
    assert run(*words).exit_code == 130
    assert b"unfinished" in memory.cat_file("/out/a_labelled.ply.classes.json")
    monkeypatch.setattr(RemotePath, "send", send)
    assert "points in" in run(*words).stdout
    assert json.loads(memory.cat_file("/out/a_labelled.ply.classes.json"))["points"] == 900


def test_several_processes_make_the_files_of_one(scans, weights):
    pytest.importorskip("distributed")
    words = ("predict", "scans", "--weights", weights, "--no-report")
    assert run(*words, "--out", "alone").exit_code == 1
    result = run(*words, "--out", "out", "--workers", "2")
    assert result.exit_code == 1, result.output
    assert "5 of 6 scans labelled, 1 failed" in result.stdout
    assert "bad.laz: expected a LAS file" in result.stderr
    assert not differing(scans / "out", scans / "alone")
    assert without_seconds(rows_of(scans / "out")) == without_seconds(rows_of(scans / "alone"))


@pytest.mark.slow  # its processes need the cores that parallel tests take
def test_a_kill_or_stop_amid_the_work_leaves_whole_files_and_no_processes(scans, weights):
    pytest.importorskip("distributed")
    words = ("predict", "scans", "--weights", weights, "--no-report", "--votes", "80")  # so that it takes a while
    assert run(*words, "--out", "undisturbed").exit_code == 1
    for number, blow in enumerate((signal.SIGKILL, signal.SIGINT)):
        process = start(*words, "--out", f"out{number}", "--cluster", "local:2")
        for line in process.stderr:
            if line.startswith("[1/6]"):
                break
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        if blow == signal.SIGINT:
            os.killpg(process.pid, blow)  # as a terminal does: workers get it, too
        else:
            process.kill()
        _, said = process.communicate(timeout=300)
        if blow == signal.SIGINT:
            assert process.returncode == 130, said
            assert "scans are done; run the command again for the others" in said
            assert "Traceback" not in said
        psutil.wait_procs(children, timeout=120)
        assert not [child for child in children if child.is_running()]
        again = run(*words, "--out", f"out{number}")
        assert again.exit_code == 1, again.output
        assert not differing(scans / f"out{number}", scans / "undisturbed")


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler with two workers, as somebody would start them; gives its file and the workers."""
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    environment = dict(os.environ) | {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    server = [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    worker = [
        *dask,
        "worker",
        "--host",
        "127.0.0.1",
        "--no-dashboard",
        "--nthreads",
        "1",
        "--scheduler-file",
        str(file),
    ]
    processes = [subprocess.Popen(server, **quiet, env=environment)]
    while not file.exists():
        time.sleep(0.1)
    processes += [subprocess.Popen(worker, **quiet, env=environment) for _ in range(2)]
    yield file, processes[0], processes[1:]
    for process in processes:
        for child in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []:
            child.kill()
        process.kill()
        process.wait()


@pytest.mark.slow  # likewise
def test_a_cluster_that_loses_workers_does_all_scans(scans, weights, scheduler):
    file, _, workers = scheduler
    words = ("predict", "scans", "--weights", weights, "--no-report")
    assert run(*words, "--out", "undisturbed").exit_code == 1
    process = start(*words, "--out", "out", "--cluster", file)
    for line in process.stderr:
        if line.startswith("[1/6]"):
            break
    for child in psutil.Process(workers[0].pid).children(recursive=True):
        child.kill()  # its nanny starts another
    workers[0].kill()  # and it does not
    (scans / "out" / f"{TEMPORARY}half.ply").write_bytes(b"ply")  # as if it had died while it wrote
    shown, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "1 failed" in shown
    assert not differing(scans / "out", scans / "undisturbed")


@pytest.mark.slow  # likewise
def test_a_scheduler_that_dies_ends_the_command_in_one_line(scans, weights, scheduler):
    file, server, _ = scheduler
    words = ("predict", "scans", "--weights", weights, "--no-report", "--votes", "80")  # so that it takes a while
    process = start(*words, "--out", "out", "--cluster", file)
    for line in process.stderr:
        if line.startswith("[1/6]"):
            break
    server.kill()
    _, said = process.communicate(timeout=300)
    assert process.returncode == 1
    assert said.splitlines()[-1].endswith("; run the command again for the others")
    assert "Traceback" not in said
