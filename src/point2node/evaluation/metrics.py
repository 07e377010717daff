"""Scores from one pooled confusion matrix; an absent class is NaN, never 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.geometry.sampling import grid_sampling

Labels = NDArray[np.int64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Scores:
    """Fractions from 0 to 1; NaN if there was nothing to score."""

    oa: float
    """Overall accuracy: the share of units that were labelled correctly."""
    macc: float
    """Mean accuracy: the mean over the classes of the share of their units that was labelled correctly."""
    miou: float
    """Mean over the classes of intersection over union."""
    accuracy: dict[str, float]
    iou: dict[str, float]

    def __str__(self) -> str:
        return f"OA {self.oa:.3f}, mAcc {self.macc:.3f}, mIoU {self.miou:.3f}"


def count_confusion(truth: Labels, predicted: Labels, classes: int) -> Counts:
    """Count how often each true class (rows) was predicted as each class (columns); a truth of −1 is left out."""
    kept = truth >= 0
    return np.bincount(truth[kept] * classes + predicted[kept], minlength=classes * classes).reshape(classes, classes)


def score(confusion: Counts, names: Sequence[str]) -> Scores:
    """Compute all scores of a confusion matrix. A class absent from the truth is NaN and left out of the means.

    With TP, FP, FN of a class: accuracy TP / (TP + FN), IoU TP / (TP + FP + FN).
    """
    right = np.diagonal(confusion).astype(float)
    true, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    absent = true == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        accuracy = np.where(absent, np.nan, right / true)
        iou = np.where(absent, np.nan, right / (true + predicted - right))
        overall = right.sum() / confusion.sum()
    return Scores(
        oa=float(overall),
        macc=_mean_of_present(accuracy),
        miou=_mean_of_present(iou),
        accuracy=dict(zip(names, accuracy.tolist(), strict=True)),
        iou=dict(zip(names, iou.tolist(), strict=True)),
    )


def _mean_of_present(values: NDArray[np.float64]) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else float("nan")


def voxel_labels(
    xyz: NDArray[np.floating], truth: Labels, predicted: Labels, side: float, classes: int
) -> tuple[Labels, Labels]:
    """Return the truth (its first point's label) and the prediction (its points' majority) of every occupied voxel.

    Ties go to the lowest class. The grid starts at the scene's minimum corner. (The reference script hashes voxels, and
    some at the border collide; here no two voxels do.)
    """
    first, voxel = grid_sampling(torch.from_numpy(np.array(xyz)), side)  # a copy: memory maps are read-only
    counts = np.bincount(voxel.numpy() * classes + predicted, minlength=len(first) * classes)
    return truth[first.numpy()], counts.reshape(-1, classes).argmax(axis=1)


class Calibration:
    """The gap between confidence and accuracy, counted in bins of equal width."""

    BINS = 15

    def __init__(self) -> None:
        self.counts = np.zeros((3, self.BINS))  # predictions, the sum of their confidence, correct predictions

    def add(self, truth: Labels, predicted: Labels, confidence: NDArray[np.floating]) -> None:
        """Count the predictions of units whose truth is known."""
        kept = truth >= 0
        sure = confidence[kept].astype(np.float64)
        bins = np.clip((sure * self.BINS).astype(np.int64), 0, self.BINS - 1)
        for row, weights in enumerate((np.ones(len(sure)), sure, (truth == predicted)[kept].astype(np.float64))):
            self.counts[row] += np.bincount(bins, weights, minlength=self.BINS)

    @property
    def expected_error(self) -> float:
        """Expected calibration error: Σ share of the bin · |accuracy − mean confidence|."""
        total, confident, right = self.counts
        return float(np.abs(right - confident).sum() / total.sum()) if total.sum() else float("nan")
