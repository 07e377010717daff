import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_runs(example, tmp_path):
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def code_cells(notebook):
    return ["".join(one["source"]) for one in json.loads(notebook.read_text())["cells"] if one["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_every_cell_is_python(notebook):
    assert len(notebook.read_bytes()) < 10_000
    content = json.loads(notebook.read_text())
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    for cell in code_cells(notebook):
        compile(cell, notebook.name, "exec")


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_runs_in_its_order(notebook, tmp_path):
    """Without a kernel: the cells are plain Python."""
    (tmp_path / "cells.py").write_text("\n".join(code_cells(notebook)))
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "cells.py"], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert " m², perimeter " in done.stdout
    written = ("room.png", "room_confidence.png", "room_labelled.ply", "room.html", "room_plan.svg")
    assert all((tmp_path / name).stat().st_size > 1000 for name in written)
