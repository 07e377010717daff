import shutil
import sys
from pathlib import Path

import pytest
import torch

from point2node.cli.progress import SilentWatch
from point2node.core.errors import InputError, LostProcessError
from point2node.core.writing import alone_in
from point2node.data.batches import BatchLoader
from point2node.training import launch
from point2node.training.launch import (
    begin,
    begin_or_resume,
    default_run,
    find_store,
    noticing_lost_processes,
    resume,
    start_fabric,
)
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import load_preset
from tests.training.stores import TINY, ignore, quick, write_scenes


class StopError(Exception):
    """Stands for whatever ends a process."""


class StoppingWatch(SilentWatch):
    """Ends the training after a step."""

    def __init__(self, after):
        self._after = after

    def step(self, step, epoch, values):
        if step == self._after:
            raise StopError


@pytest.fixture
def stopped(tmp_path, rooms):
    """A run that was ended after its first step."""
    run = RunFolder(tmp_path / "run")
    with pytest.raises(StopError):
        begin("tiny", quick(), rooms.path, run, StoppingWatch(1), ignore)
    return run


def go_on(run, preset=None, words=(), data=None):
    return resume(run, preset, list(words), data, SilentWatch(), ignore)


def test_a_run_goes_where_its_preset_variant_and_seed_say():
    assert default_run("tiny", quick("seed=3")) == Path("runs/tiny-point2node-seed3")
    peer = load_preset("tiny", ["model=dgcnn", "variant=null"])
    assert default_run("tiny", peer) == Path("runs/tiny-dgcnn-seed0")


def test_beginning_into_a_run_is_refused(finished, stopped, rooms):
    for run, state in ((finished, "a finished run"), (stopped, "a run in progress")):
        with pytest.raises(InputError, match=f"a new folder, found {state}.*--resume {run.path}"):
            begin("tiny", quick(), rooms.path, run, SilentWatch(), ignore)


def test_a_stopped_run_goes_on_to_the_bytes_of_one_that_was_not(stopped, finished):
    outcome = go_on(stopped)
    assert outcome.finished
    for name in ("last", "best", "state"):
        file = f"{name}.safetensors"
        assert (stopped.path / file).read_bytes() == (finished.path / file).read_bytes()


def test_a_finished_run_is_left_alone(finished):
    before = {path: path.stat().st_mtime_ns for path in finished.path.rglob("*")}
    assert go_on(finished, "tiny", TINY) is None
    assert {path: path.stat().st_mtime_ns for path in finished.path.rglob("*")} == before


def test_another_preset_is_refused(stopped):
    with pytest.raises(InputError, match="expected preset 'tiny', as it was started, found 'rooms'"):
        go_on(stopped, "rooms")


@pytest.mark.parametrize("word", ["seed=1", "learning_rate=0.1", "steps=3", "precision=bf16-mixed", "features=[]"])
def test_settings_that_change_the_result_are_refused(word, stopped):
    key = word.partition("=")[0]
    with pytest.raises(InputError, match=f"{key}: expected .*, as it was started, found"):
        go_on(stopped, None, [word])


@pytest.mark.parametrize("word", ["step=3", "log_every=0"])
def test_bad_words_are_refused_as_ever(word, stopped):
    with pytest.raises(InputError):
        go_on(stopped, None, [word])


def test_the_same_settings_and_those_of_the_machine_may_be_given(stopped, finished):
    same = ["steps=2", "learning_rate=5e-3", "features=[rgb]", "turn=180"]
    assert go_on(stopped, "tiny", [*same, "checkpoint_seconds=1", "log_every=2"]).finished
    assert stopped.last.read_bytes() == finished.last.read_bytes()


def test_other_data_is_refused(stopped, tmp_path):
    other = write_scenes(tmp_path / "other", {"train": ("a", "b", "c"), "val": ("d",)})
    with pytest.raises(
        InputError, match=r"the data that .*run was started with \(\w+\), found other data .*another --out"
    ):
        go_on(stopped, data=other.path)


def test_the_same_data_elsewhere_is_welcome(stopped, rooms, tmp_path, finished):
    shutil.copytree(rooms.path, tmp_path / "moved")
    assert go_on(stopped, data=tmp_path / "moved").finished
    assert stopped.last.read_bytes() == finished.last.read_bytes()


def test_the_state_of_a_run_with_another_seed_is_refused(stopped, rooms, tmp_path):
    other = RunFolder(tmp_path / "other")
    with pytest.raises(StopError):
        begin("tiny", quick("seed=1"), rooms.path, other, StoppingWatch(1), ignore)
    shutil.copy(other.state, stopped.state)
    with pytest.raises(InputError, match="expected seed 0, found seed 1"):
        go_on(stopped)


