"""``point2node adapt`` from the command line: what it leaves, what it says, and what happens when it is stopped."""

import json
import os
import shutil
import signal

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.cli.progress import PlainWatch
from point2node.core.classes import S3DIS
from point2node.formats import read, write
from point2node.models.weights_file import read_tensors
from point2node.training import pseudo_labels
from point2node.training.adaptation_report import Agreement
from point2node.weights.cards import write_weights
from point2node.weights.trained import load_trained
from tests.inference.labellers import card, write_real_weights
from tests.scenarios.stores import toy_cloud
from tests.training.stores import write_scenes

QUICK = ("steps=2", "batch_size=2", "num_workers=0", "log_every=1", "checkpoint_seconds=0.001", "accelerator=cpu")
GENTLE = ("learning_rate=1e-6", "warmup_steps=0", *QUICK)
"""So little is learnt that the original and the adapted weights agree."""


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def write_settled_weights(path):
    """Weights whose batch norms have seen many batches of such scans: two more hardly move their statistics."""
    described = card(points=192)
    torch.manual_seed(0)
    network = described.build()
    random = np.random.default_rng(0)
    network.train()
    from point2node.data.batches import Sample, make_batch

    def sample(seed):
        cloud = toy_cloud(seed, 192)
        xyz = (cloud.xyz - [1.2, 1.0, 0]).astype(np.float32)
        return Sample(xyz, random.uniform(-0.5, 0.5, (192, 3)).astype(np.float32), np.empty(0), "a")

    batch = make_batch([sample(seed) for seed in range(8)], network.plan, seed=0)
    with torch.no_grad():
        network(batch.features, batch.pyramid)
    tensors = network.state_dict()
    for name in tensors:
        if name.endswith("num_batches_tracked"):
            tensors[name] = torch.tensor(10_000)
    write_weights(path, tensors, described)
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two scans, a labelled store with the same classes, and weights."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "scans").mkdir()
    for number in range(2):
        write(folder / f"scans/{number}.ply", toy_cloud(10 + number, 700).with_(labels=None))
    write_scenes(folder / "store", {"train": ("a", "b"), "test": ("c",)}, points=400)
    write_settled_weights(folder / "settled.safetensors")
    return folder


