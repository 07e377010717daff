"""``point2node train`` from the command line, in one process."""

import csv
import json
import shutil

import pytest
import yaml
from safetensors import safe_open
from typer.testing import CliRunner

import point2node
from point2node.cli.main import app
from point2node.training.loop import FINAL_FILES
from tests.scenarios.stores import QUICK, toy_cloud


def train(*arguments):
    return CliRunner().invoke(app, ["train", *map(str, arguments)])


@pytest.fixture(scope="module")
def finished(room_store, tmp_path_factory):
    """A finished run and what its training printed."""
    out = tmp_path_factory.mktemp("runs") / "run"
    result = train("tiny", *QUICK, "--data", room_store, "--out", out)
    assert result.exit_code == 0, result.output
    return out, result


def test_the_run_folder_holds_everything(finished):
    out, _ = finished
    for name in ("settings.yaml", "run.json", "history.csv", "summary.json", "curve.png", *FINAL_FILES):
        assert (out / name).stat().st_size > 0, name
    assert any((out / "tensorboard").iterdir())
    settings = yaml.safe_load((out / "settings.yaml").read_text())
    assert settings["steps"] == 6
    card = json.loads((out / "run.json").read_text())
    assert [one["name"] for one in card["classes"]][:3] == ["ceiling", "floor", "wall"]
    assert len(card["data_checksum"]) == 64
    assert card["point2node"]


def test_the_history_has_training_and_validation_lines(finished):
    rows = list(csv.DictReader((finished[0] / "history.csv").open()))
    assert [row["step"] for row in rows if row["loss"]] == ["2", "4", "6"]
    assert [row["step"] for row in rows if row["val_miou"]] == ["3", "6"]


def test_a_summary_line_says_how_it_went(finished):
    _, result = finished
    assert "6 steps in" in result.stdout
    assert "waited for data" in result.stdout
    assert "step 6/6, epoch" in result.stderr


def test_weights_tell_neither_time_nor_path(finished):
    with safe_open(finished[0] / "last.safetensors", framework="pt") as file:
        note = json.loads(file.metadata()["point2node"])
    assert str(finished[0].parent) not in json.dumps(note)
    assert set(note) & {"time", "date", "path", "data", "num_workers"} == set()


def test_training_twice_gives_the_same_bytes_and_workers_change_nothing(finished, room_store, tmp_path):
    result = train(
        "tiny", *QUICK, "num_workers=1", "checkpoint_seconds=60", "--data", room_store, "--out", tmp_path / "b"
    )
    assert result.exit_code == 0, result.output
    for name in FINAL_FILES:
        assert (tmp_path / "b" / name).read_bytes() == (finished[0] / name).read_bytes(), name


def test_resuming_a_finished_run_does_nothing(finished):
    before = {path: path.stat().st_mtime_ns for path in finished[0].rglob("*")}
    result = train("--resume", finished[0])
    assert result.exit_code == 0
    assert "already finished" in result.stdout
    assert {path: path.stat().st_mtime_ns for path in finished[0].rglob("*")} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no_such"], "preset: expected one of"),
        (["tiny", "lerning_rate=1"], "Did you mean 'learning_rate'?"),
        (["tiny", "--data", "nowhere"], "nowhere: expected a prepared store or the folder of a data set"),
        (["s3dis"], "--data: expected a prepared store or the folder of s3dis, found none"),
        (["tiny", "batch_size=100000"], "batch_size: expected"),
        (["tiny", "model=pointnet", "width=2"], "width"),
        (["tiny", "variant=none_such"], "variant: expected one of"),
        (["tiny", "size=modelnet10"], "expected a network for segmentation"),
        (["tiny", "accelerator=cuda"], "expected what this machine has"),
        ([], "PRESET: expected one of"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, message, room_store, tmp_path):
    extra = ["--data", room_store] if words[:1] == ["tiny"] and "--data" not in words else []
    result = train(*words, *extra, "--out", tmp_path / "run")
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run" / "last.safetensors").exists()


