import json

import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.weights.settings import Settings, load_preset, preset_names


def run(*words):
    return CliRunner().invoke(app, ["presets", *words])


def test_every_preset_is_listed_with_what_it_is_for():
    lines = run().output.splitlines()
    assert [line.split()[0] for line in lines] == list(preset_names())
    assert all(len(line.split()) > 4 for line in lines)
    assert list(json.loads(run("--json").output)) == list(preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_every_setting_of_a_preset_is_shown_with_its_value(name):
    shown = run(name).output
    for key in Settings.model_fields:
        assert f"\n{key}=" in shown
    values = json.loads(run(name, "--json").output)
    assert Settings(**values) == load_preset(name)


def test_every_setting_has_a_meaning():
    assert not [key for key, field in Settings.model_fields.items() if not field.description]


def test_an_unknown_preset_ends_in_one_line_with_the_known_ones():
    result = run("nothing")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "tiny" in result.stderr
