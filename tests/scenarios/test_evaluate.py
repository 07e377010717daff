"""``point2node evaluate``, ``ablate`` and ``report`` from the command line, on runs trained by ``train``."""

import json
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.weights.run_folder import RunFolder
from tests.scenarios.stores import QUICK, write_room_store


def point2node(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def evaluate(*arguments):
    """The JSON of an evaluation, which is all of stdout."""
    result = point2node("evaluate", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def run(room_store, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "run"
    result = point2node("train", "tiny", *QUICK, "--data", room_store, "--out", out)
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture(scope="module")
def folds(area_store, tmp_path_factory):
    """Six runs by --all-areas."""
    base = tmp_path_factory.mktemp("folds") / "s3dis"
    words = (*QUICK, "size=tiny", "steps=1", "batch_size=2")
    result = point2node("train", "s3dis", *words, "--all-areas", "--data", area_store, "--out", base)
    assert result.exit_code == 0, result.output
    return [base.with_name(f"s3dis-area{area}") for area in range(1, 7)]


def test_the_json_has_every_score_and_the_protocol(run):
    found = evaluate(run)
    assert {"oa", "macc", "miou", "iou", "accuracy", "confusion", "protocol"} <= set(found)
    assert found["split"] == "test"
    assert found["units"] == 1500
    assert found["iou"]["beam"] is None
    assert found["miou"] == pytest.approx(np.mean([value for value in found["iou"].values() if value is not None]))
    assert found["protocol"]["rule"] == "mean_probability"
    assert found["ece"] is not None


def test_calibrated_weights_decide_alike_and_score_as_calibration_said(run):
    result = point2node("calibrate", run)
    assert result.exit_code == 0, result.output
    found = json.loads((run / "calibration.json").read_text())
    assert found["protocol"]["split"] == "val"
    assert f"temperature {found['temperature']:.3f}" in result.output
    assert sum(one["count"] for one in found["after"]["bins"]) == found["units"]
    plain = point2node("evaluate", run, "--split", "val", "--json")
    assert json.loads(plain.stdout)["ece"] == found["before"]["ece"]
    assert (run / "reliability.png").read_bytes().startswith(b"\x89PNG")
    assert evaluate(run, "--split", "val", "--weights", "calibrated")["ece"] == found["after"]["ece"]
    scored = evaluate(run / "calibrated.safetensors", "--data", json.loads((run / "run.json").read_text())["data"])
    assert scored["oa"] == pytest.approx(evaluate(run)["oa"], abs=0.02)  # only the mean of several votes may differ


@pytest.mark.parametrize(("temperature", "worse"), [(1.0, False), (0.1, True)])
def test_a_calibration_that_makes_things_worse_is_warned_about(run, monkeypatch, temperature, worse):
    monkeypatch.setattr("point2node.evaluation.calibration.TemperatureSearch.best", temperature)
    result = point2node("calibrate", run)
    assert result.exit_code == 0, result.output
    assert ("warning: the calibration error grew" in result.stderr) == worse


def test_calibrated_weights_keep_the_votes_that_they_were_calibrated_with(run):
    result = point2node("calibrate", run, "--votes", "2")
    assert result.exit_code == 0, result.output
    assert evaluate(run, "--split", "val", "--weights", "calibrated")["protocol"]["votes"] == 2
    assert evaluate(run, "--split", "val")["protocol"]["votes"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--split", "train"), "has not seen"),
        (("--split", "?"), "split"),
        (("--weights", "calibrated"), "not calibrated yet"),
        (("--natural",), "expected a run trained with class_weights, found one without"),
    ],
)
def test_a_temperature_is_found_once_and_never_on_what_was_trained_on(run, arguments, told):
    result = point2node("calibrate", run, *arguments)
    assert result.exit_code == 2
    assert told in result.output


def test_a_twin_gives_its_temperature_to_a_run_of_the_same_recipe_only(run, tmp_path):
    whole = tmp_path / "whole"
    shutil.copytree(run, whole)
    (whole / "calibration.json").unlink(missing_ok=True)
    assert point2node("calibrate", run).exit_code == 0
    result = point2node("calibrate", whole, "--twin", run)
    assert result.exit_code == 0, result.output
    assert f"on what {run.name} held back" in result.output
    found, twins = (json.loads((folder / "calibration.json").read_text()) for folder in (whole, run))
    assert (found["temperature"], found["twin"]) == (twins["temperature"], run.name)
    assert (whole / "calibrated.safetensors").read_bytes() == (run / "calibrated.safetensors").read_bytes()
    for arguments, told in ((("--votes", "2"), "--twin"), (("--split", "test"), "--twin")):
        result = point2node("calibrate", whole, "--twin", run, *arguments)
        assert result.exit_code == 2
        assert told in result.output
    (run / "calibration.json").unlink()
    result = point2node("calibrate", whole, "--twin", run)
    assert result.exit_code == 2
    assert "first" in result.output
    text = (whole / "settings.yaml").read_text()
    (whole / "settings.yaml").write_text(text.replace("label_smoothing: ", "label_smoothing: 0.5 # "))
    result = point2node("calibrate", whole, "--twin", run)
    assert result.exit_code == 2
    assert "label_smoothing" in result.output


def test_class_weights_are_taken_back_before_the_temperature_is_found(room_store, tmp_path):
    words = (*QUICK, "class_weights=balanced", "--data", room_store, "--out", tmp_path / "run")
    assert point2node("train", "tiny", *words).exit_code == 0
    shutil.copytree(tmp_path / "run", tmp_path / "whole")
    result = point2node("calibrate", tmp_path / "run", "--natural")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "run" / "calibration.json").read_text())
    plain, calibrated = (
        load_file(tmp_path / "run" / f"{name}.safetensors")["head.logits.bias"] for name in ("best", "calibrated")
    )
    factors = np.array([weight or 1.0 for weight in found["class_weights"]])
    assert len(set(found["class_weights"])) > 2
    np.testing.assert_allclose(calibrated * found["temperature"], plain - np.log(factors), atol=1e-5)
    assert point2node("calibrate", tmp_path / "whole", "--twin", tmp_path / "run").exit_code == 0
    twin, whole = ((tmp_path / name / "calibrated.safetensors").read_bytes() for name in ("run", "whole"))
    assert twin == whole


