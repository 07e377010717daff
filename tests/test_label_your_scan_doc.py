"""Every command of docs/label-your-scan.md runs, in order, on small scans."""

import re
import shlex
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.formats import write
from point2node.weights.run_folder import RunFolder
from tests.inference.labellers import write_real_weights
from tests.scenarios.test_predict import small_scan
from tests.training.stores import quick, write_scenes

DOCUMENT = (Path(__file__).parents[1] / "docs/label-your-scan.md").read_text(encoding="utf-8")


def find_commands():
    blocks = re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def write_run(path, store):
    """A run folder with weights that were never trained."""
    from point2node.weights.run_folder import RunSizes, describe_run

    settings = quick()
    run = RunFolder(path)
    run.create(settings, describe_run(settings, "tiny", store, None, RunSizes(1, 1, 1, 1)))
    write_real_weights(run.best)


def test_every_command_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scan = small_scan(2100, labels=np.zeros(2100, np.int32))
    (tmp_path / "scans").mkdir()
    write(tmp_path / "scan_truth.ply", scan)
    write(tmp_path / "scan.ply", scan.with_(labels=None))
    write(tmp_path / "scans/a.laz", scan)
    write(tmp_path / "scan_mm.txt", scan.with_(xyz=scan.xyz * 1000))
    write_run(tmp_path / "runs/mine", write_scenes(tmp_path / "store", {"test": ("a",)}, points=20))
    (scheme,) = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
    (tmp_path / "my_classes.yaml").write_text(scheme)
    (tmp_path / "polygon.txt").write_text("0 0\n2 0\n2 2\n")
    for command in find_commands():
        program, *words = shlex.split(command)
        assert program == "point2node"
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, f"{command}\n{result.output}"
    assert (tmp_path / "scored.html").is_file()
    assert (tmp_path / "labelled_ply/a_labelled.ply").is_file()
