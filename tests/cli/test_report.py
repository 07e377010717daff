import json
import subprocess
import sys

import matplotlib.image
import pytest
import typer
from typer.testing import CliRunner

from point2node.cli.main import OneLineErrors
from point2node.cli.report import report
from point2node.core.point_cloud import PointCloud
from point2node.formats import write
from tests.report.runs import write_evaluation, write_run
from tests.show.scenes import box_room

app = typer.Typer(cls=OneLineErrors, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(report)


@app.callback()
def group():
    pass


def run(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, miou in enumerate((0.60, 0.64)):
        write_run(tmp_path / "runs" / f"whole_{seed}", miou, seed=seed)
        write_run(tmp_path / "runs" / f"baseline_{seed}", miou - 0.05, seed=seed, variant="baseline")
    return tmp_path / "runs"


def test_tables_are_printed_and_nothing_is_written(runs):
    result = run("runs")
    assert result.exit_code == 0
    assert "62.00 ± 2.83" in result.stdout
    assert "+5.00 ± 0.00" in result.stdout
    assert result.stderr == ""
    assert [path.name for path in runs.parent.iterdir()] == ["runs"]


def test_json_is_printed_and_nothing_else(runs):
    content = json.loads(run("runs", "--json").stdout)
    assert [table["title"] for table in content["tables"]] == [
        "Segmentation on rooms, test",
        "Ablation on rooms, test",
        "The paper's claims on rooms, test",
    ]


@pytest.mark.parametrize(
    ("options", "name", "start"),
    [
        (("--html",), "report.html", "<!doctype html>"),
        (("--html", "--out", "page.html"), "page.html", "<!doctype html>"),
        (("--out", "page.HTML"), "page.HTML", "<!doctype html>"),
        (("--out", "results.md"), "results.md", "# Results"),
        (("--out", "results.json", "--json"), "results.json", "{"),
    ],
)
def test_a_file_is_written_whole_and_in_the_format_of_its_suffix(runs, options, name, start):
    result = run(runs, *options)
    assert result.exit_code == 0
    assert result.stderr == f"written: {name}\n"
    assert (runs.parent / name).read_text().startswith(start)
    assert sorted(path.name for path in runs.parent.iterdir()) == sorted([name, "runs"])


def test_unlike_protocols_get_tables_of_their_own_and_a_first_line(runs):
    extra = write_evaluation(runs.parent / "votes.json", 0.7, protocol={"votes": 4})
    result = run(runs, extra)
    first = " ".join(result.stdout.split())
    assert first.startswith("2 protocols, each with its own table; do not compare them: they differ in votes (1; 4).")
    assert result.stdout.count("Segmentation on rooms, test") == 2


def test_a_run_without_evaluation_is_told_how_to_get_one(runs):
    write_run(runs / "my new")
    result = run("runs")
    assert result.exit_code == 0
    assert "runs/my new: not evaluated; run 'point2node evaluate \"runs/my new\"'" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("scan.yaml",), "scan.yaml: expected a run folder or an evaluation JSON, found a .yaml file."),
        (("scan.ply",), "scan.ply: expected a point cloud, found an empty file."),
        (("nowhere",), "nowhere: expected a run folder or an evaluation JSON, found nothing there."),
        (("runs", "--out", "x.pdf"), "--out: expected a name that ends in .html or .md or .json, found x.pdf."),
        (("runs", "--html", "--out", "x.md"), "--out: expected a name that ends in .html, found x.md."),
        (("runs", "--out", "no/where.md"), "no/where.md: expected a file that can be written, found no such file"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(runs, arguments, message):
    (runs.parent / "scan.ply").touch()
    (runs.parent / "scan.yaml").touch()
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_report_starts_without_torch_or_numba(runs):
    program = (
        "import sys\nfrom point2node.report.overview import make_report\n"
        "from point2node.report import rendering\n"
        "make_report(['runs'])\n"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numba')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.fixture
def scan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scene = box_room()
    write("box.ply", PointCloud(scene.xyz, rgb=scene.rgb, labels=scene.truth))
    write("box_labelled.ply", PointCloud(scene.xyz, rgb=scene.rgb, labels=scene.labels))
    return tmp_path


def test_a_labelled_scan_becomes_a_page_with_stills_beside_it(scan):
    result = run("box_labelled.ply", "--truth", "box.ply")
    assert result.exit_code == 0, result.output
    assert result.stdout == (
        "written: box_labelled.html and 5 stills, box_labelled_*.png; open the page in a browser\n"
    )
    made = {path.name for path in scan.iterdir()} - {"box.ply", "box_labelled.ply"}
    assert made == {
        "box_labelled.html",
        *(f"box_labelled_{kind}.png" for kind in ("class", "rgb", "truth", "error", "grid")),
    }
    assert "Confusion matrix" in (scan / "box_labelled.html").read_text()


def test_several_scans_are_drawn_beside_each_other_with_their_baselines(scan):
    one = ("box_labelled.ply", "--truth", "box.ply", "--baseline", "box_labelled.ply")
    result = run(*one, *one, "--out", "grid.png")
    assert result.exit_code == 0, result.output
    assert result.stdout == "written: grid.png, 2 scans next to each other\n"
    height, width = matplotlib.image.imread(scan / "grid.png").shape[:2]
    assert width > 1.5 * height  # two rows of four


def test_a_baseline_of_other_points_is_refused(scan):
    scene = box_room(500)
    write("other.ply", PointCloud(scene.xyz, labels=scene.labels))
    result = run("box_labelled.ply", "--baseline", "other.ply")
    assert result.exit_code == 2
    assert "other: expected the points and classes of box_labelled, found 500 points for" in result.stderr


def test_the_page_goes_where_it_is_told_and_stills_may_be_left_out(scan):
    (scan / "pages").mkdir()
    result = run("box_labelled.ply", "--out", "pages/my.html", "--no-stills", "--classes", "s3dis")
    assert result.stdout == "written: pages/my.html; open the page in a browser\n"
    assert [path.name for path in (scan / "pages").iterdir()] == ["my.html"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gone.ply",), "gone.ply: expected a file that can be read, found no such file or directory."),
        (("runs", "box.ply"), "box.ply: expected runs, or labelled scans, found box.ply among runs."),
        (("box.ply", "box.ply", "--truth", "box.ply"), "--truth: expected one for each of 2 scans, found 1."),
        (("box.ply", "box.ply", "--out", "a.html"), "--out: expected a name that ends in .png, found a.html."),
        (("box.ply", "--out", "x.md"), "--out: expected a name that ends in .html, found x.md."),
        (("box.ply", "--json"), "--json: expected runs to report on, found box.ply."),
        (("runs", "--truth", "box.ply"), "--truth: expected a labelled point cloud to report on, found runs."),
        (("runs", "--no-stills"), "--no-stills: expected a labelled point cloud to report on, found runs."),
        (("box.ply", "--out", "no/where.html"), "no/where.html: expected a file that can be written, found no such"),
    ],
)
def test_scans_that_cannot_be_shown_are_refused_in_one_line(scan, arguments, message):
    before = sorted(scan.iterdir())
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(scan.iterdir()) == before
