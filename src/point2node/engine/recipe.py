"""The recipe: loss, optimiser and learning rate."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from point2node.engine.settings import Settings


def loss_and_weight(
    logits: Tensor, labels: Tensor, class_weights: Tensor | None, smoothing: float
) -> tuple[Tensor, Tensor]:
    """The summed cross entropy and the summed weight of what was labelled; a label of −1 counts for nothing.

    Logits (B, N, classes) take labels (B, N), or (B,) where each node is to say what the whole cloud is.
    """
    labels = spread_labels(logits, labels)
    total = F.cross_entropy(
        logits.flatten(0, -2),
        labels.flatten(),
        weight=class_weights,
        ignore_index=-1,
        label_smoothing=smoothing,
        reduction="sum",
    )
    known = labels[labels >= 0]
    weight = known.new_tensor(len(known), dtype=logits.dtype) if class_weights is None else class_weights[known].sum()
    return total, weight


def spread_labels(logits: Tensor, labels: Tensor) -> Tensor:
    """Labels in the shape of the logits' rows: a cloud's label goes to each of its nodes."""
    return labels[:, None].expand(logits.shape[:-1]) if logits.ndim == labels.ndim + 2 else labels


def build_optimiser(settings: Settings, network: nn.Module) -> torch.optim.Optimizer:
    """Adam with L2 in the gradient, or AdamW; biases of linear maps and scalars are never decayed."""
    spared = {id(module.bias) for module in network.modules() if isinstance(module, nn.Linear)}
    groups: tuple[list[nn.Parameter], list[nn.Parameter]] = ([], [])
    for parameter in network.parameters():
        groups[id(parameter) in spared or parameter.numel() == 1].append(parameter)
    optimiser = torch.optim.Adam if settings.optimiser == "adam" else torch.optim.AdamW
    return optimiser(
        [{"params": groups[0], "weight_decay": settings.weight_decay}, {"params": groups[1], "weight_decay": 0.0}],
        lr=settings.learning_rate,
        eps=settings.adam_epsilon,
        # one pass over the weights; with a gradient scaler it would rule out clipping
        fused=settings.precision != "16-mixed",
    )


def learning_rate(settings: Settings, step: int, steps: int) -> float:
    """The rate of step number ``step`` (from 0) of ``steps``."""
    if step < settings.warmup_steps:
        return settings.learning_rate * (step + 1) / settings.warmup_steps
    if settings.schedule == "constant":
        return settings.learning_rate
    if settings.schedule == "steps":
        rate = settings.learning_rate * settings.decay_factor ** (step // settings.decay_every)
        return max(rate, settings.lowest_rate)
    share = (step - settings.warmup_steps) / max(1, steps - settings.warmup_steps)
    return settings.lowest_rate + (settings.learning_rate - settings.lowest_rate) * (1 + math.cos(math.pi * share)) / 2
