"""The demo through the real command line."""

import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.formats import read


@pytest.mark.slow
def test_the_demo_labels_scores_and_draws_a_room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 0, result.output
    labelled = read(tmp_path / "out/demo_room_labelled.ply")
    truth = read(tmp_path / "out/demo_room_truth.ply")
    assert len(labelled) == len(truth)
    assert read(tmp_path / "out/demo_room.ply").labels is None
    assert (labelled.labels == truth.labels).mean() > 0.5  # chance is a quarter
    assert "mIoU" in result.stdout
    assert "open out/demo_room.html" in result.stdout
    assert (tmp_path / "out/demo_room_class.png").is_file()
