"""Ctrl-C and the scheduler's SIGTERM are noted instead of obeyed at once: the current step is finished first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Whether a stop was requested; a second request stops at once."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def noted_interruptions() -> Iterator[Interruption]:
    """Only note SIGINT and SIGTERM inside the context.

    Outside the main thread nothing is noted, because Python allows no handlers there.
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
