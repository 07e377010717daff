"""Learning from few labels: the last layers of a network are fitted to corrected points; the other layers are kept.

The loss is a sum of two terms. The first is the cross entropy of the corrected points. A click is weighted by the
square root of its number of points, so that one wall does not outweigh five chairs. The second keeps the network's
other predictions: it is the Kullback-Leibler divergence from the probabilities of the original weights. There, a point
is weighted by the square of its highest probability, so confident predictions count more, and by the inverse square
root of the number of points with the same label, so rare classes count as much as walls.

A few clicks can mislead, so the new weights are tested before they are used. Every click is left out once, and weights
that were fitted to the others are tested on it. Five mixtures of the old and the new weights are compared by the
left-out clicks and by the original probabilities of the labels that would change, and the best one is kept. If this is
the old weights, nothing was learnt, and ``Taught.share`` is 0.
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
"""Called with the share that is done, from 0 to 1; may raise to stop."""


@dataclass(frozen=True)
class Recipe:
    """How the last layers learn."""

    steps: int = 120
    learning_rate: float = 0.002
    seed: int = 0
    rows: int = 1024
    """Corrected points in a step; twice as many other points are added."""
    consistency: float = 1.0
    """Factor on the divergence from the original predictions."""
    folds: int = 3
    """Parts into which the clicks are divided; each is left out once to test the new weights. 0 skips the test."""

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("learning_rate", 1e-9), ("rows", 1), ("consistency", 0.0), ("folds", 0)):
            value = getattr(self, name)
            if not value >= least:
                raise InputError(f"setting {name!r}", expected=f"{least:g} or more", found=str(value))


@dataclass(frozen=True, eq=False)
class Taught:
    """A network after learning, with the history of the fit."""

    network: Network
    card: WeightsCard
    history: tuple[dict[str, Any], ...]
    seconds: float
    share: float = 1.0
    """The share of the new weights in the mixture, from 0 (the old weights) to 1 (the fitted ones)."""


def joined_classes(
    classes: Sequence[SemanticClass], all_corrections: Sequence[Corrections]
) -> tuple[SemanticClass, ...]:
    """Return the classes of the weights, followed by the user-defined classes that some correction uses."""
    used = {one.name for corrections in all_corrections for one in corrections.done}
    grown = Corrections("", 0, tuple(classes))
    for corrections in all_corrections:
        for name in corrections.class_names:
            if name in used and name not in grown.class_names:
                grown = grown.add_class(name)
    return grown.classes


def targets_of(observed: Observed, corrections: Corrections, classes: Sequence[SemanticClass]) -> Tensor:
    """Return the index in ``classes`` that each observed row was corrected to (M,); −1 for none."""
    names = [one.name for one in classes]
    index = np.array([names.index(name) if name in names else -1 for name in corrections.class_names] + [-1])
    return torch.from_numpy(observed.spread(index[corrections.class_indices()]))


def extend_logits(logits: nn.Linear, classes: int) -> nn.Linear:
    """Return the layer with additional classes, whose bias starts below the lowest existing one."""
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
    """Fit the last layers of ``labeller`` to the corrections of observed scans; the labeller itself is not changed.

    The same lessons and recipe always give the same weights.
    """
    recipe = recipe or Recipe()
    started = time.monotonic()
    classes = joined_classes(labeller.classes, [corrections for _, corrections in lessons])
    lesson = _join(lessons, classes)
    if not len(lesson.corrected):
        raise InputError("corrections", expected="at least one corrected point", found="none")
    before = copy.deepcopy(tail_of(labeller.network)).cpu().eval()
    before[-1] = extend_logits(_last(before), len(classes))
    with torch.no_grad():
        said = before(lesson.inputs).softmax(dim=-1)
    parts = _folds(lesson, recipe.folds)
    rounds = len(parts) + 1

    def fit(rows: Tensor, done: int) -> tuple[nn.Sequential, list[dict[str, Any]]]:
        tail = copy.deepcopy(before)
        return tail, _fit(tail, lesson, rows, said, recipe, lambda share: report((done + share) / rounds))

    with _one_thread():
        judged = [(fit(kept, number)[0], left_out) for number, (kept, left_out) in enumerate(parts)]
        tail, history = fit(lesson.corrected, len(parts))
        share = _best_share(before, tail, judged, lesson, said, len(labeller.classes)) if judged else 1.0
    network, card = _put_back(labeller, mix(before, tail, share), classes, recipe.steps)
    return Taught(network, card, tuple(history), time.monotonic() - started, share)


@dataclass(frozen=True, eq=False)
class _Lesson:
    """All observed rows of all scans, and their corrections."""

    inputs: Tensor
    """(M, C)."""
    targets: Tensor
    """(M,) the index of the class that each row was corrected to; −1 for none."""
    clicks: Tensor
    """(M,) the number of the correction that each row belongs to; −1 for none."""

    @property
    def corrected(self) -> Tensor:
        return torch.nonzero(self.targets >= 0)[:, 0]

    @property
    def others(self) -> Tensor:
        return torch.nonzero(self.targets < 0)[:, 0]


def _join(lessons: Sequence[tuple[Observed, Corrections]], classes: Sequence[SemanticClass]) -> _Lesson:
    clicks, first = [], 0
    for observed, corrections in lessons:
        numbers = torch.from_numpy(observed.spread(corrections.latest()))
        clicks.append(torch.where(numbers < 0, numbers, numbers + first))
        first += len(corrections.done)
    targets = torch.cat([targets_of(observed, corrections, classes) for observed, corrections in lessons])
    return _Lesson(torch.cat([observed.inputs for observed, _ in lessons]), targets, torch.cat(clicks))


def _folds(lesson: _Lesson, folds: int) -> list[tuple[Tensor, Tensor]]:
    """Return, for each part of the clicks, the corrected rows of the other parts and those of the part left out."""
    corrected = lesson.corrected
    _, number = torch.unique(lesson.clicks[corrected], return_inverse=True)
    clicks = int(number.max()) + 1
    parts = min(folds, clicks)
    if parts < 2:
        return []
    return [(corrected[number % parts != part], corrected[number % parts == part]) for part in range(parts)]


def mix(before: nn.Sequential, after: nn.Sequential, share: float) -> nn.Sequential:
    """Return layers whose weights are interpolated between ``before`` (share 0) and ``after`` (share 1)."""
    mixed = copy.deepcopy(after)
    old = before.state_dict()
    mixed.load_state_dict(
        {
            key: torch.lerp(old[key], new, share) if new.is_floating_point() else new
            for key, new in after.state_dict().items()
        }
    )
    return mixed.eval()


SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
PRIOR = 20
"""Weight, in clicks, of the original probabilities of labels that would change, if no click confirms a label."""
MOST_COMPARED = 20_000
"""Uncorrected rows whose labels are compared before and after."""
UNJUDGED = 0.5
"""Value of a click that is right after learning from it, if there is no other click of its class to test it with."""


@torch.no_grad()
def _best_share(
    before: nn.Sequential,
    after: nn.Sequential,
    judged: Sequence[tuple[nn.Sequential, Tensor]],
    lesson: _Lesson,
    said: Tensor,
    known: int,
) -> float:
    """Return the share of the new weights with the highest expected value; of equal ones the smallest.

    The value is the number of clicks that are right after learning from the others, minus a penalty. People click on
    mistakes, and such clicks say nothing about what is lost where the network was right; clicks that confirm a label
    do. So the fewer clicks confirm a label, the larger the penalty. It is proportional to the mean drop in original
    probability, from the old label to the new, averaged within each class and then over the classes. Classes from
    ``known`` on are new: the network knows nothing about them, so it only counts whether their own clicks are right
    after learning from them.
    """
    compared = lesson.others[:: -(-len(lesson.others) // MOST_COMPARED) or 1]
    probability, label = said[compared].max(dim=-1)
    lonely = torch.cat([_lonely(lesson, rows) for _, rows in judged])
    new = torch.cat([_of_clicks(lesson, rows, lesson.targets[rows] >= known) for _, rows in judged])
    own = torch.cat([_right(after, lesson, rows) for _, rows in judged])
    confirmed = float(sum(_right(before, lesson, rows).sum() for _, rows in judged))
    best, found = -torch.inf, 0.0
    for share in SHARES:
        right = torch.cat([_right(mix(before, tail, share), lesson, rows) for tail, rows in judged])
        right = torch.where(lonely, torch.maximum(right, UNJUDGED * share * own), right)
        mixed = mix(before, after, share)
        right = torch.where(new, torch.cat([_right(mixed, lesson, rows) for _, rows in judged]), right)
        now = mixed(lesson.inputs[compared]).argmax(dim=-1)
        lost = _mean_by(label, probability - said[compared].gather(1, now[:, None])[:, 0])
        value = float(right.sum()) - PRIOR / (1 + confirmed) * lost
        if value > best:
            best, found = value, share
    return found


def _right(tail: nn.Sequential, lesson: _Lesson, rows: Tensor) -> Tensor:
    """Return 1 for each click most of whose rows get its class, 0 for the others (clicks,)."""
    _, number = torch.unique(lesson.clicks[rows], return_inverse=True)
    right = (tail(lesson.inputs[rows]).argmax(dim=-1) == lesson.targets[rows]).float()
    return (torch.bincount(number, right) / torch.bincount(number) > 0.5).float()


def _lonely(lesson: _Lesson, rows: Tensor) -> Tensor:
    """Return, for each left-out click, whether no click that was kept is of its class (clicks,)."""
    others = lesson.corrected[~torch.isin(lesson.corrected, rows)]
    return _of_clicks(lesson, rows, ~torch.isin(lesson.targets[rows], lesson.targets[others]))


def _of_clicks(lesson: _Lesson, rows: Tensor, values: Tensor) -> Tensor:
    """Return the value that all rows of a click share (clicks,)."""
    clicks, number = torch.unique(lesson.clicks[rows], return_inverse=True)
    found = values.new_zeros(len(clicks))
    found[number] = values
    return found


def _mean_by(kinds: Tensor, values: Tensor) -> float:
    """Return the mean, over the kinds that occur, of the mean of their values; 0 if there are none."""
    counts = torch.bincount(kinds)
    means = torch.bincount(kinds, values)[counts > 0] / counts[counts > 0]
    return float(means.mean()) if len(means) else 0.0


@contextmanager
def _one_thread() -> Iterator[None]:
    """Use one torch thread inside: the steps are so small that several would mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _fit(
    tail: nn.Sequential, lesson: _Lesson, corrected: Tensor, said: Tensor, recipe: Recipe, report: Report
) -> list[dict[str, Any]]:
    generator = torch.Generator().manual_seed(recipe.seed)
    targets, inputs, others = lesson.targets, lesson.inputs, lesson.others
    clicks = _by_root_of_count(lesson.clicks[corrected])
    highest, label = said[others].max(dim=-1) if len(others) else (torch.empty(0), torch.empty(0, dtype=torch.int64))
    importance = highest.square() * _by_root_of_count(label) if len(others) else highest
    optimiser = torch.optim.AdamW(tail.parameters(), lr=recipe.learning_rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, recipe.steps)
    tail.eval()  # batch norms keep the statistics of training: a few corrected points give no useful ones
    history: list[dict[str, Any]] = []
    for step in range(1, recipe.steps + 1):
        rows = _draw(len(corrected), recipe.rows, generator)
        wrong = F.cross_entropy(tail(inputs[corrected[rows]]), targets[corrected[rows]], reduction="none")
        loss = (clicks[rows] * wrong).sum() / clicks[rows].sum()
        values = {"loss": loss.item()}
        if len(others) and recipe.consistency:
            rest = _draw(len(others), 2 * recipe.rows, generator)
            now = tail(inputs[others[rest]]).log_softmax(dim=-1)
            change = F.kl_div(now, said[others[rest]], reduction="none").sum(dim=-1)
            drift = (importance[rest] * change).mean()
            loss = loss + recipe.consistency * drift
            values["drift"] = drift.item()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        history.append({"step": step, **values})
        report(step / recipe.steps)
    return history


