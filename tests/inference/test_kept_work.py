"""Work on scans in pieces that is kept on disk: resumed after any kill, by the same request alone."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.cli.scan_work import Work, label_on_worker
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.core.writing import TEMPORARY
from point2node.formats import write
from point2node.inference import jobs, large_scans, strips
from point2node.inference.kept_work import WHAT, kept_work, remove_kept_work
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.scans import Job
from point2node.weights.trained import load_trained
from tests.inference.labellers import write_real_weights
from tests.scenarios.test_many_scans import contents, differing

WORK = f"{TEMPORARY}scan_labelled.ply"


class Stopped(BaseException):
    """A kill, as far as a process can kill itself and be looked at."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A corridor that is read in pieces and labelled in strips, and weights."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(large_scans, "KEPT", 10**12)  # no scan is small enough
    monkeypatch.setattr(strips, "SMALL", 700)
    random = np.random.default_rng(0)
    write(
        "scan.ply", PointCloud(random.uniform(0, [60.0, 0.6, 0.6], (6000, 3)), rgb=random.integers(0, 256, (6000, 3)))
    )
    write_real_weights(tmp_path / "fresh.safetensors")
    return tmp_path


def predict(*words):
    command = ["predict", "scan.ply", "--weights", "fresh.safetensors", "--thin", "0.2", "--no-report", *words]
    return CliRunner().invoke(app, command)


def stop(*_):
    raise Stopped


def refuse(*_):
    raise InputError("scan.ply", expected="room for its cubes", found="none")


def count_asked(monkeypatch, stop_at=None):
    """The sizes of the strips that the network is asked about; the process is stopped before one of them."""
    asked = []
    ask = SceneLabeller._ask

    def counted(labeller, question, strip, inside, share):
        if len(asked) == stop_at:
            raise Stopped
        asked.append(len(inside))
        return ask(labeller, question, strip, inside, share)

    monkeypatch.setattr(SceneLabeller, "_ask", counted)
    return asked


def test_what_was_finished_before_a_kill_is_not_done_again_and_the_result_is_the_same(folder, monkeypatch):
    with monkeypatch.context() as patch:
        asked = count_asked(patch)
        assert predict("--out", "undisturbed").exit_code == 0
    assert len(asked) >= 4
    undisturbed = contents(folder / "undisturbed")
    assert len(undisturbed) == 2
    for finished in range(len(asked)):
        out = f"out{finished}"
        with monkeypatch.context() as patch:
            count_asked(patch, stop_at=finished)
            with pytest.raises(Stopped):
                predict("--out", out)
        assert len(list((folder / out / WORK).iterdir())) == 2 + finished
        with monkeypatch.context() as patch:
            again = count_asked(patch)
            patch.setattr(jobs, "survey", None)  # is not called
            result = predict("--out", out)
        assert result.exit_code == 0, result.output
        assert again == asked[finished:]
        assert "scan.ply: resumes with the " in result.stderr
        assert (f"scan.ply: resumes at strip {finished + 1} of {len(asked)}" in result.stderr) == (finished > 0)
        assert contents(folder / out) == undisturbed


def test_a_kill_while_the_result_is_written_costs_no_strip(folder, monkeypatch):
    assert predict("--out", "undisturbed").exit_code == 0
    with monkeypatch.context() as patch:
        patch.setattr(large_scans.LargeScan, "spread", stop)
        with pytest.raises(Stopped):
            predict()
    again = count_asked(monkeypatch)
    result = predict()
    assert result.exit_code == 0
    assert not again
    assert "resumes when all strips are labelled" in result.stderr
    assert contents(folder / "labelled") == contents(folder / "undisturbed")


def stop_after(monkeypatch, strips, *words):
    with monkeypatch.context() as patch:
        count_asked(patch, stop_at=strips)
        with pytest.raises(Stopped):
            predict(*words)


def write_other_weights():
    write_real_weights(Path("fresh.safetensors"), features=())


def write_other_scan():
    write("scan.ply", PointCloud(np.random.default_rng(1).uniform(0, [60.0, 0.6, 0.6], (6000, 3))))


@pytest.mark.parametrize(
    "words", [("--thin", "0.21"), ("--no-color",), ("--quality", "best"), ("--drop", "clutter"), ("--adapt", "bn")]
)
def test_other_options_start_anew(folder, monkeypatch, words):
    stop_after(monkeypatch, 2)
    check_anew(folder, monkeypatch, *words)


@pytest.mark.parametrize("change", [write_other_weights, write_other_scan])
def test_other_weights_and_another_scan_start_anew(folder, monkeypatch, change):
    stop_after(monkeypatch, 2)
    change()
    check_anew(folder, monkeypatch)


def check_anew(folder, monkeypatch, *words):
    assert predict(*words, "--out", "undisturbed").exit_code == 0
    asked = count_asked(monkeypatch)
    result = predict(*words)
    assert result.exit_code == 0, result.output
    assert "resumes" not in result.stderr
    assert len(asked) > 3
    assert contents(folder / "labelled") == contents(folder / "undisturbed")


def test_more_memory_resumes(folder, monkeypatch):
    stop_after(monkeypatch, 2, "--memory", "8")
    asked = count_asked(monkeypatch)
    result = predict("--memory", "9")
    assert "resumes at strip 3" in result.stderr
    assert asked


