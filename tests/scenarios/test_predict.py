"""Scans through the real command line: what comes out, what is said, what is left after failures."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import laspy
import numpy as np
import pytest
from typer.testing import CliRunner

from point2node.cli.main import app
from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.formats import read, write
from point2node.weights.trained import load_trained
from tests.inference.labellers import write_real_weights


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def small_scan(points=1500, seed=0, **parts):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, [3.0, 2.5, 2.4], (points, 3))
    return PointCloud(xyz, rgb=random.integers(0, 256, (points, 3)), **parts)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return write_real_weights(tmp_path_factory.mktemp("weights") / "fresh.safetensors")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_scan_is_labelled_with_a_page_and_pictures(here, weights):
    write(here / "my scan ü.ply", small_scan())
    result = run("predict", "my scan ü.ply", "--weights", weights)
    assert result.exit_code == 0, result.output
    found = sorted(path.name for path in (here / "labelled").iterdir())
    assert found == sorted(
        [
            "my scan ü_labelled.ply",
            "my scan ü_labelled.ply.classes.json",
            "my scan ü_labelled.html",
            *(f"my scan ü_labelled_{kind}.png" for kind in ("class", "rgb", "confidence", "entropy")),
        ]
    )
    labelled = read(here / "labelled/my scan ü_labelled.ply")
    assert np.array_equal(labelled.xyz, read(here / "my scan ü.ply").xyz)
    assert set(labelled.labels) <= set(range(13))
    assert "open labelled" in result.stdout


def test_classes_that_a_model_is_weak_at_are_named_where_it_finds_them(here, weights, monkeypatch):
    write(here / "scan.ply", small_scan())
    names = [one.name for one in S3DIS]
    trained = replace(load_trained(weights), weak=tuple(names))
    monkeypatch.setattr("point2node.weights.trained.load_trained", lambda name: trained)
    result = run("predict", "scan.ply", "--weights", weights, "--no-report")
    assert result.exit_code == 0, result.output
    found = set(read(here / "labelled/scan_labelled.ply").labels.tolist())
    listed = ", ".join(one.name for one in S3DIS if one.value in found)
    assert f"note: fresh often gets {listed} wrong on real scans: check these" in result.stderr


def test_finished_scans_are_skipped_until_something_changed(here, weights):
    write(here / "a.ply", small_scan())
    words = ("predict", "a.ply", "--weights", weights, "--no-report")
    assert "points in" in run(*words).stdout
    assert "labelled before" in run(*words).stdout
    assert "points in" in run(*words, "--overwrite").stdout
    assert "points in" in run(*words, "--votes", "2").stdout
    write(here / "a.ply", small_scan(seed=1))
    assert "points in" in run(*words).stdout


def test_scans_that_were_labelled_before_are_counted_as_that(here, weights):
    for name in ("a", "b"):
        write(here / f"{name}.ply", small_scan())
    words = ("predict", "a.ply", "b.ply", "--weights", weights, "--no-report")
    assert run(*words).stdout.splitlines()[-1] == "2 of 2 scans labelled, 0 failed"
    assert run(*words).stdout.splitlines()[-1] == "0 of 2 scans labelled, 2 labelled before, 0 failed"


def test_an_interrupted_run_says_what_is_done_and_leaves_nothing_half_written(here, weights, monkeypatch):
    def interrupted(path):
        if path.name == "b.ply":
            raise KeyboardInterrupt
        return read(path)

    for name in ("a", "b", "c"):
        write(here / f"{name}.ply", small_scan())
    monkeypatch.setattr("point2node.inference.jobs.read", interrupted)
    result = run("predict", "a.ply", "b.ply", "c.ply", "--weights", weights, "--no-report")
    assert result.exit_code == 130
    assert "stopped; 1 of 3 scans are done; run the command again for the others" in result.stderr
    assert sorted(path.name for path in (here / "labelled").iterdir()) == [
        "a_labelled.ply",
        "a_labelled.ply.classes.json",
        "summary.csv",
        "summary.json",
    ]


def test_a_page_that_is_missing_is_made_and_another_format_is_another_request(here, weights):
    write(here / "a.npz", small_scan())
    words = ("predict", "a.npz", "--weights", weights)
    assert run(*words, "--no-report", "--format", "ply").exit_code == 0
    result = run(*words, "--format", "ply")
    assert "labelled before" in result.stdout
    assert (here / "labelled/a_labelled.html").is_file()
    assert "points in" in run(*words, "--no-report").stdout
    assert (here / "labelled/a_labelled.npz").is_file()


def test_text_without_names_of_columns_gets_a_page(here, weights):
    cloud = small_scan()
    np.savetxt(here / "a.xyz", np.hstack([cloud.xyz, cloud.rgb]), fmt="%.3f %.3f %.3f %d %d %d")
    result = run("predict", "a.xyz", "--weights", weights)
    assert result.exit_code == 0, result.output
    assert (here / "labelled/a_labelled.html").is_file()
    assert run("report", "labelled/a_labelled.xyz", "--no-stills").exit_code == 0


def test_a_point_far_away_changes_no_other_label_and_is_not_shown(here, weights):
    cloud = small_scan()
    map_frame = PointCloud(cloud.xyz + np.array([5e5, 5e6, 100]), rgb=cloud.rgb)
    stray = PointCloud(np.vstack([map_frame.xyz, [[0, 0, 0]]]), rgb=np.vstack([cloud.rgb, [[0, 0, 0]]]))
    write(here / "a.ply", map_frame)
    write(here / "b.ply", stray)
    result = run("predict", "a.ply", "b.ply", "--weights", weights, "--out", "out")
    assert result.exit_code == 0, result.output
    assert "1 points lie over 10 km from the rest, or 100 m above or below it: they stay in the output" in result.stderr
    labels = read(here / "out/b_labelled.ply").labels
    assert np.array_equal(labels[:-1], read(here / "out/a_labelled.ply").labels)
    assert labels[-1] == 255
    assert "1 points lie far outside the rest: they are not shown." in (here / "out/b_labelled.html").read_text()


def test_a_folder_that_cannot_be_written_is_refused_once_for_all_scans(here, weights):
    write(here / "a.ply", small_scan())
    write(here / "b.ply", small_scan())
    result = run("predict", "a.ply", "b.ply", "--weights", weights, "--out", "a.ply/out")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "a.ply/out: expected a folder that can be written" in result.stderr


def test_rounding_by_las_is_said(here, weights):
    write(here / "a.ply", small_scan())
    result = run("predict", "a.ply", "--weights", weights, "--format", "laz", "--no-report")
    assert "note: .laz rounds coordinates: they are up to 5e-05 off" in result.stderr


def test_one_bad_scan_does_not_stop_the_others(here, weights):
    (here / "scans").mkdir()
    write(here / "scans/a.ply", small_scan())
    (here / "scans/b.laz").write_bytes(b"no laz")
    write(here / "scans/c.npz", small_scan(seed=2))
    result = run("predict", "scans", "--weights", weights, "--no-report", "--out", "out")
    assert result.exit_code == 1
    assert "2 of 3 scans labelled, 1 failed" in result.stdout
    assert "scans/b.laz: expected" in result.stderr
    assert sorted(path.name for path in (here / "out").iterdir() if path.suffix != ".json") == [
        "a_labelled.ply",
        "c_labelled.npz",
        "summary.csv",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"not a ply", "expected"),
        (b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
         b"nan nan nan\n", "at least one point with a position"),
    ],
)  # fmt: skip
def test_unusable_files_end_in_one_line_and_leave_nothing(here, weights, content, message):
    (here / "a.ply").write_bytes(content)
    result = run("predict", "a.ply", "--weights", weights)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (here / "labelled").exists() or not list((here / "labelled").iterdir())


def test_a_missing_scan_weights_or_folder_is_named(here, weights):
    write(here / "a.ply", small_scan(50))
    (here / "file").write_text("x")
    for words, message in (
        (("predict", "nothing.ply", "--weights", weights), "nothing.ply: expected a file that can be read"),
        (("predict", "a.ply", "--weights", "nobody"), "nobody: expected a run folder"),
        (("predict", "a.ply", "--weights", weights, "--out", here / "file" / "x"), "a folder that can be written"),
        (("predict", "a.xyzw", "--weights", weights), "a.xyzw"),
    ):
        result = run(*words)
        assert result.exit_code == 2, words
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("option", ["--memory", "--thin"])
def test_an_endless_number_is_refused_in_one_line(here, weights, option):
    write(here / "scan.ply", small_scan())
    result = run("predict", "scan.ply", "--weights", weights, option, "inf")
    assert result.exit_code == 2
    assert "found inf" in result.stderr
    assert "Traceback" not in result.output


def test_quality_is_noted_in_the_sidecar_and_refused_next_to_votes(here, weights):
    write(here / "scan.ply", small_scan())
    result = run("predict", "scan.ply", "--weights", weights, "--quality", "fast", "--votes", "2")
    assert result.exit_code == 2
    assert result.stderr.strip() == "point2node: --votes: expected --votes or --quality, found both."
    assert run("predict", "scan.ply", "--weights", weights, "--quality", "fast", "--no-report").exit_code == 0
    note = json.loads((here / "labelled/scan_labelled.ply.classes.json").read_text())
    assert (note["protocol"]["quality"], note["settings"]["quality"], note["input"]) == ("fast", "fast", "scan.ply")


def test_a_file_that_no_labelling_made_is_not_overwritten(here, weights):
    write(here / "a.ply", small_scan(60))
    (here / "labelled").mkdir()
    (here / "labelled/a_labelled.ply").write_text("precious")
    result = run("predict", "a.ply", "--weights", weights)
    assert result.exit_code == 2
    assert "Choose another --out" in result.stderr
    assert (here / "labelled/a_labelled.ply").read_text() == "precious"


@pytest.mark.parametrize(
    "xyz", [np.zeros((1, 3)), np.ones((300, 3)), np.random.default_rng(0).uniform(0, [500, 500, 30], (900, 3))]
)
def test_odd_clouds_get_a_note_and_are_labelled(here, weights, xyz):
    write(here / "odd.ply", PointCloud(xyz))
    result = run("predict", "odd.ply", "--weights", weights, "--no-report")
    assert result.exit_code == 0, result.output
    assert "note: " in result.stderr
    assert len(read(here / "labelled/odd_labelled.ply")) == len(xyz)


@pytest.mark.parametrize("units", [1000, 100])
def test_a_room_in_millimetres_or_centimetres_is_labelled_as_one_in_metres(here, weights, units):
    scan = small_scan(4000)
    write(here / "metres.ply", scan)
    write(here / "other.ply", scan.with_(xyz=scan.xyz * units))
    assert run("predict", "metres.ply", "--weights", weights, "--no-report").exit_code == 0
    result = run("predict", "other.ply", "--weights", weights, "--no-report")
    assert result.exit_code == 0, result.output
    assert "fixed: taken as" in result.stderr
    same = read(here / "labelled/other_labelled.ply").labels == read(here / "labelled/metres_labelled.ply").labels
    assert same.mean() > 0.99
    assert np.array_equal(read(here / "labelled/other_labelled.ply").xyz, read(here / "other.ply").xyz)


def test_a_unit_that_is_given_is_not_replaced_but_refused_before_labelling(here, weights):
    scan = small_scan(4000)
    write(here / "mm.ply", scan.with_(xyz=scan.xyz * 1000))
    result = run("predict", "mm.ply", "--weights", weights, "--no-report", "--scale", "1")
    assert result.exit_code == 2
    assert "mm.ply: expected coordinates in metres" in result.stderr
    assert "--scale 0.001 for millimetres" in result.stderr
    assert "labelling" not in result.stderr


def test_feet_of_a_las_file_are_read_from_its_coordinate_system(here, weights):
    scan = small_scan(4000)
    write(here / "feet.las", scan.with_(xyz=scan.xyz / 0.3048))
    las = laspy.read(here / "feet.las")
    wkt = b'PROJCS["a",GEOGCS["b",UNIT["degree",0.0174532925]],UNIT["foot",0.3048]]\0'
    las.vlrs.append(laspy.VLR("LASF_Projection", 2112, "WKT", wkt))
    las.write(here / "feet.las")
    result = run("predict", "feet.las", "--weights", weights, "--no-report")
    assert result.exit_code == 0, result.output
    assert "fixed: a unit is 0.3048 m, according to the file's coordinate system" in result.stderr
    assert "4,000 points, 3.0 × 2.5 × 2.4 m" in result.stderr
    note = json.loads((here / "labelled/feet_labelled.las.classes.json").read_text())
    assert note["protocol"]["scale"] == 0.3048


def test_a_format_without_labels_is_written_as_ply_and_that_is_said(here, weights):
    (here / "mesh.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    result = run("predict", "mesh.off", "--weights", weights, "--no-report")
    assert result.exit_code == 0, result.output
    assert "off cannot store these points and labels; written as .ply" in result.stderr
    assert read(here / "labelled/mesh_labelled.ply").faces.tolist() == [[0, 1, 2]]
    assert "labelled before" in run("predict", "mesh.off", "--weights", weights, "--no-report").stdout


def test_another_format_can_be_asked_for(here, weights):
    write(here / "a.csv", small_scan(100))
    assert run("predict", "a.csv", "--weights", weights, "--no-report", "--format", "laz").exit_code == 0
    assert len(read(here / "labelled/a_labelled.laz")) == 100


def test_the_sidecar_says_what_was_done(here, weights):
    write(here / "a.ply", small_scan(200))
    run("predict", "a.ply", "--weights", weights, "--no-report", "--no-color")
    note = json.loads((here / "labelled/a_labelled.ply.classes.json").read_text())
    assert note["input"] == "a.ply"
    assert note["protocol"]["colour"] == "none"
    assert note["settings"]["color"] is False
    assert sum(note["counts"].values()) == note["points"] == 200


def test_names_that_are_not_utf_8_or_as_long_as_they_can_be_end_in_all_files(here, weights):
    write(here / "a.ply", small_scan())
    for name in (b"\xff\xfe.ply", b"n" * 251 + b".ply"):
        (here / "a.ply").rename(os.fsdecode(name))
        words = ("predict", os.fsdecode(name), "--weights", weights, "--out", "out")
        result = run(*words)
        assert result.exit_code == 0, result.output
        assert "labelled before" in run(*words).stdout
        (here / os.fsdecode(name)).rename("a.ply")
    assert len(list((here / "out").glob("*.classes.json"))) == len(list((here / "out").glob("*.html"))) == 2
    assert len(list((here / "out").glob("*_confidence.png"))) == 2
    note = json.loads((here / os.fsdecode(b"out/\xff\xfe_labelled.ply.classes.json")).read_text())
    assert note["input"] == "\\udcff\\udcfe.ply"


KILLED_AT_A_RENAME = """
import os, signal, sys
from pathlib import Path
from point2node.cli.main import app

