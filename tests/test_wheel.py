"""The wheel in a clean environment: what 'pip install point2node' gives a user."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import point2node

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent


def run(*words, folder, expected=0):
    """A command as somebody else would run it: nothing of this repository on its path."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == expected, done.stderr
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of the commands of an environment in which the wheel is all that was asked for."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, folder=folder)
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    commands = folder / "venv" / "bin"
    pip = (commands / "python", "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt")
    run(*pip, wheel, folder=folder)
    return commands


def test_the_headline_command_labels_a_laz(installed, tmp_path):
    point2node.write(tmp_path / "scan.laz", point2node.generate_room(3, 0, points=20_000).with_(labels=None))
    done = run(installed / "point2node", "predict", "scan.laz", folder=tmp_path)
    assert "scan_labelled.laz" in done.stdout
    labelled = point2node.read(tmp_path / "labelled" / "scan_labelled.laz")
    assert len(labelled) == 20_000
    assert len(set(labelled.labels.tolist())) > 4
    assert (tmp_path / "labelled" / "scan_labelled.html").is_file()


def test_a_training_says_what_to_install(installed, tmp_path):
    done = run(installed / "point2node", "train", "tiny", folder=tmp_path, expected=2)
    assert "pip install 'point2node[train]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
