"""The state of a training in one file: everything needed to resume it with bit-identical results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from point2node.core.errors import InputError
from point2node.models.weights_file import check_tensors, load_tensors, read_tensors, write_tensors
from point2node.weights.cards import WeightsCard, write_weights
from point2node.weights.run_folder import RunFolder


@dataclass
class Progress:
    """How far a training is. Batches and dropout are functions of (seed, step), so they need no saved state."""

    seed: int
    epoch: int = 0
    step: int = 0
    best_score: float | None = None
    best_step: int | None = None
    loss_sum: float = 0.0
    weight_sum: float = 0.0
    right: float = 0.0
    labelled: float = 0.0
    """These four sums cover the steps since the last line of the history."""

    def clear_sums(self) -> None:
        """Reset the sums for the next line of the history."""
        self.loss_sum = self.weight_sum = self.right = self.labelled = 0.0


def write_state(
    path: Path,
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    average: WeightAverage | None,
    progress: Progress,
) -> None:
    """Write weights, the optimiser's moments, the average of the weights and the progress in one atomic step."""
    tensors = {f"network/{name}": tensor for name, tensor in network.state_dict().items()}
    for number, values in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser/{number}/{name}": torch.as_tensor(value) for name, value in values.items()}
    if average is not None:
        tensors |= {f"average/{name}": tensor for name, tensor in average.tensors.items()}
    write_tensors(path, tensors, json.dumps(asdict(progress), sort_keys=True))


def read_state(
    path: Path, network: nn.Module, optimiser: torch.optim.Optimizer, average: WeightAverage | None
) -> Progress:
    """Restore a saved state, which must be of the same network and recipe."""
    tensors, note = read_tensors(path)
    progress = _read_progress(path, note)
    load_tensors(path, network, _under("network/", tensors))
    moments = _moments(path, optimiser, _under("optimiser/", tensors))
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    saved = _under("average/", tensors)
    if (average is None) != (not saved):
        raise InputError(path, expected="a state of these settings (ema_decay)", found="one of other settings")
    if average is not None:
        check_tensors(path, average.tensors, saved)
        average.load(saved)
    return progress


def _moments(path: Path, optimiser: torch.optim.Optimizer, saved: dict[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    """Return the optimiser's moments by parameter number. Raises InputError if their shapes do not fit."""
    shapes = [parameter.shape for group in optimiser.param_groups for parameter in group["params"]]
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in saved.items():
        number, _, key = name.partition("/")
        known = number.isdigit() and int(number) < len(shapes)
        if not known or tensor.shape != (shapes[int(number)] if key != "step" else ()):
            found = f"{name!r} of shape {tuple(tensor.shape)}"
            raise InputError(path, expected="the moments of this network's weights", found=found)
        moments.setdefault(int(number), {})[key] = tensor
    return moments


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _read_progress(path: Path, note: Any) -> Progress:
    names = {field.name for field in fields(Progress)}
    if not isinstance(note, dict) or set(note) != names:
        raise InputError(path, expected="the state of a training", found="another file of ours or a damaged one")
    return Progress(**note)


class Keeper:
    """Keeper of the weights and the state on disk; only one of several processes ``writes``."""

    def __init__(
        self,
        run: RunFolder,
        network: nn.Module,
        optimiser: torch.optim.Optimizer,
        average: WeightAverage | None,
        card: WeightsCard,
        *,
        writes: bool = True,
    ) -> None:
        self.run, self.average, self.writes = run, average, writes
        self.saved_step: int | None = None
        self._network, self._optimiser, self._card = network, optimiser, card

    @property
    def kept(self) -> dict[str, Tensor]:
        """The weights that are scored and written: the average over the steps, if there is one."""
        return self.average.tensors if self.average else self._network.state_dict()

    def checkpoint(self, progress: Progress) -> None:
        """Write the weights, then the state. Training resumes from the state, so its weights always exist.

        A full disk leaves the previous state intact.
        """
        if not self.writes:
            return
        with self._naming_the_last_checkpoint():
            write_weights(self.run.last, self.kept, self._card_at(progress))
            write_state(self.run.state, self._network, self._optimiser, self.average, progress)
            self.saved_step = progress.step

    def write_best(self, progress: Progress) -> None:
        """Write the current weights as the best ones."""
        if self.writes:
            with self._naming_the_last_checkpoint():
                write_weights(self.run.best, self.kept, self._card_at(progress))

    def _card_at(self, progress: Progress) -> WeightsCard:
        return self._card.model_copy(update={"step": progress.step})

    @contextmanager
    def _naming_the_last_checkpoint(self) -> Iterator[None]:
        try:
            yield
        except InputError as error:
            kept = "" if self.saved_step is None else f"The checkpoint of step {self.saved_step} is intact. "
            remedy = f"{kept}Free some disk space, then use --resume {self.run.path}."
            raise InputError(error.where, expected=error.expected, found=error.found, remedy=remedy) from error


class WeightAverage:
    """Moving average of parameters and running statistics: m ← m + (1 − d)·(w − m) at step s.

    d is min(decay, (1 + s) / (10 + s)), so that the first steps are soon forgotten.
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self._network, self._decay = network, decay
        self.tensors = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Add the network's weights after ``step`` steps."""
        weight = 1 - min(self._decay, (1 + step) / (10 + step))
        for name, tensor in self._network.state_dict().items():
            if tensor.is_floating_point():
                self.tensors[name].lerp_(tensor, weight)
            else:
                self.tensors[name].copy_(tensor)

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Continue from a saved average."""
        for name, tensor in tensors.items():
            self.tensors[name].copy_(tensor)


@contextmanager
def applied(network: nn.Module, tensors: dict[str, Tensor]) -> Iterator[None]:
    """Give the network these weights inside the context, and its own again afterwards."""
    own = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
    network.load_state_dict(tensors)
    try:
        yield
    finally:
        network.load_state_dict(own)