left, rename = int(sys.argv.pop(1)), Path.replace

def killed(self, target):
    global left
    if self.name.startswith(".point2node-"):
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
    return rename(self, target)

Path.replace = killed
app()
"""


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_after_a_kill_between_two_renames_the_same_command_makes_the_same_files(here, weights, renames):
    write(here / "a.ply", small_scan())
    words = ["predict", "a.ply", "--weights", str(weights), "--no-report", "--out"]
    assert run(*words, "undisturbed").exit_code == 0
    command = [sys.executable, "-c", KILLED_AT_A_RENAME, str(renames), *words, "out"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGKILL
    result = run(*words, "out")
    assert result.exit_code == 0, result.output
    assert contents(here / "out") == contents(here / "undisturbed")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_adapting_batch_norm_changes_labels_is_noted_and_is_another_request(here, weights):
    write(here / "a.ply", small_scan(500))
    words = ("predict", "a.ply", "--weights", weights, "--no-report")
    assert run(*words).exit_code == 0
    plain = read(here / "labelled/a_labelled.ply").fields["confidence"]
    result = run(*words, "--adapt", "bn")
    assert "points in" in result.stdout, result.output
    assert not np.array_equal(read(here / "labelled/a_labelled.ply").fields["confidence"], plain)
    note = json.loads((here / "labelled/a_labelled.ply.classes.json").read_text())
    assert note["settings"]["norm_share"] == note["protocol"]["norm_share"] == 0.5
    assert "labelled before" in run(*words, "--adapt", "bn").stdout


def test_a_scan_too_small_to_adapt_to_is_refused_in_one_line(here, weights):
    write(here / "a.ply", small_scan(60))
    result = run("predict", "a.ply", "--weights", weights, "--adapt", "bn")
    assert result.exit_code == 2
    assert "at least 192 points to estimate batch-norm statistics on, found 60" in result.stderr
    assert run("predict", "a.ply", "--weights", weights, "--adapt", "everything").exit_code == 2


@pytest.mark.slow
def test_a_killed_run_leaves_finished_files_and_goes_on(here, weights):
    for number in range(3):
        write(here / f"{number}.ply", small_scan(60_000, number))
    words = [sys.executable, "-m", "point2node", "predict", "0.ply", "1.ply", "2.ply", "--weights", str(weights)]
    process = subprocess.Popen([*words, "--no-report"], stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    for line in process.stderr:
        if line.startswith("[2/3]"):
            break
    process.kill()
    process.wait()
    process.stderr.close()
    assert len(read(here / "labelled/0_labelled.ply")) == 60_000
    assert not (here / "labelled/2_labelled.ply").exists()
    done = subprocess.run([*words, "--no-report"], capture_output=True, text=True, check=True)
    assert done.stdout.count("labelled before") >= 1
    assert len(read(here / "labelled/2_labelled.ply")) == 60_000


def test_rules_of_the_output_are_part_of_the_request_and_of_the_file_beside(here, weights):
    write(here / "a.ply", small_scan())
    words = ("predict", "a.ply", "--weights", weights, "--no-report")
    assert run(*words).exit_code == 0
    result = run(*words, "--classes", "asprs", "--within", "0,0,1.5,2.5")
    assert "points in" in result.stdout, result.output
    note = json.loads((here / "labelled/a_labelled.ply.classes.json").read_text())
    assert [one["name"] for one in note["classes"]] == ["unclassified", "ground", "building"]
    labelled = read(here / "labelled/a_labelled.ply")
    assert set(labelled.labels[labelled.xyz[:, 0] > 1.5]) == {0}
    assert set(labelled.labels[labelled.xyz[:, 0] <= 1.5]) <= {1, 2, 6}
    assert "labelled before" in run(*words, "--classes", "asprs", "--within", "0,0,1.5,2.5").stdout
    result = run(*words, "--only", "walls")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_json_is_one_line_for_each_scan_and_all_else_is_on_stderr(here, weights):
    (here / "scans").mkdir()
    write(here / "scans/a.ply", small_scan())
    words = ("predict", "scans", "--weights", weights, "--no-report", "--json")
    first = run(*words)
    assert first.exit_code == 0, first.output
    row = json.loads(first.stdout)
    assert (row["scan"], row["output"], row["points"]) == ("scans/a.ply", "labelled/a_labelled.ply", 1500)
    assert sum(row["counts"].values()) == 1500
    assert "1,500 points" in first.stderr
    (here / "scans/b.las").write_bytes(b"none")
    both = run(*words, "--quiet")
    assert both.exit_code == 1
    before, failed = (json.loads(line) for line in both.stdout.splitlines())
    assert before["counts"] == row["counts"]
    assert failed["output"] is None
    assert failed["error"] in both.stderr
    assert len(both.stderr.splitlines()) == 1
