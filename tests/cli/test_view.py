import threading

import numpy as np
import pytest
from typer.testing import CliRunner

import point2node
from point2node.cli.main import app
from point2node.cli.view import find_scans
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from tests.show.viewer.weights import write_tiny_weights


@pytest.fixture
def folder(tmp_path):
    for name in ("b.ply", "a.xyz"):
        point2node.write(tmp_path / name, PointCloud(np.random.default_rng(0).random((20, 3))))
    (tmp_path / "notes.md").write_text("no scan")
    return tmp_path


@pytest.fixture
def weights(tmp_path_factory):
    return str(write_tiny_weights(tmp_path_factory.mktemp("weights") / "tiny.safetensors"))


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl+C as soon as the page is served."""

    def interrupt(self, timeout=None):
        raise KeyboardInterrupt

    class Interrupted(threading.Event):
        wait = interrupt

    monkeypatch.setattr("point2node.cli.view.Event", Interrupted)


def run(*arguments):
    return CliRunner().invoke(app, ["view", "--no-open", *arguments])


def test_a_folder_offers_its_scans_and_nothing_else(folder):
    assert list(find_scans(folder)) == ["a.xyz", "b.ply"]
    assert find_scans(folder / "b.ply") == {"b.ply": folder / "b.ply"}


def test_what_is_no_scan_is_refused(folder):
    for wrong in (folder / "none.ply", folder / "notes.md"):
        with pytest.raises(InputError):
            find_scans(wrong)
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match="no file of a readable format"):
        find_scans(folder / "empty")


def test_the_address_is_said_in_one_line(folder, weights, interrupted):
    result = run(str(folder), "--weights", weights, "--port", "0")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].startswith("open http://127.0.0.1:")
    assert "warning" not in result.stderr


def test_an_address_for_others_is_warned_about(weights, interrupted):
    result = run("--weights", weights, "--port", "0", "--host", "0.0.0.0")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("warning: anyone with the link who can reach")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--up", "w"], "--up"),
        (["--scale", "0"], "--scale"),
        (["--host", "192.0.2.1"], "--host"),
        (["missing.ply"], "missing.ply"),
        (["--weights", "no such weights"], "no such weights"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_code_2(arguments, reason):
    result = run(*arguments)
    assert result.exit_code == 2
    assert reason in result.stderr
    assert len(result.stderr.splitlines()) == 1