def _by_root_of_count(kinds: Tensor) -> Tensor:
    """Return weights (N,) with a mean of 1, proportional to the inverse square root of the count of each kind."""
    _, number, counts = torch.unique(kinds, return_inverse=True, return_counts=True)
    weights = counts.float().rsqrt()[number]
    return weights / weights.mean()


def _draw(count: int, most: int, generator: torch.Generator) -> Tensor:
    """Return indices below ``count``: all of them, or ``most`` drawn at random."""
    return torch.arange(count) if count <= most else torch.randint(count, (most,), generator=generator)


def _last(tail: nn.Sequential) -> nn.Linear:
    last = tail[-1]
    assert isinstance(last, nn.Linear)
    return last


def _put_back(
    labeller: SceneLabeller, tail: nn.Sequential, classes: Sequence[SemanticClass], steps: int
) -> tuple[Network, WeightsCard]:
    """Return the whole network with these last layers, and its card."""
    old = labeller.trained.card
    card = old.model_copy(update={"classes": tuple(classes), "step": old.step + steps})
    network = card.build().eval()
    own = tail_of(network)
    kept = {key: tensor for key, tensor in labeller.network.state_dict().items() if not key.startswith("head.logits.")}
    network.load_state_dict(kept, strict=False)
    own.load_state_dict(tail.state_dict())
    return network, card
