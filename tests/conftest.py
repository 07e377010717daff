"""Settings that hold for every test, and one small training that several share."""

import os
import signal

import pytest
from hypothesis import settings

# some virtual machines name bfloat16 instructions that they cannot execute; oneDNN would take them at their word
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")

# a suite started in the background of a shell ignores SIGINT, and the commands that it starts would do so, too
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # as the command line does

# compiled kernels make the first example slow, and a busy machine any other: time is no test here
settings.register_profile("point2node", deadline=None)
settings.load_profile("point2node")


@pytest.fixture(scope="session")
def rooms(tmp_path_factory):
    """Four scenes to learn from, one to choose by, one held out."""
    from tests.training.stores import write_scenes

    splits = {"train": ("a", "b", "c", "d"), "val": ("e",), "test": ("f",)}
    return write_scenes(tmp_path_factory.mktemp("rooms") / "store", splits)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, rooms):
    """A finished run of two steps; it is not to be changed."""
    from point2node.cli.progress import SilentWatch
    from point2node.training.launch import begin
    from point2node.weights.run_folder import RunFolder
    from tests.training.stores import ignore, quick

    run = RunFolder(tmp_path_factory.mktemp("runs") / "finished")
    outcome = begin("tiny", quick(), rooms.path, run, SilentWatch(), ignore)
    assert outcome.finished
    return run
