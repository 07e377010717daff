"""One small training that later tests share."""

import pytest
import torch

from point2node.cli.watching import SilentWatch
from point2node.engine.run_folder import RunFolder
from point2node.engine.session import begin
from tests.engine.stores import ignore, quick, write_scenes


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    """Networks this small are quicker on one thread, above all beside other processes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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
