"""Two processes, one training: gloo on a CPU, started by torchrun."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.scenarios.test_resume import wait_for

WORDS = (
    "tiny", "points=256", "block_points=512", "batch_size=4", "validate_every=4", "log_every=1", "num_workers=0",
    "accelerator=cpu",
)  # fmt: skip


def start(*words, processes=2, **options):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    return subprocess.Popen(
        [*launcher, "-m", "point2node", "train", *map(str, words)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def losses(run):
    rows = csv.DictReader((run / "history.csv").open())
    return np.array([float(row["loss"]) for row in rows if row["loss"]])


@pytest.mark.slow
def test_two_processes_learn_what_one_does_and_only_one_writes(room_store, tmp_path):
    # dropout differs between processes, and one step's rounding grows with the rate: neither is what is tested here
    words = (*WORDS, "steps=8", "dropout=0", "sync_batch_norm=true", "learning_rate=0.0005", "--data", room_store)
    for name, processes in (("one", 1), ("two", 2)):
        process = start(*words, "--out", tmp_path / name, processes=processes)
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert output.count("8 steps in") == 1, "only the first process speaks"
    assert len(losses(tmp_path / "two")) == 8
    np.testing.assert_allclose(losses(tmp_path / "two"), losses(tmp_path / "one"), rtol=2e-4)
    assert len(list((tmp_path / "two" / "tensorboard").iterdir())) == 1


@pytest.mark.slow
def test_a_dying_process_ends_the_job_with_a_message_and_a_usable_checkpoint(room_store, tmp_path):
    out = tmp_path / "run"
    words = (*WORDS, "steps=100000", "validate_every=100000", "checkpoint_seconds=0.2", "--data", room_store)
    process = start(*words, "--out", out)
    wait_for(lambda: (out / "history.csv").is_file() and len(losses(out)) > 3, process)
    victim = next(pid for pid in children(process.pid) if b"\0RANK=1\0" in Path(f"/proc/{pid}/environ").read_bytes())
    os.kill(victim, 9)
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "point2node: a training process died; the last checkpoint is intact" in errors, errors
    settings = (out / "settings.yaml").read_text()
    (out / "settings.yaml").write_text(re.sub(r"steps: 100000", "steps: 100", settings, count=1))
    copy = shutil.copytree(out, tmp_path / "copy")
    resumed = start("--resume", copy, "num_workers=0", processes=1)
    _, errors = resumed.communicate(timeout=300)
    assert resumed.returncode == 0, errors
    assert re.search(r"resumed at step [1-9]", errors)


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True)
    return [int(line) for line in found.stdout.split()]


def test_a_batch_that_does_not_divide_is_refused_in_one_line(room_store, tmp_path):
    process = start(*WORDS, "batch_size=3", "--data", room_store, "--out", tmp_path / "run")
    _, errors = process.communicate(timeout=300)
    assert process.returncode != 0
    assert "point2node: batch_size: expected a multiple of the 2 processes, found 3." in errors
