"""The training loop, from the data to the last checkpoint, in the order in which things happen.

A step is a function of the weights, the optimiser's moments, the seed and the step number: batches and dropout are
drawn from (seed, step). So a run that is stopped anywhere and resumed gives the same bits as an uninterrupted one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from point2node.core.errors import InputError
from point2node.core.memory import own_peak_megabytes
from point2node.core.writing import alone_in
from point2node.data.batches import Batch
from point2node.data.store import Store
from point2node.models.layers import count_parameters
from point2node.training.checkpoints import Keeper, Progress, read_state
from point2node.training.fabric import Fabric
from point2node.training.history import History
from point2node.training.interruption import Interruption, noted_interruptions
from point2node.training.recipe import (
    learning_rate,
    likeliest_labels,
    loss_and_weight,
    recording_entropies,
    set_rate,
)
from point2node.training.setup import Job, SetUp, set_up
from point2node.training.validation import chosen_score, is_better, validate
from point2node.weights.run_folder import RunFolder, RunSizes, describe_run
from point2node.weights.settings import Settings

FINAL_FILES = ("last.safetensors", "best.safetensors", "state.safetensors")
"""The files that are identical to the byte in two runs with the same seed."""


class Watch(Protocol):
    """An observer of a training: a terminal or a log."""

    def begin(self, steps: int, done: int) -> None:
        """Report that training starts, with ``done`` of ``steps`` steps already taken."""

    def step(self, step: int, epoch: int, values: dict[str, float]) -> None:
        """Report a step; loss, accuracy and points a second are means since the last line of the history."""

    def say(self, line: str) -> None:
        """Report an event in one line."""

    def end(self) -> None:
        """Report that no further step is taken."""


@dataclass(frozen=True)
class Outcome:
    """How a training ended."""

    finished: bool
    step: int
    summary: dict[str, Any]


def train(job: Job, fabric: Fabric, watch: Watch) -> Outcome:
    """Train the run of ``job``, from its last checkpoint if it has one.

    Args:
        job: settings, data and folder.
        fabric: device, processes and precision.
        watch: the observer to report to.
    """
    settings, store, run = job.settings, job.store, job.run
    work = set_up(job, fabric, watch.say)
    card, network, optimiser, steps = work.card, work.network, work.optimiser, work.steps
    with ExitStack() as stack:
        if fabric.is_global_zero:
            stack.enter_context(alone_in(run.path, wait=False, command="train"))
            run.remove_leftovers()
        keeper = Keeper(run, network, optimiser, work.average, card, writes=fabric.is_global_zero)
        progress = _find_progress(job, work, keeper, watch)
        fabric.barrier()
        work.loader.load_state_dict({"epoch": progress.epoch, "step": progress.step, "seed": progress.seed})
        history = History(run.history, run.tensorboard, progress.step) if fabric.is_global_zero else None

        work.model.train()
        interruption = stack.enter_context(noted_interruptions())
        stack.callback(watch.end)
        if history is not None:
            stack.callback(history.close)
        watch.begin(steps, progress.step)
        clock = Clock(settings)
        batches = _timed(iter(work.loader), clock)
        while progress.step < steps:
            batch = next(batches).to(fabric.device)
            _seed_dropout(settings.seed, progress.step, fabric.global_rank)
            rate = learning_rate(settings, progress.step, steps)
            set_rate(optimiser, settings, rate, progress.step)

            logged = (progress.step + 1) % settings.log_every == 0 or progress.step + 1 == steps
            with recording_entropies(network if logged else None) as entropies:
                logits = work.model(batch.features, batch.pyramid)
            total, weight = loss_and_weight(
                logits, batch.labels, work.loss_weights, settings.label_smoothing, batch.weights
            )
            sums = sum_over_processes(fabric, logits, batch.labels, total, weight, interruption)
            at_fault = batch.scenes if not torch.isfinite(total) else ("of another process",)
            _refuse_nan("loss", sums.loss, at_fault, progress.step, keeper)
            loss = total / (sums.weight / fabric.world_size).clamp_min(1e-12)  # processes' gradients are averaged
            penalty = network.penalty()
            fabric.backward(loss if penalty is None else loss + penalty)
            clip = settings.gradient_clip or math.inf
            norm = fabric.clip_gradients(work.model, optimiser, max_norm=clip, error_if_nonfinite=False)
            assert norm is not None
            if settings.precision != "16-mixed":  # which skips steps whose gradient overflows
                _refuse_nan("gradient", norm, batch.scenes, progress.step, keeper)
            optimiser.step()
            optimiser.zero_grad()

            progress.step += 1
            progress.epoch = progress.step // work.loader.steps_per_epoch
            if work.average is not None:
                work.average.update(progress.step)
            sums.add_to(progress)
            clock.steps += 1
            values = clock.values(progress, rate)
            watch.step(progress.step, progress.epoch, values)
            if logged:
                if history is not None:
                    history.add(progress.step, {"epoch": progress.epoch, **values, **entropies})
                progress.clear_sums()
                clock.restart_interval()

            if len(work.validation) and (progress.step % settings.validate_every == 0 or progress.step == steps):
                with clock.leaving_out():
                    scores = validate(network, card, store, work.validation, keeper, fabric)
                better = is_better(card, scores, progress.best_score)
                if better:
                    progress.best_score, progress.best_step = chosen_score(card, scores), progress.step
                    keeper.write_best(progress)
                if history is not None:
                    figures = {"val_oa": scores.oa, "val_macc": scores.macc, "val_miou": scores.miou}
                    history.add(progress.step, {"epoch": progress.epoch, **figures})
                watch.say(f"step {progress.step}: validation {scores}" + (", the best so far" if better else ""))
            # several processes stop together, at the next step; a single one stops in the step of the signal
            stopping = bool(sums.stop) or (fabric.world_size == 1 and interruption.signal is not None)
            if stopping or progress.step == steps or clock.checkpoint_is_due:
                keeper.checkpoint(progress)
                clock.restart_checkpoint()
            if stopping:
                break
    finished = progress.step == steps
    summary = _summarise(progress, steps, clock)
    if finished and fabric.is_global_zero:
        if progress.best_step is None:  # there was no validation to choose the best weights by
            keeper.write_best(progress)
        run.write_json(run.summary, summary)
    fabric.barrier()
    return Outcome(finished, progress.step, summary)


def _find_progress(job: Job, work: SetUp, keeper: Keeper, watch: Watch) -> Progress:
    """Return the progress of the run, read from its state; for a new run, create its folder."""
    settings, store, run = job.settings, job.store, job.run
    if run.state.is_file():
        _refuse_other_data(run, store, watch)
        progress = read_state(run.state, work.network, work.optimiser, work.average)
        keeper.saved_step = progress.step
        return progress
    progress = Progress(seed=settings.seed)
    if keeper.writes:
        sizes = RunSizes(len(work.training), len(work.validation), count_parameters(work.network), work.steps)
        run.create(settings, describe_run(settings, job.preset, store, job.data, sizes))
        keeper.checkpoint(progress)
    return progress


def _summarise(progress: Progress, steps: int, clock: Clock) -> dict[str, Any]:
    return {
        "steps": steps,
        "best_step": progress.best_step,
        "best_score": progress.best_score,
        "seconds": round(clock.elapsed, 1),
        "resumed_at": progress.step - clock.steps,
        "waited_for_data": round(clock.waiting_share, 4),
        "points_per_second": round(clock.overall_speed),
        "peak_megabytes": own_peak_megabytes(),
    }


def _refuse_other_data(run: RunFolder, store: Store, watch: Watch) -> None:
    """Raise InputError if the data is not that of the run.

    Generated rooms are generated again on another machine, and some bits may differ; this is only reported.
    """
    card = run.read_card()
    expected = card.data_checksum
    if store.checksum == expected:
        return
    if card.data is None:
        watch.say(
            "these rooms were generated on another kind of machine: some bits differ from those the run started with"
        )
    else:
        raise InputError(
            store.path,
            expected=f"the data that {run.path} was started with ({expected[:12]})",
            found=f"other data ({store.checksum[:12]})",
            remedy="Give that data, or start a new run with another --out.",
        )


def _seed_dropout(seed: int, step: int, rank: int) -> None:
    torch.manual_seed(int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0] >> 1))


def _timed(batches: Iterator[Batch], clock: Clock) -> Iterator[Batch]:
    while True:
        before = time.monotonic()
        batch = next(batches)
        clock.wait(time.monotonic() - before)
        yield batch


def _refuse_nan(what: str, value: Tensor, scenes: tuple[str, ...], step: int, keeper: Keeper) -> None:
    """Raise InputError for a value that is not finite, before the weights change: the last checkpoint is good."""
    if torch.isfinite(value):
        return
    saved = f"step {keeper.saved_step}" if keeper.writes else f"in {keeper.run.state.name}"
    raise InputError(
        keeper.run.path,
        expected=f"a finite {what}",
        found=f"{float(value)} at step {step}, in the batch of scenes {', '.join(dict.fromkeys(scenes))}",
        remedy=f"The last good checkpoint is {saved}; try a lower learning_rate or a gradient_clip.",
    )


@dataclass(frozen=True)
class StepSums:
    """Sums over all processes in one step: the loss, its weight, correct and labelled points, and stop requests."""

    loss: Tensor
    weight: Tensor
    right: Tensor
    labelled: Tensor
    stop: Tensor

    def add_to(self, progress: Progress) -> None:
        """Add the sums to those of the next line of the history."""
        progress.loss_sum += float(self.loss)
        progress.weight_sum += float(self.weight)
        progress.right += float(self.right)
        progress.labelled += float(self.labelled)


def sum_over_processes(
    fabric: Fabric, logits: Tensor, labels: Tensor, total: Tensor, weight: Tensor, interruption: Interruption
) -> StepSums:
    """Return the sums of this step, the same in every process, so that all processes stop together."""
    with torch.no_grad():
        labels = likeliest_labels(logits, labels)
        right = (logits.argmax(dim=-1) == labels).sum()
        stop = labels.new_tensor(interruption.signal is not None)
        own = torch.stack([value.double() for value in (total, weight, right, (labels >= 0).sum(), stop)])
        everywhere = fabric.all_reduce(own, reduce_op="sum")
    assert isinstance(everywhere, Tensor)
    return StepSums(*everywhere)


FIRST_CHECKPOINT_SECONDS = 5.0


class Clock:
    """A clock that starts on creation; ``steps`` counts the steps since then."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._start = self._interval = self._first = time.monotonic()
        self._saved = self._start + min(FIRST_CHECKPOINT_SECONDS - settings.checkpoint_seconds, 0)
        self._interval_steps = self.steps = 0
        self._waited = self._left_out = 0.0

    def wait(self, seconds: float) -> None:
        """Note a wait for data; the wait for the first batch counts as the start of the workers."""
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
        """The share of the training time, from the first batch on, spent waiting for data."""
        return self._waited / max(time.monotonic() - self._first - self._left_out, 1e-9)

    @property
    def overall_speed(self) -> float:
        """Points a second over the whole time."""
        return self._points(self.steps) / max(self.elapsed, 1e-9)

    @property
    def checkpoint_is_due(self) -> bool:
        """Whether it is time for a checkpoint; the first comes early."""
        return time.monotonic() - self._saved >= self._settings.checkpoint_seconds

    def restart_checkpoint(self) -> None:
        """Count the time to the next checkpoint from now."""
        self._saved = time.monotonic()

    def restart_interval(self) -> None:
        """Start a new interval for measuring the speed."""
        self._interval, self._interval_steps = time.monotonic(), self.steps

    @contextmanager
    def leaving_out(self) -> Iterator[None]:
        """Leave the time spent inside the context, such as a validation, out of the training time."""
        before = time.monotonic()
        yield
        self._left_out += time.monotonic() - before
        self.restart_interval()

    def values(self, progress: Progress, rate: float) -> dict[str, float]:
        """Return the values of a line of the history, for the steps since the last line."""
        seconds = max(time.monotonic() - self._interval, 1e-9)
        return {
            "loss": progress.loss_sum / max(progress.weight_sum, 1e-12),
            "accuracy": progress.right / max(progress.labelled, 1),
            "learning_rate": rate,
            "points_per_second": round(self._points(self.steps - self._interval_steps) / seconds),
        }

    def _points(self, steps: int) -> int:
        return steps * self._settings.batch_size * self._settings.points
