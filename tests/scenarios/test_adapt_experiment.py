"""``python -m experiments adapt`` on a folder of small rooms, in the layout of real ones."""

import json
import subprocess
import sys

import numpy as np
import pytest

import experiments.running
from experiments import adapt
from point2node.weights.trained import load_trained
from tests.inference.labellers import write_real_weights
from tests.scenarios.stores import write_real_rooms


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return write_real_rooms(tmp_path_factory.mktemp("real"))


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments.running, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def test_every_way_is_scored_by_kind_and_what_was_measured_before_stays(real, tmp_path, results, monkeypatch):
    weights = write_real_weights(tmp_path / "fresh.safetensors")
    other = write_real_weights(tmp_path / "other.safetensors", width=2)
    called = []

    def instead(*words):
        called.append([str(word) for word in words])
        folder = tmp_path / "runs"
        folder.mkdir(exist_ok=True)

    monkeypatch.setattr(experiments.running, "point2node", instead)
    monkeypatch.setattr(adapt, "load_trained", lambda name: load_trained(name if name == str(weights) else str(other)))
    adapt.make_table(str(weights), real, tmp_path / "runs", steps=3)
    assert len(called) == 2
    for words, kind in zip(called, ("handheld", "panoramic"), strict=True):
        assert words[:2] == ["adapt", str(real / kind / "test")]
        assert "steps=3" in words
        assert words[words.index("--out") + 1].endswith(kind)
    (entry,) = json.loads((results / "adapt.json").read_text())["figures"]
    assert list(entry["ways"]) == [*adapt.SHARES, adapt.SELF_TRAINING]
    for found in entry["ways"].values():
        assert set(found["kinds"]) == {"handheld", "panoramic"}
        assert found["mean"]["oa"] == pytest.approx(np.mean([kind["oa"] for kind in found["kinds"].values()]))
    assert entry["ways"][adapt.SELF_TRAINING]["steps"] == 3
    scores = [way["mean"]["ece"] for way in entry["ways"].values()]
    assert len(set(scores)) == len(scores)  # every way gives something else

    adapt.make_table(str(weights), real, tmp_path / "runs")
    assert len(called) == 2
    (again,) = json.loads((results / "adapt.json").read_text())["figures"]
    assert again["ways"][adapt.SELF_TRAINING] == entry["ways"][adapt.SELF_TRAINING]
    table = (results / "adapt.md").read_text()
    assert "| fresh" in table
    assert table.count("mean, ") == len(adapt.SHARES) + 1


def test_the_folder_of_rooms_is_needed():
    found = subprocess.run([sys.executable, "-m", "experiments", "adapt"], capture_output=True, text=True)
    assert found.returncode == 2
    assert "adapt needs --real" in found.stderr
