import os
import subprocess
import sys

import pytest

import point2node


def test_every_public_name_can_be_imported():
    for name in point2node.__all__:
        assert getattr(point2node, name) is not None
    assert dir(point2node) == sorted(point2node.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = point2node.nothing


def test_importing_the_package_imports_neither_torch_nor_numba():
    program = "import sys, point2node; sys.exit('torch' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_example_in_the_docstring_runs():
    lines = point2node.__doc__.splitlines()
    example = "\n".join(line[4:] for line in lines if line.startswith("    "))
    namespace = {}
    exec(example, namespace)
    assert namespace["logits"].shape == (1000, 4)


@pytest.mark.parametrize(("before", "after"), [(None, "10000"), ("0", "0")])
def test_idle_threads_of_the_command_spin_briefly_unless_the_user_decided(before, after):
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    if before is not None:
        environment["GOMP_SPINCOUNT"] = before
    program = "import os, point2node.cli.main; print(os.environ['GOMP_SPINCOUNT'])"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{after}\n"


def test_importing_the_library_changes_no_environment_variable():
    program = "import os; before = dict(os.environ); import point2node.api; print(dict(os.environ) == before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


WITHOUT = "import sys; sys.modules.update({name: None for name in ('lightning_fabric', 'tensorboardX')}); "


@pytest.mark.slow
def test_without_the_extra_train_a_training_ends_in_one_line_that_says_what_to_install(tmp_path):
    program = WITHOUT + "from point2node.cli.main import app; app(['train', 'tiny', '--out', 'run'])"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "expected the library lightning-fabric to be installed, found none" in line
    assert "pip install 'point2node[train]'" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_without_the_extra_train_everything_else_is_imported_and_a_history_is_kept(tmp_path):
    program = (
        WITHOUT
        + """
import pathlib
import point2node.api, point2node.evaluation.scoring, point2node.show.viewer.workbench, point2node.teaching.rounds
from point2node.training.history import History, read_history
history = History(pathlib.Path("history.csv"), pathlib.Path("board"), 0)
history.add(3, {"loss": 0.5})
history.close()
print(read_history(pathlib.Path("history.csv"))[0]["loss"])
"""
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "0.5\n", done.stderr
