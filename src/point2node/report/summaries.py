"""Repeated measurements in short: mean ± standard deviation, and which of several is the best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

DECIMALS = 2


@dataclass(frozen=True)
class Summary:
    """The mean of ``count`` measurements and their sample standard deviation (n − 1); None: not known."""

    mean: float
    deviation: float | None = None
    count: int | None = None

    def words(self, sign: str = "") -> str:
        """``62.96 ± 0.40``; with sign "+", as a difference."""
        mean = f"{self.mean:{sign}.{DECIMALS}f}".replace("-", "−")
        return mean if self.deviation is None else f"{mean} ± {self.deviation:.{DECIMALS}f}"


def summarise(values: Sequence[float | None]) -> Summary | None:
    """Mean and deviation of what was measured; None and NaN are left out, and nothing measured gives None."""
    measured = [value for value in values if value is not None and not math.isnan(value)]
    if not measured:
        return None
    return Summary(fmean(measured), stdev(measured) if len(measured) > 1 else None, len(measured))


def difference(of: Mapping[int | None, float], against: Mapping[int | None, float]) -> Summary:
    """The mean over the seeds that both have, pair by pair, with its deviation; without such, that of the two means."""
    pairs = summarise([of[seed] - against[seed] for seed in of if seed in against and seed is not None])
    if pairs is not None:
        return pairs
    return Summary(fmean(of.values()) - fmean(against.values()), None, min(len(of), len(against)))


def best_places(values: Sequence[float | None]) -> frozenset[int]:
    """Where the largest value stands, to the decimals shown; nowhere if fewer than two can be compared."""
    shown = {
        place: round(value, DECIMALS)
        for place, value in enumerate(values)
        if value is not None and not math.isnan(value)
    }
    if len(shown) < 2:
        return frozenset()
    largest = max(shown.values())
    return frozenset(place for place, value in shown.items() if value == largest)
