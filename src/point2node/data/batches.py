"""Training batches: deterministic, resumable, with pyramids built in worker processes.

A batch depends only on (seed, step). So the number of workers changes nothing, and resuming means starting at another
step.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from point2node.core.errors import InputError
from point2node.data.parallel import follow_parent, leaving_main_alone
from point2node.geometry.pyramid import Pyramid, PyramidPlan, build_pyramid, move_tensor

IMPORTED_BY = os.getpid()
"""The process that imported this module; in a forked process, the parent."""


@dataclass(frozen=True)
class Sample:
    """One training cloud as arrays."""

    xyz: NDArray[np.float32]
    """(N, 3) in the frame of its scene."""
    features: NDArray[np.float32] | None
    """(N, width), or None for a network that takes xyz only."""
    labels: NDArray[np.int64] | NDArray[np.float32]
    """(N,), or () for a shape; −1 is neither learnt nor scored. For mixed shapes: shares (classes,)."""
    scene: str
    weight: float = 1.0
    """Factor on the loss."""


class Samples(Dataset[Sample], ABC):
    """Samples for both our ``BatchLoader`` and a plain ``torch.utils.data.DataLoader``.

    When they are indexed, randomness comes from torch's generator: ``torch.manual_seed`` makes it repeatable, and each
    worker of a ``DataLoader`` draws different samples.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def draw(self, number: int, random: np.random.Generator) -> Sample:
        """Sample ``number`` of an epoch; whatever is random about it comes from ``random``."""

    def __getitem__(self, number: int) -> Sample:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self.draw(number, np.random.default_rng(int(torch.randint(2**63 - 1, ()))))


class SampleSource(Protocol):
    """A source of samples: ``len`` samples per epoch, each drawn with a separate generator."""

    def __len__(self) -> int: ...

    def draw(self, number: int, random: np.random.Generator) -> Sample:
        """Sample ``number`` of an epoch; whatever is random about it comes from ``random``."""


@dataclass(frozen=True)
class Batch:
    """B clouds ready for a network."""

    features: Tensor | None
    """(B, N, width)."""
    pyramid: Pyramid
    labels: Tensor
    """(B, N), or (B,) for shapes; shares (B, classes) for mixed shapes."""
    scenes: tuple[str, ...]
    """The origin of each cloud, for messages."""
    weights: Tensor | None = None
    """(B,) factors on the clouds' losses; None if all are 1."""

    def to(self, device: torch.device | str) -> Batch:
        """Move the batch to another device."""
        features = None if self.features is None else move_tensor(self.features, device)
        weights = None if self.weights is None else move_tensor(self.weights, device)
        return Batch(features, self.pyramid.to(device), move_tensor(self.labels, device), self.scenes, weights)


