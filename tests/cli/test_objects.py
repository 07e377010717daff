import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.formats import read, write
from tests.show.rooms import room
from tests.show.test_objects import FURNITURE


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def labelled(tmp_path):
    scene, instances = room(objects=FURNITURE)
    cloud = PointCloud(scene.xyz, labels=scene.labels, instance=instances)
    write(tmp_path / "truth.ply", cloud)
    write(tmp_path / "room.ply", cloud.with_(instance=None))
    return tmp_path / "room.ply"


def test_objects_become_json_csv_boxes_and_parts(labelled, tmp_path):
    result = run("objects", labelled, "--truth", tmp_path / "truth.ply", "--parts")
    assert result.exit_code == 0, result.output
    assert "4 objects: 2 chair" in result.stdout
    assert "chair: 2 true, 2 found, precision 100 %, recall 100 %" in result.stdout
    folder = tmp_path / "room_objects"
    note = json.loads((folder / "objects.json").read_text())
    assert note["counts"] == {"door": 1, "table": 1, "chair": 2}
    assert [plane["kind"] for plane in note["planes"]] == ["floor", "ceiling"] + 4 * ["wall"]
    rows = list(csv.DictReader((folder / "objects.csv").open()))
    assert [row["name"] for row in rows] == [one["name"] for one in note["objects"]]
    boxes = read(folder / "boxes.ply")
    assert len(boxes) == 4 * 8
    assert len(boxes.faces) == 4 * 12
    assert np.allclose(read(folder / "boxes.obj").xyz, boxes.xyz, atol=1e-3)
    assert len(read(folder / "table_01.ply")) == note["objects"][1]["points"]


def test_a_scan_in_millimetres_has_objects_in_metres(labelled, tmp_path):
    cloud = read(labelled)
    write(tmp_path / "mm.ply", cloud.with_(xyz=cloud.xyz * 1000))
    listed = [{"name": one.name, "value": one.value, "colour": one.colour} for one in S3DIS]
    note = {"point2node": "0", "input": "", "weights": "", "classes": listed, "points": len(cloud)}
    (tmp_path / "mm.ply.classes.json").write_text(json.dumps(note | {"protocol": {"scale": 0.001, "up": "z"}}))
    assert run("objects", tmp_path / "mm.ply", "--out", tmp_path / "out").exit_code == 0
    table = json.loads((tmp_path / "out/objects.json").read_text())["objects"][1]
    assert (table["class"], table["length"]) == ("table", pytest.approx(1.5, abs=0.05))


@pytest.mark.parametrize("case", ["unlabelled", "no instances", "missing", "one point"])
def test_what_cannot_be_used_ends_in_one_line(labelled, tmp_path, case):
    write(tmp_path / "plain.ply", PointCloud(np.zeros((3, 3))))
    write(tmp_path / "one.ply", PointCloud(np.zeros((1, 3)), labels=[8]))
    write(tmp_path / "copy.ply", read(labelled))
    words, said = {
        "unlabelled": ((tmp_path / "plain.ply",), "expected a cloud with labels"),
        "no instances": ((labelled, "--truth", tmp_path / "copy.ply"), "a field 'instance'"),
        "missing": ((tmp_path / "none.ply",), "none.ply"),
        "one point": ((tmp_path / "one.ply",), ""),
    }[case]
    result = run("objects", *words)
    assert result.exit_code == (0 if case == "one point" else 2), result.output
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == (0 if case == "one point" else 1)
