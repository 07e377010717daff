"""A run that is stopped, anywhere and in any way, ends in the same bytes as one that is not."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from point2node.cli.progress import SilentWatch
from point2node.core.errors import InputError
from point2node.training import launch
from point2node.training.loop import FINAL_FILES
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import load_preset
from tests.scenarios.stores import QUICK


class StoppedError(Exception):
    pass


class StoppingWatch(SilentWatch):
    """Ends the run with an exception after some step, before its checkpoint is written."""

    def __init__(self, last_step):
        self.last_step = last_step

    def step(self, step, epoch, values):
        if step == self.last_step:
            raise StoppedError


def nothing(done, total, name):
    pass


def begin(store, out, words=(), watch=None):
    settings = load_preset("tiny", [*QUICK, *words])
    return launch.begin("tiny", settings, store, RunFolder(out), watch or SilentWatch(), nothing)


@pytest.mark.parametrize("words", [(), ("ema_decay=0.9", "optimiser=adamw", "gradient_clip=1", "schedule=cosine")])
def test_a_run_stopped_after_each_step_in_turn_ends_in_the_same_bytes(words, room_store, tmp_path):
    begin(room_store, tmp_path / "whole", words)
    with pytest.raises(StoppedError):
        begin(room_store, tmp_path / "run", words, StoppingWatch(1))
    run = RunFolder(tmp_path / "run")
    for step in range(1, 7):  # each time the step that was not saved is done again, and one more
        with pytest.raises(StoppedError):
            launch.resume(run, None, [], None, StoppingWatch(step), nothing)
    launch.resume(run, "tiny", ["num_workers=1"], None, SilentWatch(), nothing)
    for name in FINAL_FILES:
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_loss_that_is_not_finite_stops_the_run_and_says_where(room_store, tmp_path):
    with pytest.raises(InputError) as caught:
        begin(room_store, tmp_path / "run", ["learning_rate=1e30", "steps=50"])
    message = str(caught.value)
    assert "expected a finite loss, found nan at step" in message
    assert "room " in message
    assert "The last good checkpoint is step" in message
    run = RunFolder(tmp_path / "run")
    assert run.state.is_file()
    assert not run.finished


def test_a_full_disk_leaves_the_previous_checkpoint(room_store, tmp_path, monkeypatch):
    class FillingWatch(SilentWatch):
        def step(self, step, epoch, values):
            if step == 4:
                monkeypatch.setattr(os, "fsync", full)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError) as caught:
        begin(room_store, tmp_path / "run", ["validate_every=100"], FillingWatch())
    assert "no space left on device" in str(caught.value)
    assert "The checkpoint of step 3 is intact" in str(caught.value)
    monkeypatch.undo()
    launch.resume(RunFolder(tmp_path / "run"), None, [], None, SilentWatch(), nothing)
    begin(room_store, tmp_path / "whole", ["validate_every=100"])
    assert (tmp_path / "run" / "last.safetensors").read_bytes() == (
        tmp_path / "whole" / "last.safetensors"
    ).read_bytes()


def command(*words):
    return [sys.executable, "-m", "point2node", "train", *map(str, words)]


def test_ctrl_c_keeps_the_step_in_progress_and_says_how_to_go_on(room_store, tmp_path):
    out = tmp_path / "run"
    words = ("tiny", *QUICK, "steps=100000", "validate_every=100000", "--data", room_store, "--out", out)
    process = subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True)
    wait_for(
        lambda: (out / "history.csv").is_file() and len((out / "history.csv").read_text().splitlines()) > 2, process
    )
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert f"resume with: point2node train --resume {out}" in errors
    assert "Traceback" not in errors


@pytest.mark.slow
def test_a_process_killed_at_random_moments_ends_in_the_same_bytes(room_store, tmp_path):
    words = ("tiny", *QUICK, "steps=120", "validate_every=50", "checkpoint_seconds=0.5", "num_workers=1")
    subprocess.run(command(*words, "--data", room_store, "--out", tmp_path / "whole"), check=True, timeout=600)
    out, moments = tmp_path / "run", random.Random(3)
    process = subprocess.Popen(command(*words, "--data", room_store, "--out", out))
    kills = 0
    for _ in range(4):
        wait_for((out / "run.json").is_file, process)
        seen = steps_done(out)
        wait_for(lambda seen=seen: steps_done(out) != seen, process)  # it trains
        time.sleep(moments.uniform(0, 2))
        if process.poll() is None:
            process.kill()
            kills += 1
        process.wait()
        if (out / "summary.json").is_file():
            break
        process = subprocess.Popen(command("--resume", out))
    assert process.wait(timeout=600) == 0
    assert kills > 0
    for name in FINAL_FILES:
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def steps_done(out):
    return (out / "history.csv").read_text().splitlines()[-1] if (out / "history.csv").is_file() else None


def wait_for(happened, process, seconds=300):
    """Wait until something happened or the process ended."""
    end = time.monotonic() + seconds
    while not happened() and process.poll() is None:
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)
