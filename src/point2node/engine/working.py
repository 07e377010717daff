"""What all uses of trained weights share: the right kind of weights, on a device, in evaluation mode."""

from __future__ import annotations

from typing import ClassVar

import torch

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.engine.scoring import choose_device
from point2node.engine.trained import Trained
from point2node.models.network import Task

KINDS: dict[str, tuple[str, str]] = {
    "segmentation": ("weights that label points", "predict"),
    "classification": ("weights that classify whole shapes", "classify"),
}
"""What weights for a task are called, and the command that they are for."""


class WeightsAtWork:
    """Trained weights, ready to be used.

    Args:
        trained: the weights.
        device: where to work; CUDA where it is, if not given.
    """

    task: ClassVar[Task]
    """What the weights must have been trained for. Set by the class."""

    def __init__(self, trained: Trained, device: torch.device | None = None) -> None:
        if trained.card.task != self.task:
            found, command = KINDS[trained.card.task]
            remedy = f"Use 'point2node {command}' with them."
            raise InputError(trained.name, expected=KINDS[self.task][0], found=found, remedy=remedy)
        self.trained = trained
        self.network = trained.network.to(choose_device() if device is None else device).eval()
        self.classes = tuple(SemanticClass(one.name, one.value, one.colour) for one in trained.card.classes)

    @property
    def name(self) -> str:
        """What the weights are called."""
        return self.trained.name
