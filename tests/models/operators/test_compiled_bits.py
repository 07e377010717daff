"""The process that compiles the kernels and those that find them on disk give the same numbers, bit for bit."""

import os
import subprocess
import sys

import pytest

STEP = """
import hashlib, torch
from point2node.models.catalogue import create_model
torch.manual_seed(0)
for variant in ("point2node", "baseline"):
    network = create_model("point2node", preset="tiny", variant=variant)
    xyz = 2 * torch.rand(2, 256, 3) - 1
    features = torch.rand(2, 256, network.in_features) if network.in_features else None
    logits = network.train()(xyz, features)
    logits.square().mean().backward()
    results = [logits, network.eval()(xyz, features), *(p.grad for p in network.parameters() if p.grad is not None)]
    for result in results:
        print(hashlib.sha256(result.detach().contiguous().numpy().tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_code_that_was_just_compiled_computes_what_loaded_code_does(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, "-c", "import point2node\n" + STEP]
    first = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    compiled = sorted(path.name for path in tmp_path.rglob("*.nbc"))
    second = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert compiled
    assert compiled == sorted(path.name for path in tmp_path.rglob("*.nbc"))
    assert len(first.stdout.splitlines()) > 20
    assert first.stdout == second.stdout
