import json

import pytest
from typer.testing import CliRunner

from point2node.cli import doctor
from point2node.cli.main import app
from tests.data.layouts import (
    write_damaged_s3dis,
    write_modelnet_h5,
    write_room,
    write_scannet_pickles,
    write_whole_s3dis,
)


def run(*arguments):
    return CliRunner().invoke(app, ["doctor", *map(str, arguments)])


def test_alone_it_examines_the_installation():
    result = run()
    assert result.exit_code == 0
    assert "torch: " in result.stdout
    assert "threads" in json.loads(run("--json").stdout)


def test_a_whole_copy_exits_with_0(tmp_path):
    result = run("s3dis", write_whole_s3dis(tmp_path), "--workers", 1)
    assert result.exit_code == 0
    assert "Area_5: 68 of 68 rooms" in result.stdout
    assert result.stdout.endswith("whole: nothing to report\n")


def test_findings_exit_with_1_and_name_path_line_and_bytes(tmp_path):
    result = run("s3dis", write_damaged_s3dis(tmp_path / "root"), "--repair", tmp_path / "repairs", "--workers", 1)
    assert result.exit_code == 1
    assert r"Area_5/hallway_6/Annotations/ceiling_1.txt, line 2: expected six numbers" in result.stdout
    assert r"185\x00187" in result.stdout
    assert "raw annotations, aligned" in result.stdout
    assert f"repaired: {tmp_path / 'repairs'}" in result.stdout


def test_something_unreadable_exits_with_2_and_one_line(tmp_path):
    result = run("s3dis", tmp_path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert run("s3dis").exit_code == 2


@pytest.mark.parametrize(
    ("dataset", "write", "unit"),
    [("scannet", write_scannet_pickles, "scenes"), ("modelnet", write_modelnet_h5, "shapes")],
)
def test_json_is_all_that_is_printed(tmp_path, dataset, write, unit):
    result = run(dataset, write(tmp_path), "--workers", 1, "--json")
    diagnosis = json.loads(result.stdout)
    assert result.exit_code == 1
    assert diagnosis["unit"] == unit
    assert set(diagnosis["findings"][0]) == {"path", "line", "problem"}


def test_repairs_never_go_into_the_original(tmp_path):
    write_room(tmp_path / "Area_1", "office_1", {"wall_1": [b"1 2\x003 4 5 6"]})
    result = run("s3dis", tmp_path, "--repair", tmp_path / "repairs")
    assert result.exit_code == 2
    assert "a folder outside the data set" in result.stderr
    assert not (tmp_path / "repairs").exists()


def test_versions_device_and_threads_are_named():
    found, missing = doctor.examine_installation()
    assert missing == []
    assert {"python", "torch", "numba", "device", "threads"} <= set(found)


def test_a_missing_extra_comes_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(doctor, "EXTRAS", {"no-such-package": "las"})
    found, missing = doctor.examine_installation()
    assert found["no-such-package"] == "not installed (optional); pip install 'point2node[las]'"
    assert missing == []


def test_a_missing_requirement_is_told_apart(monkeypatch):
    monkeypatch.setattr(doctor, "REQUIRED", ("no-such-package",))
    found, missing = doctor.examine_installation()
    assert found["no-such-package"] == "missing; pip install no-such-package"
    assert missing == ["no-such-package"]
