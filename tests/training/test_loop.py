import math
import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from point2node.cli.progress import SilentWatch
from point2node.core.errors import InputError
from point2node.evaluation.scoring import ScoringOptions, score_split
from point2node.models.weights_file import read_tensors
from point2node.training import checkpoints, loop, setup, validation
from point2node.training.checkpoints import Progress, WeightAverage
from point2node.training.history import read_history
from point2node.training.launch import start_fabric
from point2node.training.loop import FINAL_FILES, Clock, train
from point2node.training.setup import Job
from point2node.weights.run_folder import RunFolder
from point2node.weights.trained import load_trained
from tests.training.stores import ignore, quick, write_scenes, write_shapes

MODERN = ("optimiser=adamw", "schedule=cosine", "warmup_steps=2", "label_smoothing=0.1", "class_weights=balanced")
MODERN += ("ema_decay=0.9", "gradient_clip=1.0")


class CallingWatch(SilentWatch):
    """Calls a function after each step, and remembers what was said."""

    def __init__(self, call=lambda step: None):
        self._call = call
        self.lines = []

    def step(self, step, epoch, values):
        self._call(step)

    def say(self, line):
        self.lines.append(line)


def run_in(folder, store, *words, call=lambda step: None):
    """Train in ``folder``, from where it stopped; its run and how it ended."""
    settings = quick(*words)
    run = RunFolder(folder)
    watch = CallingWatch(call)
    outcome = train(Job(settings, "tiny", store, run), start_fabric(settings), watch)
    return run, outcome, watch


def assert_same_files(ours, theirs):
    for name in FINAL_FILES:
        assert (ours.path / name).read_bytes() == (theirs.path / name).read_bytes(), name


def without_speed(run):
    return [row | {"points_per_second": None} for row in read_history(run.history)]


@pytest.mark.parametrize("words", [(), MODERN], ids=["paper", "modern"])
def test_a_run_that_is_stopped_and_resumed_ends_in_the_same_bytes(words, tmp_path, rooms):
    words = (*words, "steps=5", "validate_every=2", "log_every=2")
    whole, *_ = run_in(tmp_path / "whole", rooms, *words)

    def stop_after(wanted):
        return lambda step: os.kill(os.getpid(), signal.SIGINT) if step == wanted else None

    for stop in (1, 3):
        run, outcome, _ = run_in(tmp_path / "stopped", rooms, *words, call=stop_after(stop))
        assert not outcome.finished
        assert outcome.step == stop  # the step in progress is finished
        assert not run.finished
    run, outcome, _ = run_in(tmp_path / "stopped", rooms, *words)
    assert outcome.finished
    assert_same_files(run, whole)
    assert without_speed(run) == without_speed(whole)


def test_a_kill_between_the_last_two_files_loses_nothing(tmp_path, rooms, monkeypatch, finished):
    """The state of the last step is only there once the weights of the last step are."""
    monkeypatch.setattr(checkpoints, "write_state", _killed_at(2, checkpoints.write_state))
    with pytest.raises(KeyboardInterrupt):
        run_in(tmp_path / "run", rooms)
    monkeypatch.undo()
    run, outcome, _ = run_in(tmp_path / "run", rooms)
    assert outcome.finished
    assert_same_files(run, finished)


def _killed_at(step, write):
    def write_or_die(path, network, optimiser, average, progress):
        if progress.step == step:
            raise KeyboardInterrupt
        write(path, network, optimiser, average, progress)

    return write_or_die


def test_without_validation_scenes_the_last_weights_are_the_best(tmp_path, rooms):
    run, outcome, watch = run_in(tmp_path / "run", rooms, "validation_scenes=0")
    assert outcome.summary["best_step"] is None
    assert run.best.read_bytes() == run.last.read_bytes()
    assert not any("validation OA" in line for line in watch.lines)


def test_another_seed_ends_elsewhere(tmp_path, rooms, finished):
    run, *_ = run_in(tmp_path / "run", rooms, "seed=1")
    assert run.last.read_bytes() != finished.last.read_bytes()


def test_the_loss_falls_on_scenes_that_can_be_learnt(tmp_path, rooms):
    still = ("turn=0", "scale=0", "dropout=0", "learning_rate=0.01", "validation_share=0")
    run, *_ = run_in(tmp_path / "run", rooms, "steps=10", "validate_every=10", *still)
    losses = [float(row["loss"]) for row in read_history(run.history) if row["loss"]]
    assert np.mean(losses[-3:]) < 0.97 * np.mean(losses[:3])


