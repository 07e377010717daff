"""What one step adds up, over all processes: the loss, its weight, the hits, and whether anybody asked to stop."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from lightning_fabric import Fabric
from torch import Tensor

from point2node.training.checkpoints import Progress
from point2node.training.interruption import Interruption
from point2node.training.recipe import likeliest_labels


@dataclass(frozen=True)
class StepSums:
    """Loss, its weight, and hits of one step, over all processes."""

    loss: Tensor
    weight: Tensor
    right: Tensor
    labelled: Tensor
    stop: Tensor

    def add_to(self, progress: Progress) -> None:
        """Add them to what the next line of the history says."""
        progress.loss_sum += float(self.loss)
        progress.weight_sum += float(self.weight)
        progress.right += float(self.right)
        progress.labelled += float(self.labelled)


def sum_over_processes(
    fabric: Fabric, logits: Tensor, labels: Tensor, total: Tensor, weight: Tensor, interruption: Interruption
) -> StepSums:
    """The sums of this step; every process gets the same, so that all of them stop together."""
    with torch.no_grad():
        labels = likeliest_labels(logits, labels)
        right = (logits.argmax(dim=-1) == labels).sum()
        stop = labels.new_tensor(interruption.signal is not None)
        own = torch.stack([value.double() for value in (total, weight, right, (labels >= 0).sum(), stop)])
        everywhere = fabric.all_reduce(own, reduce_op="sum")
    assert isinstance(everywhere, Tensor)
    return StepSums(*everywhere)
