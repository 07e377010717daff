"""Ctrl-C and the scheduler's SIGTERM, noted instead of obeyed at once: the step in progress is finished first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Whether somebody asked to stop; asking twice stops at once."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def note(self, number: int, frame: FrameType | None) -> None:
        """A signal handler."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def noted_interruptions() -> Iterator[Interruption]:
    """Inside, SIGINT and SIGTERM are only noted; outside the main thread, where Python allows no handlers, not even
    that.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    before = {number: signal.signal(number, interruption.note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
