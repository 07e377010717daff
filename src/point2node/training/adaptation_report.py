"""What adapting weights to scans changed, and whether it went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from point2node.training.pseudo_labels import Predictions, surest_of_each_class

SURE_AGREEMENT = 0.7
"""Adapted weights must give this share of each class' surest points the label that the original gave them, …"""
AGREEMENT = 0.5
"""… as a mean over the classes, and this share of all points."""
FEW = 0.01
"""Classes below this share of the points are no part of the mean: a few points tell nothing."""
TOLD = 5
"""Classes that are told of: those that changed most."""
LOST = 0.1
"""A class is lost that keeps less than this share of the points it had."""


@dataclass(frozen=True)
class Agreement:
    """How far two predictions of the same points agree."""

    points: float
    """The share of all points with the same label."""
    sure: float
    """Of the surest points of each class of the first: the share that keeps its label, as a mean over the classes."""

    @property
    def diverged(self) -> bool:
        """Whether the second is so far from the first that it is not to be trusted."""
        return self.points < AGREEMENT or self.sure < SURE_AGREEMENT


def compare(before: Predictions, after: Predictions, share: float) -> Agreement:
    """How far the adapted weights agree with the original ones, whose surest ``share`` of each class counts as sure."""
    kept = before.labels == after.labels
    sure = surest_of_each_class(before.labels, before.confidence, share)
    counts = np.bincount(before.labels)
    counted = np.flatnonzero(counts >= FEW * len(before.labels))
    shares = [kept[sure & (before.labels == label)].mean() for label in counted]
    return Agreement(float(kept.mean()), float(np.mean(shares)))


def describe_change(
    names: Sequence[str], scans: Sequence[str], before: Predictions, after: Predictions
) -> dict[str, Any]:
    """The change in figures: the share of points with another label, points of each class, mean confidence."""
    counts = [np.bincount(one.labels[one.labels >= 0], minlength=len(names)) for one in (before, after)]
    changed = before.labels != after.labels
    of_scans = zip(
        scans,
        before.parts(changed),
        before.parts(before.confidence),
        after.parts(after.confidence),
        strict=True,
    )
    return {
        "points": len(changed),
        "changed": float(changed.mean()),
        "confidence": _before_and_after(before.confidence.mean(), after.confidence.mean()),
        "classes": {
            name: {"before": int(old), "after": int(new)} for name, old, new in zip(names, *counts, strict=True)
        },
        "lost": [name for name, old, new in zip(names, *counts, strict=True) if old and new < LOST * old],
        "scans": {
            name: {
                "points": len(its_changed),
                "changed": float(np.mean(its_changed)),
                "confidence": _before_and_after(np.mean(old), np.mean(new)),
            }
            for name, its_changed, old, new in of_scans
        },
    }


def describe_agreement(agreement: Agreement) -> dict[str, Any]:
    """The agreement, and what it was held against."""
    return {**asdict(agreement), "diverged": agreement.diverged, "least": {"points": AGREEMENT, "sure": SURE_AGREEMENT}}


def tell_change(report: dict[str, Any]) -> list[str]:
    """The report in a few lines for a person."""
    change, agreement = report["change"], report["agreement"]
    if agreement["diverged"]:
        return [
            f"warning: training diverged: {agreement['points']:.0%} of all points and {agreement['sure']:.0%} of the "
            f"surest kept their label, expected at least {AGREEMENT:.0%} and {SURE_AGREEMENT:.0%}",
            "the original weights are kept; the adapted ones are in last.safetensors. Try a lower learning_rate=",
        ]
    confidence, total = change["confidence"], change["points"]
    moved = sorted(change["classes"].items(), key=lambda item: -abs(item[1]["after"] - item[1]["before"]))
    shares = ", ".join(
        f"{name} {100 * one['before'] / total:.1f} → {100 * one['after'] / total:.1f} %"
        for name, one in moved[:TOLD]
        if one["before"] != one["after"]
    )
    lines = [
        f"{change['changed']:.1%} of {total:,} points changed their label; "
        f"mean confidence {confidence['before']:.2f} → {confidence['after']:.2f}",
        f"classes: {shares or 'as before'}",
    ]
    if change["lost"]:
        lines.append(f"note: hardly anything is labelled {', '.join(change['lost'])} any more; look at the picture")
    return lines


def _before_and_after(before: Any, after: Any) -> dict[str, float]:
    return {"before": float(before), "after": float(after)}
