"""The commands behind docs/experiments.md, at a budget of two steps."""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest

import experiments.running
from experiments import ablation, modelnet10, modelnet40
from point2node.weights.run_folder import RunFolder
from tests.scenarios.stores import QUICK

pytestmark = pytest.mark.slow


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments.running, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(ablation, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def test_fewer_classes_start_from_more_and_learn_from_both_samplings(tmp_path, results, monkeypatch):
    forty = write_samplings(tmp_path / "forty", ["chair", "sofa", "table"], seed=1)
    ten = write_samplings(tmp_path / "ten", ["chair", "table"], seed=2)
    words = (*QUICK, "points=512", "width=1", "warmup_steps=1")
    monkeypatch.setattr(modelnet10, "HOLDING_BACK", ("folds=4", "fold=0"))
    start = tmp_path / "start"
    held_back = (*words, "classes=null", "folds=4", "fold=0")
    twin = experiments.running.train_once(start, modelnet10.PRESET, held_back, forty)
    experiments.running.calibrate_once(twin, "--votes", "2", "--weights", "last")
    monkeypatch.setenv("POINT2NODE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(modelnet10, "START", start)
    monkeypatch.setattr(modelnet10, "WORDS", (*words, "classes=2"))
    monkeypatch.setattr(modelnet10, "VOTES", 2)
    modelnet10.make_table(tmp_path / "runs", ten, forty)
    figures = json.loads((results / "modelnet10.json").read_text())["figures"]
    assert figures["result"]["units"] == figures["start"]["units"] == 4  # a quarter of eight shapes of each class
    card = RunFolder(tmp_path / "runs" / "point2node-seed0").read_card()
    assert (card.training, card.validation) == (2 * 12, 4)
    rows = [line.split("|") for line in (results / "modelnet10.md").read_text().splitlines()[2:]]
    assert [row[6].strip() for row in rows] == ["1", "2", "1", "2"]
    both = tmp_path / "cache" / "modelnet10_both_samplings"
    learned, scored = (names_in(both, split) for split in ("train", "val"))
    assert not learned & scored
    assert learned | scored == {f"{name}_{number:04d}" for name in ("chair", "table") for number in range(8)}
    weights = tmp_path / "runs" / "point2node-seed0" / "calibrated.safetensors"
    before = weights.stat().st_mtime_ns
    modelnet10.make_table(tmp_path / "runs", ten, forty)
    assert weights.stat().st_mtime_ns == before


def write_samplings(root, classes, seed):
    """Eight shapes of each class, their names alike in every folder, in an order that depends on the seed."""
    root.mkdir()
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(classes)), 8))
    counts = dict.fromkeys(range(len(classes)), 0)
    names = []
    for label in labels.tolist():
        names.append(f"{classes[label]}_{counts[label]:04d}")
        counts[label] += 1
    with h5py.File(root / "ply_data_train0.h5", "w") as file:
        file["data"] = rng.uniform(-1, 1, (len(labels), 600, 3)).astype(np.float32)
        file["label"] = labels[:, None].astype(np.uint8)
        file["name"] = np.array(names, "S")
    (root / "shape_names.txt").write_text("\n".join(classes) + "\n")
    (root / "train_files.txt").write_text("ply_data_train0.h5\n")
    return root


def names_in(folder, split):
    found = set()
    for file in folder.glob(f"ply_data_{split}*.h5"):
        with h5py.File(file) as opened:
            found |= {name.decode() for name in opened["name"][:]}
    return found


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
    command = [sys.executable, "-m", "experiments", "modelnet10", "--modelnet10", str(tmp_path / "nowhere")]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 2
    assert "needs --modelnet10" in found.stderr
