"""Time in a training: how fast it is, how long it waits for data, and when a checkpoint is due."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from point2node.training.checkpoints import Progress
from point2node.weights.settings import Settings

FIRST_CHECKPOINT_SECONDS = 5.0


class Clock:
    """Starts when it is made; ``steps`` counts those of this sitting."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._start = self._interval = self._first = time.monotonic()
        self._saved = self._start + min(FIRST_CHECKPOINT_SECONDS - settings.checkpoint_seconds, 0)
        self._interval_steps = self.steps = 0
        self._waited = self._left_out = 0.0

    def wait(self, seconds: float) -> None:
        """Note a wait for data; that for the first batch is the start of the workers."""
        if self.steps:
            self._waited += seconds
        else:
            self._first = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    @property
    def waiting_share(self) -> float:
        """The share of the training time, from the first batch on, in which the network had no data."""
        return self._waited / max(time.monotonic() - self._first - self._left_out, 1e-9)

    @property
    def overall_speed(self) -> float:
        """Points a second, everything included."""
        return self._points(self.steps) / max(self.elapsed, 1e-9)

    @property
    def checkpoint_is_due(self) -> bool:
        """Whether the last checkpoint is old; the first comes early."""
        return time.monotonic() - self._saved >= self._settings.checkpoint_seconds

    def restart_checkpoint(self) -> None:
        """A checkpoint was written."""
        self._saved = time.monotonic()

    def restart_interval(self) -> None:
        """Measure the speed anew."""
        self._interval, self._interval_steps = time.monotonic(), self.steps

    @contextmanager
    def leaving_out(self) -> Iterator[None]:
        """What happens inside, a validation say, is no training time."""
        before = time.monotonic()
        yield
        self._left_out += time.monotonic() - before
        self.restart_interval()

    def values(self, progress: Progress, rate: float) -> dict[str, float]:
        """What a line of the history says of the steps since the last one."""
        seconds = max(time.monotonic() - self._interval, 1e-9)
        return {
            "loss": progress.loss_sum / max(progress.weight_sum, 1e-12),
            "accuracy": progress.right / max(progress.labelled, 1),
            "learning_rate": rate,
            "points_per_second": round(self._points(self.steps - self._interval_steps) / seconds),
        }

    def _points(self, steps: int) -> int:
        return steps * self._settings.batch_size * self._settings.points