def words_for(home, out, *more):
    return (
        "adapt", home / "scans", *GENTLE, "--weights", home / "settled.safetensors", "--data", home / "store",
        "--thin", "0", "--norm-share", "0.1", "--out", out, *more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def adapted(home):
    """A finished adaptation; it is not to be changed."""
    result = run(*words_for(home, home / "run"))
    assert result.exit_code == 0, result.output
    return result


def final_files(folder):
    return [(folder / f"{name}.safetensors").read_bytes() for name in ("best", "last", "state")]


def test_a_run_folder_a_report_and_a_picture_are_left(home, adapted):
    report = json.loads((home / "run/adapt.json").read_text())
    assert report["kept"] == "adapted"
    assert report["change"]["points"] == 1400
    assert set(report["change"]["scans"]) == {"001 0.ply", "002 1.ply"}
    assert [one["steps"] for one in report["rounds"]] == [2, 2]
    for one in report["rounds"]:
        assert 0.3 * 1400 <= sum(one["pseudo_labels"].values()) <= 0.3 * 1400 + 13
    assert report["norms"]["share"] == 0.1
    assert "points changed their label; mean confidence" in adapted.stdout
    assert "round 2 of 2: 2 steps" in adapted.stderr
    assert (home / "run/adapt.png").read_bytes().startswith(b"\x89PNG")
    assert (home / "run/curve.png").is_file()


def test_the_result_is_a_run_like_any_other(home, adapted):
    trained = load_trained(str(home / "run"))
    assert trained.run_card.preset == "adapt"
    assert trained.settings.target.endswith("targets_2")
    assert trained.settings.source_weight == 0.5
    assert (
        run("predict", home / "scans/0.ply", "--weights", home / "run", "--no-report", "--out", home / "out").exit_code
        == 0
    )
    assert set(read(home / "out/0_labelled.ply").labels) <= set(range(13))
    assert "OA" in run("evaluate", home / "run").stdout
    assert "already finished" in run("train", "--resume", home / "run").stdout
    before, _ = read_tensors(home / "settled.safetensors")
    after, _ = read_tensors(home / "run/best.safetensors")
    assert any(not torch.equal(after[name], before[name]) for name in before)


def test_the_same_command_again_changes_nothing_and_another_is_refused(home, adapted):
    before = final_files(home / "run")
    assert run(*words_for(home, home / "run")).stdout == adapted.stdout
    assert final_files(home / "run") == before
    result = run(*words_for(home, home / "run", "--sure", "0.5"))
    assert result.exit_code == 2
    assert "expected the sure that it was started with, found others. Choose another --out." in result.stderr


def test_training_that_is_interrupted_in_every_round_resumes_to_the_same_bytes(home, adapted, tmp_path, monkeypatch):
    def stop(self, step, epoch, values):
        if step == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(PlainWatch, "step", stop)
    for _ in ("first round", "second round"):
        result = run(*words_for(home, tmp_path / "run"))
        assert result.exit_code == 130, result.output
        assert "run the same command again to resume" in result.stderr
    assert run(*words_for(home, tmp_path / "run")).exit_code == 0
    assert final_files(tmp_path / "run") == final_files(home / "run")


def test_killed_while_scans_are_labelled_only_the_missing_ones_are_done(home, adapted, tmp_path, monkeypatch):
    real, written = pseudo_labels.replacing, []

    def killed(path):
        if path.suffix == ".npz" and len(written) == 3:
            raise KeyboardInterrupt
        written.append(path)
        return real(path)

    monkeypatch.setattr(pseudo_labels, "replacing", killed)
    assert run(*words_for(home, tmp_path / "run")).exit_code != 0
    assert [path.parent.name for path in written] == ["predicted_0", "predicted_0", "predicted_norms"]
    monkeypatch.setattr(pseudo_labels, "replacing", lambda path: written.append(path) or real(path))
    assert run(*words_for(home, tmp_path / "run")).exit_code == 0
    assert len(written) == len(set(written)) == 8
    assert final_files(tmp_path / "run") == final_files(home / "run")


def test_weights_that_diverge_are_not_kept_and_that_is_said(home, tmp_path, monkeypatch):
    monkeypatch.setattr(Agreement, "diverged", property(lambda agreement: True))
    result = run(*words_for(home, tmp_path / "run", "--rounds", "1"))
    assert result.exit_code == 0, result.output
    assert "warning: training diverged" in result.stdout
    assert "the trained ones are used instead" in result.stderr
    assert json.loads((tmp_path / "run/adapt.json").read_text())["kept"] == "original"
    best, original, last = (
        read_tensors(file)[0]
        for file in (tmp_path / "run/best.safetensors", home / "settled.safetensors", tmp_path / "run/last.safetensors")
    )
    assert all(torch.equal(best[name], original[name]) for name in original)
    assert any(not torch.equal(last[name], original[name]) for name in original)


def test_a_round_after_which_nothing_is_finite_ends_it_and_the_original_is_kept(home, tmp_path):
    words = words_for(home, tmp_path / "run", "learning_rate=3", "ema_decay=0.01", "steps=4")
    for _ in range(2):
        result = run(*words)
        assert result.exit_code == 0, result.output
        assert "training diverged: 0% of all points" in result.stdout
        report = json.loads((tmp_path / "run/adapt.json").read_text())
        assert report["kept"] == "original"
        assert len(report["rounds"]) == 1
        best, original = (
            read_tensors(file)[0] for file in (tmp_path / "run/best.safetensors", home / "settled.safetensors")
        )
        assert all(torch.equal(best[name], original[name]) for name in original)
    assert "already finished" in run("train", "--resume", tmp_path / "run").stdout


def test_generated_rooms_are_mixed_in_and_minutes_become_steps(home, tmp_path, monkeypatch):
    monkeypatch.setenv("POINT2NODE_CACHE", str(tmp_path / "cache"))
    words = [word for word in GENTLE if not word.startswith("steps")]
    result = run(
        "adapt", home / "scans/0.ply", *words, "rooms=2", "--weights", home / "settled.safetensors", "--thin", "0.05",
        "--rounds", "1", "--minutes", "0.02", "--norm-share", "0", "--out", tmp_path / "run",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "run/adapt.json").read_text())
    trained = load_trained(str(tmp_path / "run"))
    assert report["rounds"][0]["steps"] == trained.settings.steps >= 1
    assert trained.run_card.data is None
    assert trained.run_card.dataset == "rooms"
    assert report["norms"] == {"share": 0.0}


def test_what_cannot_be_adapted_ends_in_one_line(home, tmp_path):
    write(tmp_path / "few.ply", toy_cloud(0, 50))
    other = write_scenes(tmp_path / "other", {"train": ("a",)}, classes=S3DIS[:5])
    shutil.copytree(home / "store", tmp_path / "run")
    (tmp_path / "run/run.json").write_text("{}")
    scan, weights, new = home / "scans/0.ply", home / "settled.safetensors", ("--out", tmp_path / "new")
    given = (*new, "--weights", weights, "--data", home / "store")
    write_real_weights(tmp_path / "three.safetensors", classes=card().classes[:3])
    for words, message in (
        (("steps=2", *given), "SCAN: expected at least one scan to adapt to, found none"),
        ((tmp_path / "nothing.ply", *given), "nothing.ply: expected a file that can be read, found nothing there"),
        ((tmp_path / "few.ply", *given), "few.ply: expected at least 192 points to adapt to, found"),
        ((scan, *given, "--data", other.path), "expected the classes of settled: ceiling"),
        ((scan, *new, "--weights", tmp_path / "three.safetensors"), "generated rooms: expected the"),
        ((scan, *new, "--weights", "modelnet10"), "expected weights that label points"),
        ((scan, *given, "--out", tmp_path / "run"), "a new folder, found another run"),
        ((scan, "features=[]", *given), "setting 'features': expected a setting of the training"),
        ((scan, "steps=2", "--minutes", "3", *given), "--minutes: expected minutes or steps=, found both"),
        ((scan, "--sure", "0", *given), "--sure: expected a share above 0"),
        ((scan, "stepz=2", *given), "setting: expected one of"),
    ):  # fmt: skip
        result = run("adapt", *words)
        assert result.exit_code == 2, (words, result.output)
        assert message in result.stderr
        assert result.stderr.strip().splitlines()[-1].startswith("point2node: ")
        assert "Traceback" not in result.output
    assert run("adapt", scan).exit_code == 2  # --out is missing
