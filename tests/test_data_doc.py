"""Every command of docs/data.md runs, in order, beside small data sets in the layouts that it describes."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.data.store import open_store
from tests.data.layouts import (
    CLASS_FILE,
    write_damaged_s3dis,
    write_modelnet_h5,
    write_own_cloud,
    write_scannet_pickles,
)

DOCUMENT = (Path(__file__).parents[1] / "docs/data.md").read_text(encoding="utf-8")


def find_commands():
    blocks = re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def beside_the_data(tmp_path, monkeypatch):
    write_damaged_s3dis(tmp_path / "Stanford3dDataset_v1.2_Aligned_Version")
    write_scannet_pickles(tmp_path / "scannet")
    write_modelnet_h5(tmp_path / "modelnet40_ply_hdf5_2048")
    for number in range(4):
        write_own_cloud(tmp_path / "my_scans" / f"{number}.ply", [2, 5, 6, 0], seed=number)
    (tmp_path / "classes.yaml").write_text(CLASS_FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_runs(beside_the_data):
    for command in find_commands():
        program, *arguments = shlex.split(command)
        assert program == "point2node"
        result = CliRunner().invoke(app, [*arguments, "--workers", "1"])
        # the doctor's 1 stands for findings: these copies are small
        assert result.exit_code == (1 if arguments[0] == "doctor" else 0), f"{command}\n{result.output}"
        if "--out" in arguments:
            assert open_store(arguments[arguments.index("--out") + 1]).scenes()


def test_every_data_set_that_can_be_prepared_has_a_command():
    prepared = {command.split()[2] for command in find_commands() if command.split()[1] == "prepare"}
    assert prepared == {"s3dis", "scannet", "modelnet", "folder", "rooms"}


def test_the_class_file_shown_is_the_one_the_commands_use():
    (shown,) = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
    assert yaml.safe_load(shown) == yaml.safe_load(CLASS_FILE)
