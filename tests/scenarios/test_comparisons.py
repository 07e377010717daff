"""``python -m experiments beyond`` and ``reference_models``: what the tables say, and runs of two steps."""

import json
from fnmatch import fnmatchcase

import pytest

import experiments.running
from experiments import beyond, comparison, reference_models
from experiments.comparison import Task
from point2node.models.catalogue import REFERENCE_MODELS
from point2node.weights.settings import load_preset
from tests.scenarios.stores import QUICK, write_real_rooms

COSTS = {"macs": 2_500_000_000, "training_seconds": 0.25, "inference_seconds": 0.05, "peak_megabytes": 1200.0}
GENERATED, REAL, SHAPES = (measure.heading for measure in comparison.MEASURES)


BOTH = (comparison.ROOMS, comparison.SHAPES)


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments.running, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def leave_run(runs, name, score, real=None):
    """What a finished run is reported by, without its weights."""
    run = runs / name
    run.mkdir(parents=True)
    split = "test" if name.startswith("rooms") else "val"
    result = {"trained_steps": 2, "parameters": 1234, "oa": score / 100, "macc": 0.5, "miou": score / 100}
    (run / f"scored-{split}-weights-last.json").write_text(json.dumps(result))
    (run / "costs.json").write_text(json.dumps(COSTS))
    if real is not None:
        scored = {"kinds": {}, "mean": {"oa": 0.5, "miou": real / 100}}
        (run / "scored-real.json").write_text(json.dumps(scored))


def tables_in(file):
    """Every table of a file: the cells of each row by heading, by the first cell of the row."""
    tables = []
    for text in file.read_text().split("\n\n"):
        if text.startswith("|"):
            rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
            tables.append({row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]})
    return tables


def test_a_claim_is_judged_by_the_differences_within_each_seed(tmp_path, results):
    runs = tmp_path / "runs"
    scores = {"point2node": (30, 50, 40), "joint": (31, 52, 43), "scaled": (29, 51, 41), "baseline": (28, 49, 38)}
    for network, found in scores.items():
        for seed, score in enumerate(found):
            leave_run(runs, f"rooms/{network}-seed{seed}", score, real=None if seed else score - 10)
    beyond.write_tables(runs)
    reached, claims = tables_in(results / "beyond.md")
    assert reached["joint"][f"{GENERATED}, %"] == "42.00 ± 10.54"
    assert reached["joint"][f"{REAL}, %"] == "21.00 (1 seed)"
    assert reached["joint"][f"{SHAPES}, %"] == "not trained"
    assert set(reached["joint_only"].values()) == {"joint_only", "not trained"}
    equal_steps = claims["joint beats point2node at equal steps"]
    assert equal_steps[f"Δ {GENERATED}"] == "holds: +2.00 ± 1.00, 3 of 3"
    assert equal_steps[f"Δ {REAL}"] == "undecided: +1.00, 1 of 1"  # one seed decides nothing
    assert equal_steps[f"Δ {SHAPES}"] == "not trained"
    assert claims["the scale 1/√(C/r) helps point2node"][f"Δ {GENERATED}"] == "undecided: +0.33 ± 1.15, 2 of 3"
    assert claims["joint beats point2node at equal time"][f"Δ {GENERATED}"] == "not trained"
    assert claims["the three blocks together help"]["Δ mIoU, paper"] == "+6.26"
    assert len(json.loads((results / "beyond.json").read_text())["figures"]) == 12


def test_what_is_trained_but_not_scored_on_real_rooms_is_said(tmp_path, results):
    leave_run(tmp_path, "rooms/baseline-seed0", 30)
    beyond.write_tables(tmp_path)
    reached, _ = tables_in(results / "beyond.md")
    assert reached["baseline"] == {
        "network": "baseline",
        f"{GENERATED}, %": "30.00 (1 seed)",
        f"{REAL}, %": "not scored",
        f"{SHAPES}, %": "not trained",
    }