def test_data_with_other_classes_than_the_preset_is_refused(shape_store, room_store, tmp_path):
    result = train("scannet", "features=[rgb]", "--data", room_store, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "expected the 21 classes of scannet" in result.stderr
    result = train("modelnet10", "--data", shape_store, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "expected 10 classes, found 2" in result.stderr


def test_an_existing_run_is_not_written_over(finished, room_store):
    result = train("tiny", *QUICK, "--data", room_store, "--out", finished[0])
    assert result.exit_code == 2
    assert "a finished run" in result.stderr


def test_a_resumed_run_keeps_its_preset_settings_and_data(finished, area_store, tmp_path):
    run = shutil.copytree(finished[0], tmp_path / "run")
    (run / "summary.json").unlink()
    for words, message in (
        (["rooms"], "expected preset 'tiny', as it was started"),
        (["learning_rate=0.5"], "learning_rate: expected 0.005, as it was started"),
        (["--data", area_store], "expected the data that"),
    ):
        result = train(*words, "--resume", run)
        assert result.exit_code == 2
        assert message in result.stderr


def test_an_incompatible_checkpoint_is_refused(finished, tmp_path):
    run = shutil.copytree(finished[0], tmp_path / "run")
    (run / "summary.json").unlink()
    text = (run / "settings.yaml").read_text().replace("width: null", "width: 2")
    (run / "settings.yaml").write_text(text)
    result = train("--resume", run)
    assert result.exit_code == 2
    assert "of shape" in result.stderr
    (run / "state.safetensors").write_bytes(b"\x80\x04cos\nsystem\n(S'touch gotcha'\ntR.")
    result = train("--resume", run)
    assert result.exit_code == 2
    assert "safetensors" in result.stderr


def test_shapes_and_a_modern_recipe_train_too(shape_store, tmp_path):
    words = ("classes=2", "width=1", "points=512", "batch_size=4", "steps=4", "validate_every=2", "num_workers=0")
    result = train("modelnet10_modern", *words, "warmup_steps=1", "--data", shape_store, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    scored = CliRunner().invoke(app, ["evaluate", str(tmp_path / "run"), "--votes", "3", "--json"])
    assert scored.exit_code == 0, scored.output
    found = json.loads(scored.stdout)
    assert found["units"] == 8
    assert found["protocol"]["unit"] == "shape"
    assert 0 <= found["single_vote"]["oa"] <= 1


EVERYTHING = (
    "features=[relative_rgb,normals,height]", "frame=block", "balance=0.5", "affine=0.1", "elastic=0.1", "holes=3",
    "density=0.5", "mix=0.5", "smooth=true",
)  # fmt: skip


def test_every_feature_and_augmentation_trains_to_the_same_bytes_and_labels_a_plain_scan(room_store, tmp_path):
    for name, workers in (("one", 0), ("two", 1)):
        words = ("tiny", *QUICK, *EVERYTHING, f"num_workers={workers}", "--data", room_store, "--out", tmp_path / name)
        result = train(*words)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "one/last.safetensors").read_bytes() == (tmp_path / "two/last.safetensors").read_bytes()
    scored = CliRunner().invoke(app, ["evaluate", str(tmp_path / "one"), "--json"])
    assert json.loads(scored.stdout)["protocol"]["input"] == "xyz + relative_rgb + normals + height"
    labelled = point2node.load(str(tmp_path / "one"))(toy_cloud(0).with_(rgb=None))
    assert labelled.protocol["smooth"]
    assert len(labelled) == 1500


@pytest.mark.parametrize("model", ["pointnet", "pointnet2_ssg", "dgcnn"])
def test_peers_train_on_the_same_data_by_the_same_command(model, room_store, tmp_path):
    words = (f"model={model}", "variant=null", "steps=2", "validate_every=2")
    result = train("tiny", *QUICK, *words, "--data", room_store, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "run" / "run.json").read_text())["variant"] is None