class BatchLoader:
    """Iterates over the batches of a training run endlessly, starting at the current step.

    ``state_dict`` (epoch, step, seed) is all that resuming needs. The state changes when a batch is returned, so
    batches that workers had built ahead are built again after a resume, bit-identically.

    Args:
        source: the samples.
        plan: the geometry that the network needs.
        batch_size: B, over all processes together.
        seed: with the step, determines a batch.
        workers: number of processes that build batches ahead.
        part: (rank, number) of the training processes: each gets an equal share of every batch.
    """

    def __init__(
        self,
        source: SampleSource,
        plan: PyramidPlan,
        *,
        batch_size: int,
        seed: int,
        workers: int = 0,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        if not 1 <= batch_size <= len(source):
            raise InputError(
                "batch_size",
                expected=f"1 to {len(source)}, the number of samples in an epoch",
                found=str(batch_size),
                remedy="Choose a smaller batch_size or use more data.",
            )
        if batch_size % part[1]:
            raise InputError("batch_size", expected=f"a multiple of the {part[1]} processes", found=str(batch_size))
        self._steps = _Steps(source, plan, batch_size, seed, part)
        self._workers = workers
        self.seed = seed
        self.step = 0

    @property
    def steps_per_epoch(self) -> int:
        """Number of whole batches in an epoch; leftover samples are dropped, but each epoch is shuffled differently."""
        return self._steps.per_epoch

    def __iter__(self) -> Iterator[Batch]:
        loader: DataLoader[Batch | InputError] = DataLoader(
            self._steps,
            batch_size=None,
            sampler=_StepsFrom(self.step),
            num_workers=self._workers,
            multiprocessing_context="spawn" if self._workers else None,
            worker_init_fn=_set_up_worker if self._workers else None,
            prefetch_factor=2 if self._workers else None,
        )
        with leaving_main_alone(self._steps) if self._workers else nullcontext():
            batches = iter(loader)  # starts the workers
        for batch in batches:
            if isinstance(batch, InputError):
                raise batch
            self.step += 1
            yield batch

    def state_dict(self) -> dict[str, int]:
        """Return the position of the run."""
        return {"epoch": self.step // self.steps_per_epoch, "step": self.step, "seed": self.seed}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue where a run with the same seed stopped."""
        if state["seed"] != self.seed:
            raise InputError("loader state", expected=f"seed {self.seed}", found=f"seed {state['seed']}")
        self.step = state["step"]


class _StepsFrom:
    """Yields step numbers endlessly, starting at ``first``."""

    def __init__(self, first: int) -> None:
        self._first = first

    def __iter__(self) -> Iterator[int]:
        step = self._first
        while True:
            yield step
            step += 1


class _Steps(Dataset[Batch | InputError]):
    """Maps a step number to its batch, which depends only on the seed and the step.

    An InputError is returned like a batch: if a worker raised it, torch would turn it into a RuntimeError.
    """

    def __init__(
        self, source: SampleSource, plan: PyramidPlan, batch_size: int, seed: int, part: tuple[int, int]
    ) -> None:
        self._source, self._plan, self._batch_size, self._seed, self._part = source, plan, batch_size, seed, part
        self.per_epoch = len(source) // batch_size

    def __getitem__(self, step: int) -> Batch | InputError:
        try:
            return self._make(step)
        except InputError as error:
            return error

    def _make(self, step: int) -> Batch:
        epoch, place = divmod(step, self.per_epoch)
        order = np.random.default_rng([self._seed, epoch]).permutation(len(self._source))
        batch = order[place * self._batch_size : (place + 1) * self._batch_size]
        rank, processes = self._part
        numbers = np.split(batch, processes)[rank].tolist()
        return make_batch(
            [self._source.draw(number, np.random.default_rng([self._seed, epoch, number])) for number in numbers],
            self._plan,
            seed=step,
        )


class Collate:
    """Makes a batch with its pyramid from samples: the ``collate_fn`` of a plain ``DataLoader``.

    Args:
        plan: the geometry that the network needs: ``model.plan``.
    """

    def __init__(self, plan: PyramidPlan) -> None:
        self._plan = plan

    def __call__(self, samples: list[Sample]) -> Batch:
        """Make the batch; raises InputError in a forked process, which a kernel would silently kill."""
        if os.getpid() != IMPORTED_BY:
            raise InputError(
                "DataLoader",
                expected="spawned workers, since the threads of compiled kernels do not survive a fork",
                found="a forked one",
                remedy="Give it multiprocessing_context='spawn'.",
            )
        return make_batch(samples, self._plan, seed=int(torch.randint(2**63 - 1, ())))


def make_batch(samples: list[Sample], plan: PyramidPlan, *, seed: int) -> Batch:
    """Make a batch with its pyramid from samples of the same size."""
    features = [sample.features for sample in samples if sample.features is not None]
    weights = [sample.weight for sample in samples]
    return Batch(
        features=torch.from_numpy(np.stack(features)) if features else None,
        pyramid=build_pyramid(torch.from_numpy(np.stack([sample.xyz for sample in samples])), plan, seed=seed),
        labels=torch.from_numpy(np.stack([sample.labels for sample in samples])),
        scenes=tuple(sample.scene for sample in samples),
        weights=None if set(weights) == {1.0} else torch.tensor(weights),
    )


def _set_up_worker(_: Any) -> None:
    """Limit a worker to one thread, leave Ctrl-C to the parent, and end with the parent.

    (torch's own check of the parent misses one that died before the worker started.)
    """
    torch.set_num_threads(1)
    follow_parent()
