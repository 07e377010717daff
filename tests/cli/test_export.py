import pytest
from typer.testing import CliRunner

from point2node.cli.main import app


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "expected a run folder, a .safetensors file or a pretrained model"),
        (["rooms", "--out", "rooms.pt"], "--out: expected a file that ends in .onnx, found rooms.pt."),
        (["rooms", "--out", "missing/rooms.onnx"], "no such folder"),
    ],
)
def test_what_cannot_be_exported_ends_in_one_line(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["export", *arguments])
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_an_unknown_format_is_refused():
    assert CliRunner().invoke(app, ["export", "rooms", "--format", "tflite"]).exit_code == 2
