"""What can be counted on a labelled scene: points per class and, with the truth, the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from point2node.show.scene import LabelledScene

if TYPE_CHECKING:  # the metrics import torch, which takes seconds; a scene without truth needs none
    from point2node.evaluation.metrics import Counts, Scores


@dataclass(frozen=True, eq=False)
class SceneScores:
    """The confusion matrix of a scene (rows: true, columns: predicted) and what follows from it."""

    confusion: Counts
    scores: Scores
    scored: int
    """How many points have both a label and a truth."""


def score_scene(scene: LabelledScene) -> SceneScores | None:
    """The scores over every point that has both a label and a truth; None without any such point."""
    if scene.truth is None:
        return None
    both = (scene.truth >= 0) & (scene.labels >= 0)
    if not both.any():
        return None
    from point2node.evaluation.metrics import count_confusion, score

    confusion = count_confusion(scene.truth[both], scene.labels[both], len(scene.classes))
    # places instead of names: two classes may share a name, and a dictionary would keep one of them
    scores = score(confusion, [str(place) for place in range(len(scene.classes))])
    return SceneScores(confusion, scores, int(both.sum()))
