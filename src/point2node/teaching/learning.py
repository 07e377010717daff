"""Learning from few labels: the last layers of a network are fitted to corrected points, and the rest stays put.

Two losses are added. Corrected points are to get their class (cross entropy; each class counts by the square root of
its points, so that one wall does not outweigh five chairs). Everywhere else the network is to say what it said before
(Kullback-Leibler divergence from the probabilities of the weights that it starts from), the more so the surer it was: a
point counts by the square of its highest probability. So what was right does not drift, and doubtful points may change.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.inference.labeller import SceneLabeller
from point2node.models.network import Network
from point2node.teaching.corrections import Corrections
from point2node.teaching.observing import Observed, tail_of
from point2node.weights.cards import WeightsCard

Report = Callable[[float], None]
"""Told the share that is done, from 0 to 1; may raise to stop."""


@dataclass(frozen=True)
class Recipe:
    """How the last layers learn."""

    steps: int = 120
    learning_rate: float = 0.002
    seed: int = 0
    rows: int = 2048
    """Points in a step: as many corrected ones, and twice as many others."""
    consistency: float = 1.0
    """Factor on the divergence from what the network said before."""

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("learning_rate", 1e-9), ("rows", 1), ("consistency", 0.0)):
            value = getattr(self, name)
            if not value >= least:
                raise InputError(f"setting {name!r}", expected=f"{least:g} or more", found=str(value))


@dataclass(frozen=True, eq=False)
class Taught:
    """A network that has learnt, and how that went."""

    network: Network
    card: WeightsCard
    history: tuple[dict[str, Any], ...]
    seconds: float


def joined_classes(
    classes: Sequence[SemanticClass], all_corrections: Sequence[Corrections]
) -> tuple[SemanticClass, ...]:
    """The classes of the weights, then those own ones that some correction uses."""
    used = {one.name for corrections in all_corrections for one in corrections.done}
    grown = Corrections("", 0, tuple(classes))
    for corrections in all_corrections:
        for name in corrections.class_names:
            if name in used and name not in grown.class_names:
                grown = grown.add_class(name)
    return grown.classes


def targets_of(observed: Observed, corrections: Corrections, classes: Sequence[SemanticClass]) -> Tensor:
    """(M,): the place in ``classes`` that each observed row was corrected to; −1 for none."""
    names = [one.name for one in classes]
    place = np.array([names.index(name) if name in names else -1 for name in corrections.class_names] + [-1])
    return torch.from_numpy(observed.spread(place[corrections.places()]))


def extend_logits(logits: nn.Linear, classes: int) -> nn.Linear:
    """The same layer with further classes, which start as unlikely as the least likely one."""
    more = classes - logits.out_features
    grown = nn.Linear(logits.in_features, classes)
    with torch.no_grad():
        grown.weight.copy_(F.pad(logits.weight, (0, 0, 0, more)))
        lowest = float(logits.bias.min()) - 1.0
        grown.bias.copy_(F.pad(logits.bias, (0, more), value=lowest))
    return grown


def teach(
    labeller: SceneLabeller,
    lessons: Sequence[tuple[Observed, Corrections]],
    recipe: Recipe | None = None,
    report: Report = lambda share: None,
) -> Taught:
    """Fit the last layers of ``labeller`` to the corrections of observed scans. The labeller itself stays as it is.

    The same lessons and recipe give the same weights.
    """
    recipe = recipe or Recipe()
    started = time.monotonic()
    classes = joined_classes(labeller.classes, [corrections for _, corrections in lessons])
    inputs = torch.cat([observed.inputs for observed, _ in lessons])
    targets = torch.cat([targets_of(observed, corrections, classes) for observed, corrections in lessons])
    corrected = torch.nonzero(targets >= 0)[:, 0]
    if not len(corrected):
        raise InputError("corrections", expected="at least one corrected point", found="none")
    before = copy.deepcopy(tail_of(labeller.network)).cpu().eval()
    with torch.no_grad():
        said = before(inputs).softmax(dim=-1)
    others = torch.nonzero(targets < 0)[:, 0]
    said = F.pad(said, (0, len(classes) - said.shape[1]))  # what is new was never said
    tail = copy.deepcopy(before)
    tail[-1] = extend_logits(_last(tail), len(classes))
    with _one_thread():
        history = _fit(tail, inputs, (targets, corrected), (said, others), recipe, report)
    network, card = _put_back(labeller, tail, classes, recipe.steps)
    return Taught(network, card, tuple(history), time.monotonic() - started)


@contextmanager
def _one_thread() -> Iterator[None]:
    """The steps are small: threads would wait for each other longer than they work, most of all on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _fit(
    tail: nn.Sequential,
    inputs: Tensor,
    learnt: tuple[Tensor, Tensor],
    kept: tuple[Tensor, Tensor],
    recipe: Recipe,
    report: Report,
) -> list[dict[str, Any]]:
    (targets, corrected), (said, others) = learnt, kept
    generator = torch.Generator().manual_seed(recipe.seed)
    counts = torch.bincount(targets[corrected], minlength=_last(tail).out_features)
    weights = counts.clamp_min(1).float().rsqrt()
    optimiser = torch.optim.AdamW(tail.parameters(), lr=recipe.learning_rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, recipe.steps)
    tail.eval()  # batch norms keep the statistics of training: a few corrected points have none worth having
    history: list[dict[str, Any]] = []
    for step in range(1, recipe.steps + 1):
        rows = _draw(corrected, recipe.rows, generator)
        loss = F.cross_entropy(tail(inputs[rows]), targets[rows], weight=weights)
        values = {"loss": loss.item()}
        if len(others) and recipe.consistency:
            rest = _draw(others, 2 * recipe.rows, generator)
            change = F.kl_div(tail(inputs[rest]).log_softmax(dim=-1), said[rest], reduction="none").sum(dim=-1)
            drift = (said[rest].amax(dim=-1).square() * change).mean()
            loss = loss + recipe.consistency * drift
            values["drift"] = drift.item()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        history.append({"step": step, **values})
        report(step / recipe.steps)
    return history


def _draw(rows: Tensor, count: int, generator: torch.Generator) -> Tensor:
    if len(rows) <= count:
        return rows
    return rows[torch.randint(len(rows), (count,), generator=generator)]


def _last(tail: nn.Sequential) -> nn.Linear:
    last = tail[-1]
    assert isinstance(last, nn.Linear)
    return last


def _put_back(
    labeller: SceneLabeller, tail: nn.Sequential, classes: Sequence[SemanticClass], steps: int
) -> tuple[Network, WeightsCard]:
    """The whole network with other last layers, and its card."""
    old = labeller.trained.card
    card = old.model_copy(update={"classes": tuple(classes), "step": old.step + steps})
    network = card.build().eval()
    own = tail_of(network)
    kept = {key: tensor for key, tensor in labeller.network.state_dict().items() if not key.startswith("head.logits.")}
    network.load_state_dict(kept, strict=False)
    own.load_state_dict(tail.state_dict())
    return network, card
