"""Every command of docs/training.md runs, in order, shortened by settings only."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from tests.scenarios.stores import QUICK, write_area_store, write_room_store

DOCUMENT = (Path(__file__).parents[1] / "docs/training.md").read_text(encoding="utf-8")


def find_commands():
    blocks = re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.slow
def test_every_command_runs(tmp_path, monkeypatch):
    write_area_store(tmp_path / "stores" / "s3dis")
    rooms = write_room_store(tmp_path / "rooms")
    monkeypatch.chdir(tmp_path)
    for command in find_commands():
        program, name, *arguments = shlex.split(command)
        assert program == "point2node"
        if name in ("train", "ablate") and "--resume" not in arguments:
            arguments += [*QUICK, "steps=2", "size=tiny"]
            arguments += [] if "--data" in arguments else ["--data", str(rooms)]
        result = CliRunner().invoke(app, [name, *arguments])
        assert result.exit_code == 0, f"{command}\n{result.output}"
    assert (tmp_path / "report.html").is_file()
    assert (tmp_path / "six_fold.json").is_file()