@pytest.mark.parametrize("part", ["cubes", "strip_1"])
@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:40] + b"!" + data[41:], lambda data: b""]
)
def test_a_damaged_part_is_told_of_and_done_again(folder, monkeypatch, part, damage):
    assert predict("--out", "undisturbed").exit_code == 0
    stop_after(monkeypatch, 2)
    (path,) = (folder / "labelled" / WORK).glob(f"{part}*")
    path.write_bytes(damage(path.read_bytes()))
    result = predict()
    assert result.exit_code == 0, result.output
    assert f"{part}" in result.stderr
    assert "damaged: this part of the work is done again" in result.stderr
    assert contents(folder / "labelled") == contents(folder / "undisturbed")


def test_a_damaged_description_starts_anew(folder, monkeypatch):
    stop_after(monkeypatch, 2)
    for damage in (b"", b"{", b"[1]"):
        (folder / "labelled" / WORK / WHAT).write_bytes(damage)
        check_anew(folder, monkeypatch)
        shutil.rmtree("undisturbed")
        shutil.rmtree("labelled")
        stop_after(monkeypatch, 2)


def test_an_error_before_anything_is_finished_leaves_nothing(folder, monkeypatch):
    monkeypatch.setattr(jobs, "survey", refuse)
    assert predict().exit_code == 2
    assert not (folder / "labelled").exists()


def test_what_is_kept_of_a_finished_scan_is_removed(folder, monkeypatch):
    assert predict().exit_code == 0
    undisturbed = contents(folder / "labelled")
    work = folder / "labelled" / WORK
    work.mkdir()
    (work / WHAT).write_text("{}")  # killed while it was removed
    assert "labelled before" in predict().stdout
    assert contents(folder / "labelled") == undisturbed
    assert not work.exists()


def test_a_scan_that_fits_by_now_leaves_nothing_of_what_was_kept(folder, monkeypatch):
    stop_after(monkeypatch, 2)
    monkeypatch.setattr(large_scans, "KEPT", 0)
    assert predict().exit_code == 0
    assert len(list((folder / "labelled").iterdir())) == 2


def test_a_worker_resumes_what_another_began(folder, monkeypatch):
    work = Work(load_trained("fresh.safetensors"), Options(thin=0.2), None, False, False, False)
    with monkeypatch.context() as patch:
        count_asked(patch, stop_at=2)
        with pytest.raises(Stopped):
            label_on_worker(work, Job(folder / "scan.ply", folder / "labelled/scan_labelled.ply"), 0)
    asked = count_asked(monkeypatch)
    outcome = label_on_worker(work, Job(folder / "scan.ply", folder / "labelled/scan_labelled.ply"), 1)
    assert outcome.output == "scan_labelled.ply"
    assert any("resumes at strip 3 of " in line for line in outcome.said)
    assert len(asked) > 1


def begin(*words):
    """The command in a process of its own, which reads the scan in pieces and labels it in strips, too."""
    changes = "from point2node.inference import large_scans, strips; large_scans.KEPT = 10**12; strips.SMALL = 700"
    code = f"{changes}; from point2node.cli.main import app; app()"
    options = ("--weights", "fresh.safetensors", "--thin", "0.2", "--no-report")
    return subprocess.Popen(
        [sys.executable, "-c", code, "predict", "scan.ply", *options, *words], stderr=subprocess.PIPE
    )


@pytest.mark.slow
def test_a_killed_process_is_resumed_by_the_next(folder):
    assert begin("--out", "undisturbed").wait(300) == 0
    killed = begin()
    end = time.monotonic() + 300
    while not list((folder / "labelled" / WORK).glob("strip_2_*")) and time.monotonic() < end:
        time.sleep(0.001)
    killed.kill()
    killed.communicate()
    assert list((folder / "labelled" / WORK).glob("strip_2_*"))
    resumed = begin()
    said = resumed.communicate(timeout=300)[1].decode()
    assert resumed.returncode == 0, said
    assert "scan.ply: resumes " in said
    assert not differing(folder / "labelled", folder / "undisturbed")
    assert not list((folder / "labelled").glob(f"{TEMPORARY}*"))


def test_a_scan_that_somebody_else_labels_is_refused_and_its_work_left_alone(tmp_path):
    target, said = tmp_path / "scan_labelled.ply", []
    with kept_work(target, {"scan": 1}, "scan", said.append) as kept:
        kept.save("part", [np.arange(3)])
        remove_kept_work(target)
        with (
            pytest.raises(InputError, match="another 'point2node predict'"),
            kept_work(target, {}, "scan", said.append),
        ):
            pass
        ((found,), nothing) = kept.load("part"), kept.load("other")
        assert found.tolist() == [0, 1, 2]
        assert nothing is None
    assert not list(tmp_path.iterdir())
    assert not said


def test_kept_arrays_of_every_kind_come_back(tmp_path):
    arrays = [np.array("why"), np.array(0.5), np.arange(6.0).reshape(2, 3), np.zeros((0, 3), np.uint8)]
    with kept_work(tmp_path / "scan.ply", {}, "scan", print) as kept:
        kept.save("part", arrays)
        found = kept.load("part")
        for one, other in zip(arrays, found, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        with pytest.raises(ValueError, match="pickle"):
            kept.save("part", [np.array([print])])
        assert len(kept.load("part")) == 4
