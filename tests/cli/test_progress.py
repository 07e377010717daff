"""Progress on a terminal, and on what is none."""

import io
import sys
import threading

from point2node.cli.progress import progress, tell


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