def test_a_run_killed_before_its_first_checkpoint_begins_again(stopped, finished):
    stopped.state.unlink()
    assert go_on(stopped).finished
    assert stopped.last.read_bytes() == finished.last.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_a_run_that_is_being_trained_cannot_be_resumed_as_well(stopped, finished):
    with alone_in(stopped.path, wait=False), pytest.raises(InputError, match="another 'point2node train' at work"):
        go_on(stopped)
    assert go_on(stopped).finished


def test_what_a_kill_left_half_written_is_removed(stopped):
    leftover = stopped.path / ".point2node-0123456789ab.safetensors"
    leftover.write_bytes(bytes(100))
    go_on(stopped)
    assert not leftover.exists()


def test_what_is_no_run_cannot_be_resumed(tmp_path):
    with pytest.raises(InputError, match="a run folder made by"):
        go_on(RunFolder(tmp_path / "nothing"))


def test_a_sweep_begins_goes_on_and_leaves_alone(tmp_path, rooms, finished):
    run = RunFolder(tmp_path / "run")
    with pytest.raises(StopError):
        begin_or_resume("tiny", quick(), rooms.path, run, StoppingWatch(1), ignore)
    assert begin_or_resume(
        "tiny", quick("num_workers=1", "log_every=2"), rooms.path, run, SilentWatch(), ignore
    ).finished
    assert run.last.read_bytes() == finished.last.read_bytes()
    assert begin_or_resume("tiny", quick(), rooms.path, run, SilentWatch(), ignore) is None
    with pytest.raises(InputError, match=r"steps: expected 3, found 2.*another folder"):
        begin_or_resume("tiny", quick("steps=3"), rooms.path, run, SilentWatch(), ignore)


def test_data_that_has_to_be_given_is_asked_for():
    with pytest.raises(InputError, match="--data: expected a prepared store or the folder of s3dis, found none"):
        find_store(load_preset("s3dis"), None, ignore)


def test_generated_rooms_need_no_data(monkeypatch):
    monkeypatch.setattr(launch, "open_generated_rooms", lambda rooms, seed, report: (rooms, seed))
    assert find_store(quick("rooms=7", "rooms_seed=2"), None, ignore) == (7, 2)


def test_what_begins_is_checked_before_the_folder_is_made(tmp_path, rooms):
    run = RunFolder(tmp_path / "run")
    for words in (
        ("classes=40",),
        ("batch_size=1000",),
        ("size=modelnet40",),
        ("points=191",),
    ):
        with pytest.raises(InputError):
            begin("tiny", quick(*words), rooms.path, run, SilentWatch(), ignore)
        assert not run.path.exists()


def test_the_loader_goes_on_at_the_step_of_the_state(stopped, monkeypatch):
    loaded = []
    monkeypatch.setattr(BatchLoader, "load_state_dict", lambda self, state: loaded.append(state))
    go_on(stopped)
    assert loaded == [{"epoch": 0, "step": 0, "seed": 0}]  # the state of the start: a kill came before the next


def test_a_cpu_is_one_device():
    fabric = start_fabric(quick("accelerator=cpu"))
    assert (fabric.device.type, fabric.world_size, fabric.is_global_zero) == ("cpu", 1, True)


@pytest.mark.parametrize(
    ("word", "where"),
    [
        ("accelerator=quantum", "accelerator, devices or strategy"),
        ("strategy=guesswork", "accelerator, devices or strategy"),
        ("precision=16-mixed", "precision"),
    ],
)
def test_what_the_machine_lacks_is_refused_in_one_line(word, where):
    with pytest.raises(InputError, match=f"^{where}: expected ") as caught:
        start_fabric(quick("accelerator=cpu", word))
    assert "\n" not in str(caught.value)


def test_mixed_precision_leaves_coordinates_alone():
    """Fabric would cast them to bfloat16, whose steps at 40 m are a quarter of a metre."""
    precision = start_fabric(quick("accelerator=cpu", "precision=bf16-mixed")).strategy.precision
    xyz = torch.tensor([39.99])
    assert precision.convert_input(((xyz,), {}))[0][0] is xyz
    with precision.forward_context():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16


def test_a_dead_process_that_built_batches_is_a_lost_process():
    message = "DataLoader worker (pid 3) is killed by signal: Killed."
    with (
        pytest.raises(LostProcessError, match="killed by signal"),
        noticing_lost_processes(start_fabric(quick("accelerator=cpu"))),
    ):
        raise RuntimeError(message)


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="shapes") as caught, noticing_lost_processes(start_fabric(quick())):
        raise RuntimeError("shapes do not match")
    assert not isinstance(caught.value, LostProcessError)
