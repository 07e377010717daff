"""One small training that later tests share."""

import pytest

from point2node.cli.watching import SilentWatch
from point2node.engine.run_folder import RunFolder
from point2node.engine.session import begin
from tests.engine.stores import quick, write_scenes


def ignore(done, total, name):
    """Nobody asks how far it is."""


@pytest.fixture(scope="session")
def rooms(tmp_path_factory):
    """Four scenes to learn from, one to choose by, one held out."""
    splits = {"train": ("a", "b", "c", "d"), "val": ("e",), "test": ("f",)}
    return write_scenes(tmp_path_factory.mktemp("rooms") / "store", splits)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, rooms):
    """A finished run of two steps; it is not to be changed."""
    run = RunFolder(tmp_path_factory.mktemp("runs") / "finished")
    outcome = begin("tiny", quick(), rooms.path, run, SilentWatch(), ignore)
    assert outcome.finished
    return run
