"""Progress on a terminal, and on what is none."""

import io
import sys
import threading
import time

import pytest

from point2node.cli.progress import LiveWatch, PlainWatch, SilentWatch, choose_watch, progress, set_quiet, tell


class Terminal(io.StringIO):
    def isatty(self):
        return True


def bars():
    return [thread for thread in threading.enumerate() if "Refresh" in type(thread).__name__]


def test_a_bar_goes_when_all_is_done_so_that_the_next_may_come(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress("preparing") as report:
        assert not bars()
        report(1, 2, "first")
        (bar,) = bars()
        report(2, 2, "second")
        bar.join(timeout=10)  # its thread ends with its next look at the clock
        assert not bar.is_alive()


def test_elsewhere_each_step_is_a_line(capsys):
    with progress("preparing") as report:
        report(1, 2, "first")
        report(2, 2, "second")
    assert capsys.readouterr().err.splitlines() == ["preparing 1/2 first", "preparing 2/2 second"]


def test_what_is_told_goes_to_stderr_alone(capsys):
    tell(["note: a.h5: missing", "note: b.h5: missing"])
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.splitlines() == ["note: a.h5: missing", "note: b.h5: missing"]


VALUES = {"loss": 1.25, "accuracy": 0.5, "learning_rate": 0.001, "points_per_second": 12_300}


@pytest.fixture
def now(monkeypatch):
    """A clock that stands still until it is set."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    return clock


def test_a_line_says_epoch_step_loss_accuracy_speed_and_the_time_left(now, capsys):
    watch = PlainWatch()
    watch.begin(steps=11, done=0)
    now[0] += 60  # kernels are compiled
    watch.step(1, 0, VALUES)
    now[0] += 10
    watch.step(6, 2, VALUES)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "step 1/11, epoch 0, loss 1.250, accuracy 0.500, 12.3k points/s"
    assert second == "step 6/11, epoch 2, loss 1.250, accuracy 0.500, 12.3k points/s, 0:00:10 left"


def test_lines_come_seconds_apart_and_at_the_end(now, capsys):
    watch = PlainWatch()
    watch.begin(steps=100, done=0)
    for step in range(1, 101):
        now[0] += 1
        watch.step(step, 0, VALUES)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("/")[0] for line in lines] == [f"step {step}" for step in (*range(1, 100, 10), 100)]


def test_a_resumed_training_says_where_it_goes_on(now, capsys):
    watch = PlainWatch()
    watch.begin(steps=100, done=40)
    watch.step(41, 0, VALUES)
    now[0] += 20
    watch.step(43, 0, VALUES)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "resumed at step 40 of 100"
    assert lines[-1].endswith("0:09:30 left")


def test_a_live_bar_shows_the_same_figures_on_stderr(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    watch = LiveWatch()
    watch.say("before the bar")
    watch.begin(steps=10, done=2)
    watch.step(5, 1, VALUES)
    watch.say("above the bar")
    watch.end()
    written = capsys.readouterr()
    assert written.out == ""
    for words in ("before the bar", "above the bar", "5/10", "epoch 1, loss 1.250, accuracy 0.500, 12.3k points/s"):
        assert words in written.err


def test_a_training_that_never_began_has_no_bar_to_end():
    LiveWatch().end()


def test_terminals_see_a_bar_others_lines_and_further_processes_nothing(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(choose_watch(first_process=True), LiveWatch)
    assert isinstance(choose_watch(first_process=False), SilentWatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(choose_watch(first_process=True), PlainWatch)


def test_quiet_keeps_progress_and_notes_to_itself_but_not_errors(capsys):
    set_quiet(True)
    try:
        with progress("preparing") as report:
            report(1, 2, "first")
        tell(["note: no colour", "point2node: broken.ply: expected a file, found none"])
        assert isinstance(choose_watch(first_process=True), SilentWatch)
    finally:
        set_quiet(False)
    assert capsys.readouterr().err == "point2node: broken.ply: expected a file, found none\n"