def test_a_loss_that_is_nan_stops_with_the_step_the_scenes_and_the_last_good_checkpoint(tmp_path, rooms, monkeypatch):
    real, calls = loop.loss_and_weight, []

    def spoilt(*arguments):
        calls.append(None)
        total, weight = real(*arguments)
        return (total * float("nan") if len(calls) == 2 else total), weight

    monkeypatch.setattr(loop, "loss_and_weight", spoilt)
    message = r"run: expected a finite loss, found nan at step 1, in the batch of scenes [abcd](, [abcd])?\. "
    with pytest.raises(InputError, match=message + "The last good checkpoint is step 0; try a lower learning_rate"):
        run_in(tmp_path / "run", rooms)
    assert_finite(tmp_path / "run")


@pytest.mark.parametrize("words", [(), ("gradient_clip=1.0",)])
def test_a_gradient_that_is_nan_stops_before_it_reaches_the_weights(words, tmp_path, rooms, monkeypatch):
    monkeypatch.setattr(loop, "loss_and_weight", _with_infinite_slope(loop.loss_and_weight))
    with pytest.raises(InputError, match="a finite gradient, found nan at step 0, in the batch of scenes"):
        run_in(tmp_path / "run", rooms, "checkpoint_seconds=0.001", *words)
    assert_finite(tmp_path / "run")


def _with_infinite_slope(real):
    def spoilt(logits, *arguments):
        total, weight = real(logits, *arguments)
        return total + (logits.sum() * 0).sqrt(), weight  # 0, with the slope 0 · ∞

    return spoilt


def assert_finite(folder):
    tensors, _ = read_tensors(folder / "state.safetensors")
    assert all(torch.isfinite(tensor).all() for tensor in tensors.values())


def test_without_validation_the_last_weights_are_the_best(tmp_path):
    store = write_scenes(tmp_path / "store", {"train": ("a", "b"), "test": ("c",)})
    run, outcome, _ = run_in(tmp_path / "run", store, "validation_share=0")
    assert outcome.summary["best_step"] is None
    assert run.best.read_bytes() == run.last.read_bytes()


def test_a_validation_that_cannot_be_scored_chooses_nothing(tmp_path, rooms, monkeypatch):
    real = validation.evaluate

    def empty(*arguments, **options):
        result = real(*arguments, **options)
        result.confusion[:] = 0
        return result

    monkeypatch.setattr(validation, "evaluate", empty)
    run, outcome, _ = run_in(tmp_path / "run", rooms)
    assert (outcome.summary["best_step"], outcome.summary["best_score"]) == (None, None)
    assert run.best.read_bytes() == run.last.read_bytes()


def test_the_best_weights_are_those_of_the_highest_score(tmp_path, rooms, monkeypatch):
    scores = iter([3, 9, 5])

    def evaluate(*arguments, **options):
        result = real(*arguments, **options)
        result.confusion[:] = 0
        right = next(scores)
        result.confusion[0, 0], result.confusion[0, 1] = right, 10 - right
        return result

    real = validation.evaluate
    monkeypatch.setattr(validation, "evaluate", evaluate)
    _, outcome, watch = run_in(tmp_path / "run", rooms, "steps=6")
    assert (outcome.summary["best_step"], outcome.summary["best_score"]) == (4, 0.9)
    assert [line.endswith("the best so far") for line in watch.lines if "validation" in line] == [True, True, False]


def test_the_mean_of_the_weights_is_what_is_scored_and_kept(tmp_path, rooms, monkeypatch):
    steps = []
    real = WeightAverage.update
    monkeypatch.setattr(WeightAverage, "update", lambda self, step: steps.append(step) or real(self, step))
    run, outcome, _ = run_in(tmp_path / "run", rooms, *MODERN, "steps=3", "validate_every=3")
    assert steps == [1, 2, 3]
    score = score_split(load_trained(str(run.path)), rooms, ignore, torch.device("cpu"), ScoringOptions("val"))
    assert score.scores.miou == outcome.summary["best_score"]
    state, _ = read_tensors(run.state)
    kept, _ = read_tensors(run.last)
    assert all(torch.equal(tensor, state[f"average/{name}"]) for name, tensor in kept.items())
    assert not all(torch.equal(tensor, state[f"network/{name}"]) for name, tensor in kept.items())


def test_every_process_scores_what_the_first_would_keep(monkeypatch):
    """Batch norms that are not synchronised have other statistics in each process: the first one's are shared."""
    own = torch.zeros(2)
    monkeypatch.setattr(torch.distributed, "broadcast", lambda tensor, source: tensor.fill_(7 + source))
    keeper = SimpleNamespace(kept={"running_mean": own})
    shared = validation._kept_by_the_first(SimpleNamespace(world_size=2), keeper)
    assert shared["running_mean"].tolist() == [7, 7]
    assert own.tolist() == [0, 0]
    assert validation._kept_by_the_first(SimpleNamespace(world_size=1), keeper)["running_mean"].tolist() == [0, 0]


