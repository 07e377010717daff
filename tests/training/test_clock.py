import pytest

from point2node.training import clock as module
from point2node.training.checkpoints import Progress
from point2node.training.clock import Clock
from tests.training.stores import quick


@pytest.fixture
def now(monkeypatch):
    """A clock to set by hand."""
    time = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: time[0])
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
