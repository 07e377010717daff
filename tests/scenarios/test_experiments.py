"""The commands behind docs/experiments.md, at a budget of two steps."""

import json
import subprocess
import sys

import pytest

import experiments.running
from experiments import ablation, modelnet10, modelnet40, peers
from experiments.peers import Task
from tests.scenarios.stores import QUICK

pytestmark = pytest.mark.slow


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments.running, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(ablation, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def test_networks_are_compared_in_one_table_and_trained_only_once(room_store, tmp_path, results, monkeypatch):
    words = (*QUICK, "steps=2")
    monkeypatch.setattr(peers, "TASKS", (Task("ModelNet10", "tiny", words, "test"),))
    monkeypatch.setattr(
        peers, "NETWORKS", {"PointNet": peers.NETWORKS["PointNet"], "PointCNN (baseline)": ("variant=baseline",)}
    )
    peers.make_table(tmp_path / "runs", room_store)
    table = (results / "peers.md").read_text()
    assert [line.split("|")[2].strip() for line in table.splitlines()[2:]] == ["PointNet", "PointCNN (baseline)"]
    for line, found in zip(
        table.splitlines()[2:], json.loads((results / "peers.json").read_text())["figures"], strict=True
    ):
        assert line.split("|")[3].strip() == f"{100 * found['result']['oa']:.1f}"
        assert found["epoch_seconds"] > 0
        assert found["inference_ms"] > 0
        assert found["peak_megabytes"] > 50
        assert found["result"]["protocol"]["split"] == "test"
    weights = sorted((tmp_path / "runs").glob("*/*.safetensors"))
    assert len({file.parent for file in weights}) == 2
    for file in weights:
        file.unlink()  # what was measured is kept apart from them
    peers.make_table(tmp_path / "runs", room_store)
    assert (results / "peers.md").read_text() == table
    assert not any(file.exists() for file in weights)


def test_shapes_are_trained_scored_and_calibrated_once(shape_store, tmp_path, results, monkeypatch):
    words = (*QUICK, "classes=null", "points=512", "width=1", "validation_share=0.2", "warmup_steps=1")
    for name, value in {
        "SHARED": words,
        "FIRST": (),
        "SECOND": ("learning_rate=0.0005",),
        "VOTES": 2,
        "FIRST_VOTES": 2,
    }.items():
        monkeypatch.setattr(modelnet10, name, value)
    modelnet10.make_table(tmp_path / "runs", shape_store)
    rows = [line.split("|") for line in (results / "modelnet10.md").read_text().splitlines()[2:]]
    figures = json.loads((results / "modelnet10.json").read_text())["figures"]
    first, second = (found["result"]["trained_steps"] for found in figures)  # 3 or 6: where validation was best
    steps = [str(first), str(first + second)]
    assert [(row[1].strip(), row[5].strip()) for row in rows] == [(step, votes) for step in steps for votes in "12"]
    for found in figures:
        assert found["result"]["units"] == 4
        assert found["calibration"]["temperature"] > 0
    files = [
        tmp_path / "runs" / run / name
        for run in ("first", "second")
        for name in ("last.safetensors", "calibration.json")
    ]
    before = [file.stat().st_mtime_ns for file in files]
    modelnet10.make_table(tmp_path / "runs", shape_store)
    assert [file.stat().st_mtime_ns for file in files] == before


def test_each_network_is_trained_on_everything_and_scored_by_its_twin(shape_store, tmp_path, results, monkeypatch):
    words = (*QUICK, "classes=null", "points=512", "width=1", "warmup_steps=1")
    monkeypatch.setattr(modelnet40, "HOLDING_BACK", (*words, "folds=4"))
    monkeypatch.setattr(modelnet40, "ON_EVERYTHING", (*words, "validation_share=0"))
    monkeypatch.setattr(modelnet40, "VOTES", 2)
    monkeypatch.setattr(modelnet40, "STAGES", ((), ("learning_rate=0.0005",)))
    modelnet40.make_table(tmp_path / "runs", shape_store)
    table = (results / "modelnet40.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    assert [(row[0], row[7], row[-1]) for row in rows] == [
        (name, votes, published)
        for name, published in (("Point2Node", "93.0"), ("PointCNN (baseline)", "92.2"))
        for votes in "12"
    ]
    for found in json.loads((results / "modelnet40.json").read_text())["figures"]:
        assert found["all"]["held_back"] == 0
        assert found["all"]["trained_on"] == found["twin"]["trained_on"] + found["twin"]["held_back"]
        assert found["result"]["units"] == found["twin"]["held_back"]
        assert [stage["held_back"] for stage in found["before"]] == [found["twin"]["held_back"]]
    twin, whole = (
        json.loads((tmp_path / "runs" / f"point2node-seed0-{part}" / "calibration.json").read_text())
        for part in ("fold", "all")
    )
    assert whole["temperature"] == twin["temperature"]
    assert whole["twin"] == "point2node-seed0-fold"
    files = sorted((tmp_path / "runs").glob("*/calibrated.safetensors"))
    before = [file.stat().st_mtime_ns for file in files]
    modelnet40.make_table(tmp_path / "runs", shape_store)
    assert (results / "modelnet40.md").read_text() == table
    assert [file.stat().st_mtime_ns for file in files] == before


def test_a_run_of_other_settings_is_refused_in_one_line(room_store, tmp_path):
    run = tmp_path / "ablation" / "rooms_small-baseline-seed0"
    trained = [sys.executable, "-m", "point2node", "train", "tiny", *QUICK, "steps=1"]
    subprocess.run([*trained, "--data", str(room_store), "--out", str(run)], check=True)
    command = [sys.executable, "-m", "experiments", "ablation", "--runs", str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 2
    assert "Choose another folder" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_table_without_its_data_is_refused_in_one_line(tmp_path):
    command = [sys.executable, "-m", "experiments", "peers", "--modelnet10", str(tmp_path / "nowhere")]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 2
    assert "needs --modelnet10" in found.stderr