def test_an_area_that_was_trained_on_calibrates_nothing(folds):
    result = point2node("calibrate", folds[4], "--split", "Area_1")
    assert result.exit_code == 2
    assert "--split: expected data that training has not seen, found Area_1" in result.stderr


def test_weights_of_voxel_scores_are_calibrated_on_points(room_store, tmp_path):
    words = (*QUICK, "voxel=0.05", "--data", room_store, "--out", tmp_path / "run")
    assert point2node("train", "tiny", *words).exit_code == 0
    result = point2node("calibrate", tmp_path / "run")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "run" / "calibration.json").read_text())
    assert found["protocol"]["unit"] == "point"
    assert found["after"]["bins"]


def test_data_without_colour_trains_scores_and_calibrates_and_is_said_to_be_grey(room_store, run, tmp_path):
    store = write_room_store(tmp_path / "grey", colour=False)
    note = "note: 5 of 5 scenes have no colour and are treated as grey"
    scored = point2node("evaluate", run, "--data", store)
    assert scored.exit_code == 0, scored.output
    assert note in scored.stderr
    trained = point2node("train", "own", *QUICK, "size=tiny", "--data", store, "--out", tmp_path / "run")
    assert trained.exit_code == 0, trained.output
    assert note in trained.output
    calibrated = point2node("calibrate", tmp_path / "run")
    assert calibrated.exit_code == 0, calibrated.output
    assert note in calibrated.stderr


def test_an_output_that_cannot_be_written_is_refused_before_scoring(run, tmp_path):
    result = point2node("evaluate", run, "--out", tmp_path / "nowhere" / "a.json")
    assert result.exit_code == 2
    assert "expected a file in a folder that is there" in result.stderr
    assert "scoring" not in result.stderr


def test_the_validation_of_training_is_what_evaluate_says(run):
    found = evaluate(run, "--split", "val", "--weights", "last")
    last = [line.split(",") for line in (run / "history.csv").read_text().splitlines()][-1]
    assert float(last[8]) == pytest.approx(found["oa"], abs=1e-12)
    assert float(last[10]) == pytest.approx(found["miou"], abs=1e-12)


def test_votes_and_the_paper_s_rule_are_chosen_by_options(run):
    found = evaluate(run, "--votes", 2, "--rule", "max_confidence")
    assert (found["protocol"]["votes"], found["protocol"]["rule"]) == (2, "max_confidence")
    assert found["ece"] is None


def test_evaluating_twice_gives_the_same(run):
    assert evaluate(run) == evaluate(run)