def test_gains_are_counted_behind_networks_with_every_seed(tmp_path, results):
    for seed, gain in enumerate((3, -1, 1)):
        leave_run(tmp_path, f"modelnet40/dgcnn-seed{seed}", 80)
        leave_run(tmp_path, f"modelnet40/dgcnn_correlated-seed{seed}", 80 + gain)
        leave_run(tmp_path, f"modelnet40/pointnet-seed{seed}", 80)
        leave_run(tmp_path, f"modelnet40/pointnet_correlated-seed{seed}", 80 - gain)
    leave_run(tmp_path, "modelnet40/kcnet-seed0", 80)
    leave_run(tmp_path, "modelnet40/kcnet_correlated-seed0", 90)
    reference_models.write_tables(tmp_path)
    text = (results / "reference_models.md").read_text()
    assert f"- {SHAPES}: the correlations gain behind 1 of 2 networks" in text
    assert f"- {GENERATED}: not trained with all 3 seeds" in text
    rooms, shapes, claims = tables_in(results / "reference_models.md")
    assert claims["the correlations help dgcnn"][f"Δ {SHAPES}"] == "undecided: +1.00 ± 2.00, 2 of 3"
    costs = ("1,234", "2.50", "250", "50", "1.2")
    assert tuple(shapes["dgcnn"][name] for name in reference_models.COSTS) == costs
    assert set(rooms["dgcnn"].values()) == {"dgcnn", "not trained", ""}


def test_every_network_of_the_catalogue_is_compared_with_and_without_the_correlations():
    assert {*REFERENCE_MODELS, "point2node"} == set(reference_models.BACKBONES.values())
    plans = list(reference_models.plan(BOTH))
    names = [plan.name for plan in plans]
    assert len(set(names)) == len(names) == 3 * 2 * (11 + 10)  # GACNet has no classifier
    assert [plan.seed for plan in plans] == sorted(plan.seed for plan in plans)
    for task in BOTH:
        recipes = {word for plan in plans if plan.task == task for word in plan.words}
        assert {word.split("=")[0] for word in recipes} == {"model", "variant", "width", "steps", "validate_every"}
    assert "modelnet40/gacnet-seed0" not in names
    assert sum(fnmatchcase(name, "rooms/dgcnn*-seed0") for name in names) == 2


def test_all_runs_of_a_task_have_settings_that_differ_in_network_length_and_seed_alone(tmp_path):
    own = {"model", "variant", "width", "correlation_scale", "steps", "validate_every", "seed"}
    for task in BOTH:
        plans = [plan for plan in (*beyond.plan(BOTH, tmp_path), *reference_models.plan(BOTH)) if plan.task == task]
        words = {(*task.words, *plan.words) for plan in plans}
        assert len({load_preset(task.preset, one).model_dump_json(exclude=own) for one in words}) == 1


def test_joint_gets_as_long_as_point2node_only_once_both_are_trained(tmp_path):
    names = [plan.network for plan in beyond.plan((comparison.ROOMS,), tmp_path)]
    assert "point2node_as_long_as_joint" not in names
    file = tmp_path / "rooms" / "equal_time.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"steps": 2700}))
    steps = {
        plan.network: next(word for word in plan.words if word.startswith("steps="))
        for plan in beyond.plan((comparison.ROOMS,), tmp_path)
    }
    assert steps["point2node_as_long_as_joint"] == "steps=2700"
    assert steps["baseline_twice_as_long"] == "steps=4000"
    assert steps["joint"] == steps["point2node"] == "steps=2000"


def compare_toys(monkeypatch, room_store, shape_store):
    """The two tasks in small, by one seed."""
    shapes = (*QUICK, "classes=null", "points=512", "width=1", "warmup_steps=1", "folds=4", "fold=0")
    monkeypatch.setattr(comparison, "ROOMS", Task("rooms", "tiny", QUICK, "test", room_store))
    monkeypatch.setattr(comparison, "SHAPES", Task("modelnet40", "modelnet40_modern", shapes, "val", shape_store))
    for module in (beyond, reference_models):
        monkeypatch.setattr(module, "STEPS", {"rooms": 2, "modelnet40": 2})
        monkeypatch.setattr(module, "SEEDS", (0,))


