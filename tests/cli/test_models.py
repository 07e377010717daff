import json

from typer.testing import CliRunner

from point2node import PRESETS, VARIANTS
from point2node.cli.main import app


def test_json_is_a_list_of_objects_with_the_promised_keys():
    result = CliRunner().invoke(app, ["models", "--json"])
    entries = json.loads(result.stdout)
    assert len(entries) == len(PRESETS) * len(VARIANTS)
    for entry in entries:
        assert set(entry) == {"name", "task", "preset", "variant", "parameters", "parameters_mi", "macs"}
        assert isinstance(entry["parameters"], int)
        assert isinstance(entry["macs"], int)
    s3dis = {entry["variant"]: entry for entry in entries if entry["preset"] == "s3dis"}
    assert s3dis["baseline"]["parameters"] == 11_512_845


def test_the_table_names_every_preset():
    output = CliRunner().invoke(app, ["models"]).output
    assert all(preset in output for preset in PRESETS)
    assert "11,512,845" in output
