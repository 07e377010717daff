"""``python -m experiments clicks`` on a small room in place of the generated ones."""

import json

import numpy as np
import pytest

from experiments import clicks, running
from point2node.teaching.learning import Recipe
from tests.show.viewer.weights import small_room
from tests.teaching.lessons import write_fresh_weights


@pytest.fixture
def results(tmp_path, monkeypatch):
    cloud = small_room(2000)
    truth = np.where(cloud.xyz[:, 2] == 0, 1, np.where(cloud.xyz[:, 1] == 2, 6, 2))
    monkeypatch.setattr(running, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(clicks, "CLICKS", (1, 3))
    monkeypatch.setattr(clicks, "rooms_to_correct", lambda *given: [("generated", "room_0", cloud, truth)])
    weights = write_fresh_weights(tmp_path / "fresh.safetensors")
    clicks.make_table(str(weights), None, 1, Recipe(steps=80, learning_rate=0.02))
    return tmp_path / "results"


def test_clicks_on_the_three_surfaces_of_a_room_label_it_and_every_way_is_told(results):
    found = json.loads((results / "clicks.json").read_text())["figures"]["rooms"]
    assert [(one["way"], one["clicks"]) for one in found] == [
        ("", 0),
        *((way, count) for way in clicks.WAYS for count in (1, 3)),
    ]
    before = found[0]["shown"]
    after = {one["way"]: one for one in found if one["clicks"] == 3}
    assert after["next"]["shown"] > 0.8 > before
    assert after["largest mistake"]["shown"] > 0.8
    assert all(one["seconds"] >= 0 for one in found)
    table = (results / "clicks.md").read_text()
    assert "| 1 generated | 3 | next |" in table
    assert "| 1 generated | 0 | – |" in table
