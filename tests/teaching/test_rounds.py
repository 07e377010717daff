import json

import numpy as np
import pytest
from typer.testing import CliRunner

import point2node
from point2node.cli.main import app
from point2node.core.errors import InputError
from point2node.inference.labeller import SceneLabeller
from point2node.teaching.corrections import no_corrections
from point2node.teaching.corrections_file import corrections_path, write_corrections
from point2node.teaching.learning import Recipe
from point2node.teaching.rounds import Teacher, find_corrected, read_taught, teaching_settings
from point2node.weights.run_folder import RunFolder
from point2node.weights.trained import load_trained
from tests.teaching.lessons import fresh_labeller, taught_room, write_fresh_weights


@pytest.fixture
def folder(tmp_path):
    """Two scans of which one was corrected."""
    labeller = fresh_labeller(tmp_path)
    scans = tmp_path / "scans"
    scans.mkdir()
    scan = taught_room(labeller, own="plant")
    for name in ("a.ply", "b.ply"):
        point2node.write(scans / name, scan.cloud)
    read = point2node.read(scans / "a.ply")
    corrections = no_corrections(read, labeller.classes).add_class("plant")
    for one in scan.corrections.done:
        corrections = corrections.add(one.name, one.indices)
    write_corrections(corrections_path(scans / "a.ply"), corrections)
    return scans


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_folder_of_corrected_scans_becomes_a_run_that_predict_takes(folder, tmp_path):
    weights, out = tmp_path / "fresh.safetensors", tmp_path / "run"
    done = run("train", "own", f"start={weights}", "steps=30", "seed=2", "--corrections", folder, "--out", out)
    assert done.exit_code == 0, done.output
    assert f"predict SCAN --weights {out}" in done.stdout
    card = RunFolder(out).read_card()
    assert (card.seed, card.steps, card.training, card.classes[-1].name) == (2, 30, 1, "plant")
    assert RunFolder(out).read_settings().start == str(weights)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["corrections"] == {"a.ply": 2}
    labelled = run("predict", folder / "b.ply", "--weights", out, "--out", tmp_path / "labelled", "--no-report")
    assert labelled.exit_code == 0, labelled.output
    assert len(point2node.read(tmp_path / "labelled" / "b_labelled.ply").labels) == 3000


def test_the_same_seed_gives_the_same_bytes(folder, tmp_path):
    weights = tmp_path / "fresh.safetensors"
    for name in ("one", "two"):
        run("train", "own", f"start={weights}", "steps=5", "--corrections", folder, "--out", tmp_path / name)
    assert (tmp_path / "one/best.safetensors").read_bytes() == (tmp_path / "two/best.safetensors").read_bytes()


def damage_nothing(folder):
    return folder


def empty_file(folder):
    corrections_path(folder / "a.ply").write_text("")
    return folder


def another_scan(folder):
    cloud = point2node.read(folder / "a.ply")
    point2node.write(folder / "a.ply", cloud.with_(xyz=cloud.xyz + 1))
    return folder


def no_file(folder):
    corrections_path(folder / "a.ply").unlink()
    return folder


def no_scan(folder):
    (folder / "a.ply").unlink()
    return folder


def nothing_corrected(folder):
    labeller = SceneLabeller(load_trained(str(folder.parent / "fresh.safetensors")))
    cloud = point2node.read(folder / "a.ply")
    write_corrections(corrections_path(folder / "a.ply"), no_corrections(cloud, labeller.classes))
    return folder


@pytest.mark.parametrize(
    ("damage", "words", "message"),
    [
        (empty_file, (), "found an empty file"),
        (another_scan, (), "found those of another"),
        (no_file, (), "expected scans with their *.corrections.json, found none"),
        (no_scan, (), "expected its scan a.ply next to it"),
        (nothing_corrected, (), "expected at least one correction, found none"),
        (lambda folder: folder / "nowhere", (), "found nothing there"),
        (damage_nothing, ("batch_size=2",), "expected one of steps, learning_rate, seed with --corrections"),
        (damage_nothing, ("steps=0",), "steps"),
        (damage_nothing, ("--data", "x"), "expected no other data"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder, tmp_path, damage, words, message):
    weights = tmp_path / "fresh.safetensors"
    given = damage(folder)
    done = run("train", "own", f"start={weights}", *words, "--corrections", given, "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_weights_have_to_be_named(folder, tmp_path):
    done = run("train", "own", "--corrections", folder, "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert "such as start=rooms" in done.stderr


def test_a_second_round_does_not_look_at_the_scan_again(folder, tmp_path, monkeypatch):
    from point2node.teaching import rounds

    labeller = SceneLabeller(load_trained(str(tmp_path / "fresh.safetensors")))
    seen = []
    monkeypatch.setattr(rounds, "observe", lambda *given: seen.append(1) or observe(*given))
    observe = __import__("point2node.teaching.observing", fromlist=["observe"]).observe
    teacher, scan = Teacher(labeller), read_taught(folder / "a.ply", labeller)
    first = teacher.learn([scan], Recipe(steps=3))
    second = teacher.learn([scan], Recipe(steps=3))
    assert len(seen) == 1
    assert np.array_equal(first.network.head.logits.bias.detach(), second.network.head.logits.bias.detach())


def test_progress_rises_from_looking_to_learning(folder, tmp_path):
    labeller = SceneLabeller(load_trained(str(tmp_path / "fresh.safetensors")))
    told = []
    Teacher(labeller).learn(
        [read_taught(folder / "a.ply", labeller)], Recipe(steps=3), lambda share, what: told.append((share, what))
    )
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert told[0][1] == "looking at a.ply"
    assert told[-1] == (1.0, "learning")


def test_settings_come_from_the_weights_and_the_recipe_from_the_words(tmp_path):
    labeller = SceneLabeller(load_trained(str(write_fresh_weights(tmp_path / "fresh.safetensors"))))
    settings, recipe = teaching_settings(["learning_rate=0.01"], labeller)
    assert (settings.size, settings.points, recipe.learning_rate) == ("tiny", 192, 0.01)
    with pytest.raises(InputError, match="found width=3"):
        teaching_settings(["width=3"], labeller)


def test_a_folder_without_corrections_says_how_to_make_some(tmp_path):
    with pytest.raises(InputError, match="point2node view SCAN"):
        find_corrected(tmp_path)