def test_a_bare_weights_file_can_be_scored_where_data_is_given(run, room_store):
    found = evaluate(run / "best.safetensors", "--data", room_store)
    assert found["oa"] == evaluate(run)["oa"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no such run"], "expected a run folder, a .safetensors file or a pretrained model"),
        (["RUN", "--split", "tset"], "Did you mean 'test'?"),
        (["RUN", "--data", "nowhere"], "nowhere: expected a prepared store"),
        (["RUN", "RUN"], "RUN: expected one run, or six with --six-fold"),
        (["RUN", "--six-fold"], "--six-fold: expected six runs, each holding out another area"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, message, run):
    result = point2node("evaluate", *[run if word == "RUN" else word for word in words])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_data_with_other_classes_is_refused(run, shape_store):
    result = point2node("evaluate", run, "--data", shape_store)
    assert result.exit_code == 2
    assert "expected data for segmentation, found data for classification" in result.stderr


def test_an_area_is_held_out_and_recorded(folds):
    card = RunFolder(folds[4]).read_card()
    assert card.test_split == "Area_5"
    assert card.training + card.validation == 10
    found = evaluate(folds[4])
    assert found["split"] == "Area_5"
    assert found["protocol"]["rule"] == "max_confidence"
    assert found["units"] == 1200


def test_six_folds_are_pooled_by_their_counts(folds, tmp_path):
    pooled = evaluate(*folds, "--six-fold", "--out", tmp_path / "six.json")
    assert pooled["split"] == "6-fold"
    assert pooled["units"] == 6 * 1200
    singles = [evaluate(run) for run in folds]
    np.testing.assert_array_equal(pooled["confusion"], np.sum([one["confusion"] for one in singles], axis=0))
    assert pooled["mean_of_folds"]["miou"] == pytest.approx(np.mean([one["miou"] for one in singles]))
    assert pooled["miou"] != pytest.approx(pooled["mean_of_folds"]["miou"], abs=1e-9)
    shown = point2node("report", tmp_path / "six.json")
    assert shown.exit_code == 0, shown.output
    assert "6-fold" in shown.stdout
    assert "not stated" in shown.stdout


def test_six_folds_with_an_area_twice_are_refused(folds):
    result = point2node("evaluate", *folds[:5], folds[0], "--six-fold")
    assert result.exit_code == 2
    assert "each holding out another area" in result.stderr


def test_all_areas_goes_on_where_it_was_stopped(folds, area_store):
    (folds[3] / "summary.json").unlink()
    before = (folds[3] / "last.safetensors").read_bytes()
    words = (*QUICK, "size=tiny", "steps=1", "batch_size=2")
    base = folds[0].with_name("s3dis")
    result = point2node("train", "s3dis", *words, "--all-areas", "--data", area_store, "--out", base)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("already finished") == 5
    assert (folds[3] / "last.safetensors").read_bytes() == before


def test_the_ablation_is_a_sweep_of_normal_runs_with_the_paper_s_delta_beside(room_store, tmp_path):
    words = ("ablate", "tiny", *QUICK, "steps=1", "--seeds", "0,1", "--variants", "baseline,self_only")
    result = point2node(*words, "--data", room_store, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    runs = sorted(path.name for path in tmp_path.iterdir())
    assert runs == [f"tiny-{variant}-seed{seed}" for variant in ("baseline", "self_only") for seed in (0, 1)]
    assert "not measured" in result.stdout
    for weights in tmp_path.glob("*/*.safetensors"):
        weights.unlink()  # too large to keep for every run of a table; the results are not
    again = point2node(*words, "--data", room_store, "--out", tmp_path)
    assert again.exit_code == 0, again.output
    assert again.stdout.count("already finished") == 4
    assert "scoring" not in again.stderr


def test_a_sweep_is_not_content_with_a_score_of_another_protocol(room_store, tmp_path):
    words = ("ablate", "tiny", *QUICK, "steps=1", "--seeds", "0", "--variants", "baseline", "--data", room_store)
    assert point2node(*words, "--out", tmp_path).exit_code == 0
    run = tmp_path / "tiny-baseline-seed0"
    (kept,) = (run / "evaluations").iterdir()
    kept.unlink()
    assert point2node("evaluate", run, "--votes", "2").exit_code == 0
    assert point2node(*words, "--out", tmp_path).exit_code == 0
    assert kept.is_file()


def test_a_sweep_with_other_settings_in_the_same_folder_is_refused(room_store, tmp_path):
    words = (
        "ablate",
        "tiny",
        *QUICK,
        "--seeds",
        "0",
        "--variants",
        "baseline",
        "--data",
        room_store,
        "--out",
        tmp_path,
    )
    assert point2node(*words, "steps=1").exit_code == 0
    result = point2node(*words, "steps=2")
    assert result.exit_code == 2
    assert "steps: expected 2, found 1" in result.stderr


@pytest.mark.parametrize("seeds", ["²", "0,00", "0,", "a", "-1"])
def test_seeds_that_are_none_or_the_same_are_refused(seeds):
    result = point2node("ablate", "tiny", f"--seeds={seeds}")
    assert result.exit_code == 2
    assert "--seeds: expected different whole numbers" in result.stderr


def test_what_is_missing_of_the_data_is_said(run, tmp_path):
    store = tmp_path / "store"
    shutil.copytree(RunFolder(run).read_card().data, store)
    manifest = json.loads((store / "manifest.json").read_text())
    manifest["notes"] = [f"room_{number}: missing, left out" for number in range(7)]
    (store / "manifest.json").write_text(json.dumps(manifest))
    result = point2node("evaluate", run, "--data", store, "--json")
    assert json.loads(result.stdout)["units"] == 1500
    told = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    assert told == [
        *(f"note: room_{number}: missing, left out" for number in range(5)),
        "note: and 2 more notes in the store's manifest.json",
    ]


@pytest.mark.slow
def test_a_scene_of_two_million_points_is_scored_in_bounded_memory(run, tmp_path):
    store = write_room_store(tmp_path / "large", ("test",), points=2_000_000)
    command = [sys.executable, "-m", "point2node", "evaluate", str(run), "--data", str(store), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["units"] == 2_000_000
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 4 * 2**20  # kilobytes
