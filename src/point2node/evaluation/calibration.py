"""Calibration: one temperature that makes confidence mean what it says (Guo et al., 2017).

Dividing all logits by T changes no decision; it only makes the probabilities more or less extreme. The division is
folded into the last layer, so calibrated weights are ordinary weights.

A network trained with class weights w learns probabilities that are w times too large for each class. This helps it
learn rare classes, but when it labels, points of common classes are given rare ones. Subtracting log w from the logits
undoes this; the subtraction is folded into the last layer as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.words import Report
from point2node.data.store import Store
from point2node.evaluation.evaluate import Evaluation, ScoredPart, evaluate
from point2node.evaluation.metrics import Calibration, Labels
from point2node.evaluation.protocol import Protocol
from point2node.evaluation.splits import Part
from point2node.models.network import Network
from point2node.weights.cards import WeightsCard
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import MACHINE

LOWEST, HIGHEST, TRIED = 0.1, 10.0, 81
CALIBRATION = "calibration.json"
HELD_BACK = frozenset({"validation_share", "folds", "fold", "split_seed", "seed"})
"""Settings in which a run and its twin may differ: those of the held-back data, and the seed."""


class TemperatureSearch:
    """Search for the temperature with the lowest negative log-likelihood, in one pass over the votes."""

    def __init__(self) -> None:
        self._logs = np.linspace(np.log(LOWEST), np.log(HIGHEST), TRIED)
        self._sums = np.zeros(TRIED)

    def add(self, truth: Labels, probabilities: Tensor) -> None:
        """Add votes (M, classes) at temperature 1 and their true labels (M,); −1, not known, is left out."""
        kept = torch.from_numpy(truth >= 0)
        logs = probabilities[kept].clamp_min(1e-12).log()  # as good as logits: they differ by a constant per vote
        labels = torch.from_numpy(truth)[kept, None]
        for number, temperature in enumerate(np.exp(self._logs)):
            scaled = logs / temperature
            likelihood = scaled.gather(1, labels)[:, 0] - scaled.logsumexp(dim=1)
            self._sums[number] -= float(likelihood.double().sum())

    @property
    def best(self) -> float:
        """The minimum of the parabola through the best temperature tried and its two neighbours, in log space."""
        index = int(np.clip(self._sums.argmin(), 1, TRIED - 2))
        before, here, after = self._sums[index - 1 : index + 2]
        bend = before - 2 * here + after
        step = 0.0 if bend <= 0 else float(np.clip((before - after) / (2 * bend), -1, 1))
        return float(np.exp(self._logs[index] + step * (self._logs[1] - self._logs[0])))


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A temperature, and the scores before and after applying it, on the data it was fitted to."""

    temperature: float
    before: Evaluation
    after: Evaluation

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "temperature": self.temperature,
            "protocol": self.before.protocol.as_dict(),
            "units": int(self.before.confusion.sum()),
            "before": _summarise(self.before),
            "after": _summarise(self.after),
        }


def calibrate(
    network: Network, card: WeightsCard, store: Store, part: Part, protocol: Protocol, report: Report
) -> Calibrated:
    """Find the temperature on ``part``, which training must not have seen, and fold it into ``network``."""
    search = TemperatureSearch()
    scored = ScoredPart(store, part, protocol, card.features)
    before = evaluate(network, scored, report, on_votes=search.add)
    if not before.confusion.sum():
        raise InputError(f"{store.path}, split {part.name!r}", expected="something with a label", found="nothing")
    fold_temperature(network, search.best)
    after = evaluate(network, scored, report)
    return Calibrated(search.best, before, after)


def fold_temperature(network: Network, temperature: float) -> None:
    """Divide the logits of ``network`` by ``temperature``, permanently."""
    with torch.no_grad():
        for parameter in network.head.logits.parameters():
            parameter.div_(temperature)


def undo_class_weights(network: Network, weights: Sequence[float]) -> None:
    """Undo the effect of these class weights, which ``network`` was trained with, on its probabilities.

    A class of weight 0 was absent from the training data: nothing is known about it, and it is left as it is.
    """
    bias = network.head.logits.bias
    factors = torch.tensor([weight or 1.0 for weight in weights], dtype=bias.dtype, device=bias.device)
    with torch.no_grad():
        bias.sub_(factors.log())


def calibration_of_twin(run: RunFolder, twin: RunFolder) -> dict[str, Any]:
    """Return the calibration of ``twin``, a run of the same recipe that held data back, for use with ``run``."""
    ours, theirs = (one.read_settings().model_dump(exclude=set(MACHINE | HELD_BACK)) for one in (run, twin))
    for key, value in ours.items():
        if theirs[key] != value:
            raise InputError(f"{twin.path}, {key}", expected=f"{value}, as in {run.path}", found=str(theirs[key]))
    file = twin.path / CALIBRATION
    try:
        found = parse_json(file.read_text(encoding="utf-8"))
        sane = LOWEST / 2 <= found["temperature"] <= 2 * HIGHEST and found["protocol"]["votes"] >= 1
    except (OSError, ValueError, TypeError, KeyError) as error:
        remedy = f"Run 'point2node calibrate {twin.path}' first."
        raise InputError(file, expected="the calibration of a run", found="none", remedy=remedy) from error
    if not sane:
        raise InputError(file, expected="a temperature and votes that make sense", found=str(found["temperature"]))
    return dict(found) | {"twin": twin.name}


def _summarise(evaluation: Evaluation) -> dict[str, Any]:
    result = evaluation.as_dict()
    return {"oa": result["oa"], "ece": result["ece"], "bins": bins(evaluation.calibration)}


def bins(calibration: Calibration) -> list[dict[str, float]]:
    """Return the count, the mean confidence and the accuracy of each bin that is not empty."""
    return [
        {"count": int(count), "confidence": sure / count, "accuracy": right / count}
        for count, sure, right in calibration.counts.T.tolist()
        if count
    ]
