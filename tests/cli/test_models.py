import json

from typer.testing import CliRunner

from point2node import SIZES, list_models
from point2node.cli.main import app
from point2node.models.catalogue import REFERENCE_MODELS


def test_json_is_a_list_of_objects_with_the_promised_keys():
    result = CliRunner().invoke(app, ["models", "--json"])
    entries = json.loads(result.stdout)
    assert len(entries) == len(list(list_models()))
    for entry in entries:
        assert set(entry) == {"name", "task", "preset", "variant", "parameters", "parameters_mi", "macs"}
        assert isinstance(entry["parameters"], int)
        assert isinstance(entry["macs"], int)
    s3dis = {(entry["name"], entry["variant"]): entry for entry in entries if entry["preset"] == "s3dis"}
    assert s3dis["point2node", "baseline"]["parameters"] == 11_512_845
    assert all((name, None) in s3dis for name in REFERENCE_MODELS)
    assert all((name, "point2node") in s3dis for name in REFERENCE_MODELS)


def test_the_table_names_every_preset():
    output = CliRunner().invoke(app, ["models"]).output
    assert all(preset in output for preset in SIZES)
    assert "11,512,845" in output


def test_the_table_has_a_dash_where_a_network_stands_as_published():
    lines = CliRunner().invoke(app, ["models"]).output.splitlines()
    assert [line.split()[2] for line in lines if line.split()[:2] == ["dgcnn", "modelnet40"]] == ["–", "point2node"]