def test_history_has_a_line_every_so_many_steps_and_one_for_each_validation(tmp_path, rooms):
    run, *_ = run_in(tmp_path / "run", rooms, "steps=5", "log_every=2", "validate_every=3")
    rows = [(int(row["step"]), row["loss"] != "", row["val_miou"] != "") for row in read_history(run.history)]
    assert rows == [
        (2, True, False),
        (3, False, True),
        (4, True, False),
        (5, True, False),
        (5, False, True),
    ]


def test_shapes_are_learnt_node_by_node_and_chosen_by_overall_accuracy(tmp_path):
    store = write_shapes(tmp_path / "store", points=400)
    words = ("size=modelnet40", "points=384", "classes=3", "features=[]", "dataset=modelnet", "width=1")
    run, outcome, _ = run_in(tmp_path / "run", store, *words)
    assert outcome.finished
    (row,) = [row for row in read_history(run.history) if row["val_oa"]]
    assert float(row["val_oa"]) == outcome.summary["best_score"]


@pytest.mark.parametrize(
    ("model", "variant"),
    [("pointnet", "null"), ("pointnet2_ssg", "null"), ("dgcnn", "null"), ("pointnet2_ssg", "point2node")],
)
def test_other_networks_train_by_the_same_loop(model, variant, tmp_path, rooms):
    words = (f"model={model}", f"variant={variant}", "steps=1", "points=256", "validate_every=9")
    run, outcome, _ = run_in(tmp_path / "run", rooms, *words)
    assert outcome.finished
    tensors, _ = read_tensors(run.last)
    assert any(name.startswith("correlation.") for name in tensors) == (variant == "point2node")


def test_mixed_precision_trains_weights_of_full_precision_on_coordinates_of_full_precision(tmp_path, rooms, finished):
    run, outcome, _ = run_in(tmp_path / "run", rooms, "precision=bf16-mixed", "accelerator=cpu")
    assert outcome.finished
    tensors, _ = read_tensors(run.last)
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float32, torch.int64}
    ours, theirs = (float(read_history(one.history)[0]["loss"]) for one in (run, finished))
    assert ours != theirs
    assert ours == pytest.approx(theirs, rel=0.02)


def test_degrees_become_radians(tmp_path, rooms, monkeypatch):
    real, made = setup.RoomBlocks, []
    monkeypatch.setattr(setup, "RoomBlocks", lambda *arguments: made.append(arguments) or real(*arguments))
    run_in(tmp_path / "run", rooms, "turn=180", "tilt=2.5", "scale=0.05", "steps=1", "validate_every=9")
    augmentation = made[0][4]
    found = (augmentation.turn, augmentation.tilt, augmentation.scale)
    assert found == pytest.approx((math.pi, math.pi / 72, 0.05))


@pytest.fixture
def now(monkeypatch):
    """A clock to set by hand."""
    time = [1000.0]
    monkeypatch.setattr(loop.time, "monotonic", lambda: time[0])
    return time


def test_the_first_checkpoint_comes_early_and_the_others_in_turn(now):
    clock = Clock(quick("checkpoint_seconds=60"))
    assert not clock.checkpoint_is_due
    now[0] += 5
    assert clock.checkpoint_is_due  # within ten seconds
    clock.restart_checkpoint()
    now[0] += 59
    assert not clock.checkpoint_is_due
    now[0] += 1
    assert clock.checkpoint_is_due


def test_checkpoints_may_be_asked_for_more_often(now):
    clock = Clock(quick("checkpoint_seconds=1"))
    now[0] += 1
    assert clock.checkpoint_is_due


def test_waiting_is_counted_from_the_first_batch_on(now):
    clock = Clock(quick())
    now[0] += 30  # the workers start
    clock.wait(30)
    clock.steps = 1
    now[0] += 10
    clock.wait(2)
    assert clock.waiting_share == pytest.approx(0.2)


def test_a_line_says_what_happened_since_the_last(now):
    clock = Clock(quick("batch_size=2", "points=192"))
    clock.steps = 3
    clock.restart_interval()
    now[0] += 2
    clock.steps = 7
    values = clock.values(Progress(0, loss_sum=6, weight_sum=3, right=1, labelled=4), 0.1)
    assert values == {"loss": 2, "accuracy": 0.25, "learning_rate": 0.1, "points_per_second": 4 * 2 * 192 / 2}
    assert clock.overall_speed == 7 * 2 * 192 / 2


def test_nothing_labelled_is_no_division_by_zero(now):
    assert Clock(quick()).values(Progress(0), 0.1)["loss"] == 0
