"""Votes: what a network said of each point of a scene, however often it was asked, and what follows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from point2node.weights.settings import Rule


class Votes:
    """Gathers predictions by point number and decides by a rule.

    ``max_confidence``, the paper's: a point keeps the one prediction of highest confidence (the first of equal
    ones). ``mean_probability``: the mean of all probabilities; it also knows how unsure it is.
    """

    def __init__(self, points: int, classes: int, rule: Rule) -> None:
        self.rule = rule
        self._classes = classes
        if rule == "max_confidence":
            self._label = np.full(points, -1, np.int64)
            self._confidence = np.zeros(points, np.float32)
        else:
            self._sums = torch.zeros(points, classes)
            self._counts = torch.zeros(points)

    def add(self, numbers: NDArray[np.int64], probabilities: Tensor) -> None:
        """Votes (M, classes) for the points ``numbers`` (M,), among which a point may be more than once."""
        if self.rule == "mean_probability":
            places = torch.from_numpy(numbers)
            self._sums.index_add_(0, places, probabilities)
            self._counts.index_add_(0, places, torch.ones(len(places)))
            return
        best = probabilities.max(dim=1)
        confidence, label = best.values.numpy(), best.indices.numpy()
        better = np.flatnonzero(confidence > self._confidence[numbers])[::-1]  # last first: of equal votes the first …
        better = better[np.argsort(confidence[better], kind="stable")]  # … is then written last, as is the surest
        self._confidence[numbers[better]] = confidence[better]
        self._label[numbers[better]] = label[better]

    def revise(self, change: Callable[[Tensor], Tensor]) -> None:
        """Put others in the place of the mean probabilities (points, classes), which no vote may follow."""
        if self.rule == "max_confidence":
            raise ValueError("only mean probabilities can be revised: the other rule keeps one prediction")
        self._sums = change(self._sums / self._counts.clamp_min(1)[:, None])
        self._counts.clamp_(max=1)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which points have a vote."""
        return self._label >= 0 if self.rule == "max_confidence" else self._counts.numpy() > 0

    @property
    def labels(self) -> NDArray[np.int64]:
        """(points,): the class of each point; −1 without a vote."""
        if self.rule == "max_confidence":
            return self._label
        return np.where(self.seen, self._sums.argmax(dim=1).numpy(), -1)

    @property
    def confidence(self) -> NDArray[np.float32]:
        """(points,): of the single best vote, or the mean probability of the class; 0 without a vote."""
        if self.rule == "max_confidence":
            return self._confidence
        return (self._sums.amax(dim=1) / self._counts.clamp_min(1)).numpy()

    @property
    def entropy(self) -> NDArray[np.float32]:
        """(points,): of the mean probabilities, as a share of the largest possible, log(classes)."""
        if self.rule == "max_confidence":
            raise ValueError("entropy needs the rule mean_probability: the other keeps one prediction, not all")
        entropy = torch.empty(len(self._counts))
        for start in range(0, len(entropy), 1 << 18):  # by pieces: a scene may have millions of points
            piece = slice(start, start + (1 << 18))
            mean = self._sums[piece] / self._counts[piece, None].clamp_min(1)
            entropy[piece] = -(mean * mean.clamp_min(1e-12).log()).sum(dim=1)
        return (entropy / max(np.log(self._classes), 1e-12)).clamp_(0, 1).numpy()
