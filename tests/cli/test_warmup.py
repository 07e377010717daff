"""The real command in processes with a cache of their own."""

import os
import subprocess
import sys

import pytest

from point2node.formats import write
from tests.inference.labellers import write_real_weights
from tests.scenarios.test_predict import small_scan

COMPILING = "compiling kernels"


@pytest.mark.slow
def test_after_a_warmup_predict_has_nothing_to_compile(tmp_path):
    weights = write_real_weights(tmp_path / "fresh.safetensors")
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    def run(*words):
        command = [sys.executable, "-m", "point2node", *map(str, words), "--weights", str(weights)]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)

    first = run("warmup")
    assert COMPILING in first.stderr
    assert "ready in" in first.stdout
    assert COMPILING not in run("warmup").stderr
    for suffix in (".ply", ".csv", ".laz", ".npz"):
        write(tmp_path / f"scan{suffix}", small_scan(6000))
    for words in ((), ("--no-color",), ("--thin", "0.05")):
        assert COMPILING not in run("predict", *tmp_path.glob("scan.*"), *words, "--overwrite").stderr
