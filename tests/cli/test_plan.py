import json
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.core.point_cloud import PointCloud
from point2node.formats import write
from tests.show.rooms import room
from tests.show.test_floor_plan import DOOR, TABLE, WINDOW, door_with_leaf


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def labelled(tmp_path):
    scene, _ = room(objects=(DOOR, WINDOW, TABLE), yaw=0.3)
    write(tmp_path / "room & co.ply", PointCloud(scene.xyz, labels=scene.labels))
    return tmp_path / "room & co.ply"


def test_a_plan_is_drawn_to_scale_with_a_legend(labelled, tmp_path):
    result = run("plan", labelled)
    assert result.exit_code == 0, result.output
    assert "m², perimeter 1" in result.stdout
    assert "4 walls, 1 doors, 1 windows" in result.stdout
    drawing = ElementTree.parse(tmp_path / "room & co_plan.svg").getroot()
    texts = [one.text for one in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"room & co", "1 m, scale 1:50", "door", "window", "table", "Height 2.50 m"} <= set(texts)
    outline = next(one for one in drawing.iter("{http://www.w3.org/2000/svg}polygon") if one.get("class") == "room")
    corners = np.array([[float(x) for x in pair.split(",")] for pair in outline.get("points").split()])
    assert np.ptp(corners, axis=0) == pytest.approx([5000 / 50, 4000 / 50], rel=0.01)  # level, and to scale


def test_dxf_and_json_hold_the_plan_in_metres_and_coordinates_of_the_scan(labelled, tmp_path):
    ezdxf = pytest.importorskip("ezdxf")
    result = run("plan", labelled, "--out", tmp_path / "p.dxf", "--out", tmp_path / "p.json")
    assert result.exit_code == 0, result.output
    note = json.loads((tmp_path / "p.json").read_text())
    assert note["area"] == pytest.approx(20, rel=0.01)
    assert len(note["walls"]) == 4
    drawing = ezdxf.readfile(tmp_path / "p.dxf")
    assert not drawing.audit().errors
    assert drawing.header["$INSUNITS"] == 6
    (outline,) = drawing.modelspace().query("LWPOLYLINE[layer=='OUTLINE']")
    assert np.allclose(np.array(outline.get_points("xy")), note["outline"])
    assert len(drawing.modelspace().query("LWPOLYLINE[layer=='DOORS']")) == 1


def test_an_open_leaf_is_drawn_with_its_swing_and_named_in_the_json(tmp_path):
    scene = door_with_leaf("start", 1.3)
    write(tmp_path / "room.ply", PointCloud(scene.xyz, labels=scene.labels))
    outs = [word for end in ("svg", "dxf", "json") for word in ("--out", tmp_path / f"p.{end}")]
    assert run("plan", tmp_path / "room.ply", *outs).exit_code == 0
    (door,) = json.loads((tmp_path / "p.json").read_text())["openings"]
    (leaf,) = door["leaves"]
    assert (leaf["side"], leaf["inwards"]) == ("right", True)
    drawing = ElementTree.parse(tmp_path / "p.svg").getroot()
    lines = {
        one.get("class"): one.get("points").split() for one in drawing.iter("{http://www.w3.org/2000/svg}polyline")
    }
    assert lines["leaf"][1] == lines["swing"][-1]
    ezdxf = pytest.importorskip("ezdxf")
    (line,) = ezdxf.readfile(tmp_path / "p.dxf").modelspace().query("LINE[layer=='DOORS']")
    assert np.allclose((line.dxf.start.x, line.dxf.start.y), leaf["hinge"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "plan.pdf"), "--out: expected a file that ends in .svg, .dxf, .json, found plan.pdf."),
        (("--out", "missing/plan.svg"), "no such folder"),
    ],
)
def test_what_cannot_be_written_ends_in_one_line(labelled, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    result = run("plan", labelled, *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_scans_that_are_no_rooms_end_in_one_line(tmp_path):
    write(tmp_path / "plain.ply", PointCloud(np.zeros((3, 3))))
    write(tmp_path / "one.ply", PointCloud(np.zeros((1, 3)), labels=[1]))
    for name in ("plain.ply", "one.ply"):
        result = run("plan", tmp_path / name)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1


def test_a_missing_library_is_named(labelled, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ezdxf", None)
    result = run("plan", labelled, "--out", tmp_path / "p.dxf")
    assert result.exit_code == 2
    assert "pip install 'point2node[plan]'" in result.stderr
