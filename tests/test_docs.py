"""The documents stay true: equation lines, figures, links, Python blocks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.main import get_command

import point2node
from experiments.real_rooms import latest
from point2node.cli import main
from point2node.inference.jobs import checksum_of
from point2node.inference.labeller import SceneLabeller
from point2node.models.layers import count_parameters
from point2node.models.point2node.stages import JOINT
from point2node.weights.cards import read_model_card
from point2node.weights.trained import load_trained
from tests.local_hub import LocalHub
from tests.training.stores import write_scenes

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
WEAK = 0.4  # mean IoU on real rooms below which a card calls a class weak
METHOD = ROOT / "src/point2node/models/point2node/method.py"


def test_every_equation_is_linked_to_the_line_that_is_it():
    text = (ROOT / "docs/method.md").read_text()
    rows = re.findall(r"^\| (\d+) \|.*method\.py:(\d+)\]\(.*method\.py#L(\d+)\)", text, re.M)
    lines = METHOD.read_text().splitlines()
    assert [int(equation) for equation, _, _ in rows] == list(range(1, 17))
    for equation, shown, linked in rows:
        assert shown == linked
        assert re.search(rf"# Eq\. {equation}\b", lines[int(shown) - 1]), f"Eq. {equation} is not at line {shown}"


@pytest.mark.parametrize("variant", ["point2node", *JOINT])
def test_the_costs_of_the_joint_variants_are_those_of_the_catalogue(variant):
    found = {}
    for preset, points in (("s3dis", 2048), ("modelnet40", 1024)):
        with torch.device("meta"):
            model = point2node.create_model(preset=preset, variant=variant)
        found[preset] = f"{count_parameters(model) / 2**20:.2f} | {model.macs(points) / 1e9:.2f} |"
    row = rf"^\| `{variant}` \| .* \| {re.escape(found['s3dis'])} {re.escape(found['modelnet40'])}$"
    assert re.search(row, (ROOT / "docs/method.md").read_text(), re.M)


def test_figures_of_speed_are_those_of_the_last_run():
    command = [sys.executable, "-m", "benchmarks", "--markdown"]
    table = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert table in (ROOT / "docs/performance.md").read_text()


def test_the_sizes_of_the_networks_are_those_of_the_catalogue():
    text = (ROOT / "docs/method.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d,]+) \| ([\d,]+) \|$", text, re.M)
    assert {name for name, _, _ in rows} == {"s3dis", "scannet", "modelnet40", "modelnet10", "rooms", "tiny"}
    for preset, *shown in rows:
        with torch.device("meta"):
            models = [point2node.create_model(preset=preset, variant=name) for name in ("baseline", "point2node")]
        assert shown == [f"{count_parameters(model):,}" for model in models]


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


def test_the_index_lists_every_page():
    text = (ROOT / "docs/index.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name})" in text, page.name


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("ablation", "variant"),
        ("ablation", "claim"),
        ("peers", "data"),
        ("real_rooms", "weights"),
        ("real_rooms", "IoU, %"),
        ("real_rooms", "mean of the kinds"),
        ("adapt", "weights"),
        ("adapt", "OA / mIoU, %"),
        ("features", "features"),
    ],
)
def test_tables_of_trainings_are_those_that_their_command_wrote(name, column):
    results = (ROOT / f"experiments/results/{name}.md").read_text()
    (table,) = re.findall(rf"^\| {column} \|.*?(?=\n\n|\n*\Z)", results, re.M | re.S)
    assert table in (ROOT / "docs/experiments.md").read_text()


def anchors_of(page):
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_relative_link_leads_somewhere(document):
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", document.read_text()):
        if not target.startswith("http"):
            found = document.parent / target if target else document
            assert found.exists(), target
            assert not anchor or found.suffix != ".md" or anchor in anchors_of(found), f"{target}#{anchor}"


def test_every_command_and_option_that_the_pages_show_exists():
    commands = get_command(main.app).commands
    for document in DOCUMENTS:
        for name, rest in re.findall(r"(?:^|[`$ ])point2node ([a-z]+)\b([^`\n]*)", document.read_text(), re.M):
            assert name in commands, f"{document.name}: point2node {name}"
            known = {"--help"}.union(*(one.opts + one.secondary_opts for one in commands[name].params))
            found = re.findall(r"(?<!\S)--[a-z][a-z-]*", rest.split("  #")[0])
            assert known.issuperset(found), f"{document.name}: point2node {name}{rest}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_python_block_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    point2node.write("scan.ply", point2node.PointCloud(np.random.default_rng(0).random((50, 3))))
    write_scenes(tmp_path / "store", {"train": ("a", "b"), "test": ("c",)})
    (tmp_path / "checkout").symlink_to(ROOT)
    monkeypatch.setitem(sys.modules, "huggingface_hub", LocalHub(tmp_path / "hub"))
    monkeypatch.setattr(sys, "path", [*sys.path])  # torch.hub's entry points add to it
    namespace = {}
    for block in re.findall(r"```python\n(.*?)```", document.read_text(), re.S):
        exec(block, namespace)


def test_the_table_of_objects_is_that_of_the_last_run():
    from benchmarks.objects import RESULTS, markdown
    from point2node.show.objects import Match

    matches = json.loads(RESULTS.read_text())["matches"]
    results = {name: {kind: Match(**counts) for kind, counts in found.items()} for name, found in matches.items()}
    assert markdown(results) in (ROOT / "docs/objects.md").read_text()


def test_the_table_of_plans_is_that_of_the_last_run():
    from benchmarks.plan import RESULTS, markdown

    assert markdown(json.loads(RESULTS.read_text())["rooms"]) in (ROOT / "docs/plan.md").read_text()


def test_figures_of_rooms_are_those_measured_on_real_rooms():
    card = read_model_card(ROOT / "src/point2node/weights/rooms.json")
    results = json.loads((ROOT / "experiments/results/real_rooms.json").read_text(encoding="utf-8"))["figures"]
    measured = latest(results)
    assert measured["checksum"] == checksum_of(SceneLabeller(load_trained("rooms"))), "not the pretrained model"
    kinds = {name: measured["kinds"][name] for name in ("panoramic", "handheld")}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for kind in kinds.values():
        figures = " | ".join(f"{100 * kind[name]:.1f}" for name in ("oa", "macc", "miou", "miou_eleven"))
        assert f"| {figures} |" in readme
    seen = {
        name: [kind["iou"][name] for kind in kinds.values() if kind["iou"][name] is not None]
        for name in measured["classes"]
    }
    assert set(card.weak) == {name for name, found in seen.items() if sum(found) / len(found) < WEAK}