@pytest.mark.slow
def test_rows_are_trained_once_at_equal_steps_and_at_equal_time(
    room_store, shape_store, tmp_path, results, monkeypatch
):
    compare_toys(monkeypatch, room_store, shape_store)
    names = ("point2node", "joint", "point2node_as_long_as_joint")
    monkeypatch.setattr(beyond, "ROWS", {name: beyond.ROWS[name] for name in names})
    (tmp_path / "real").mkdir()
    real, runs = write_real_rooms(tmp_path / "real"), tmp_path / "runs"
    beyond.make_table(runs, shape_store, real, ["rooms/*", "*/nothing"])
    reached, claims = tables_in(results / "beyond.md")
    for name in names:
        assert reached[name][f"{GENERATED}, %"].endswith("(1 seed)")
        assert reached[name][f"{REAL}, %"].endswith("(1 seed)")
        assert reached[name][f"{SHAPES}, %"] == "not trained"
    assert claims["joint beats point2node at equal time"][f"Δ {GENERATED}"].startswith("undecided")
    equal = json.loads((runs / "rooms" / "equal_time.json").read_text())
    joint, point2node = (equal["seconds"][f"{name}-seed0"] for name in ("joint", "point2node"))
    assert equal["steps"] == round(2 * joint / point2node)
    figures = {found["run"]: found for found in json.loads((results / "beyond.json").read_text())["figures"]}
    assert figures["rooms/point2node_as_long_as_joint-seed0"]["result"]["trained_steps"] == equal["steps"]
    assert figures["rooms/joint-seed0"]["costs"]["macs"] > figures["rooms/point2node-seed0"]["costs"]["macs"]
    table = (results / "beyond.md").read_text()
    weights = list(runs.glob("*/*/*.safetensors"))
    for file in weights:
        file.unlink()  # what was measured is kept apart from them
    beyond.make_table(runs, None, real, ["rooms/*"])
    assert (results / "beyond.md").read_text() == table
    assert not any(file.exists() for file in weights)


@pytest.mark.slow
def test_networks_are_compared_with_their_costs_on_both_tasks(room_store, shape_store, tmp_path, results, monkeypatch):
    compare_toys(monkeypatch, room_store, shape_store)
    only = ["rooms/pointnext_s*", "modelnet40/pointnet_correlated-seed0"]
    reference_models.make_table(tmp_path / "runs", shape_store, None, only)
    rooms, shapes, claims = tables_in(results / "reference_models.md")
    for row in (rooms["pointnext_s"], rooms["pointnext_s_correlated"], shapes["pointnet_correlated"]):
        assert all(row[name] for name in reference_models.COSTS)
    assert rooms["pointnext_s"][f"{REAL}, %"] == "not scored"
    assert shapes["pointnet"][f"{SHAPES}, %"] == "not trained"
    gain = claims["the correlations help pointnext_s"][f"Δ {GENERATED}"]
    assert gain.startswith("undecided: ")
    assert gain.endswith("of 1")
    figures = {found["run"]: found for found in json.loads((results / "reference_models.json").read_text())["figures"]}
    plain, correlated = (figures[f"rooms/pointnext_s{head}-seed0"] for head in ("", reference_models.HEAD))
    assert plain["costs"]["macs"] < correlated["costs"]["macs"]
    assert plain["result"]["parameters"] < correlated["result"]["parameters"]
    assert len(figures) == 3
    for found in figures.values():
        assert found["costs"]["training_seconds"] > 0
        assert found["costs"]["inference_seconds"] > 0
        assert found["costs"]["peak_megabytes"] > 50
