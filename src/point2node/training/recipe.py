"""The recipe: loss, optimiser and learning rate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from point2node.models.point2node.method import LocalCorrelation, NonLocalCorrelation, Projection
from point2node.weights.settings import Settings


def loss_and_weight(
    logits: Tensor,
    labels: Tensor,
    class_weights: Tensor | None,
    smoothing: float,
    cloud_weights: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the summed cross entropy and the summed weight of the labelled nodes; a label of −1 is ignored.

    Logits (B, N, classes) take labels (B, N), or (B,) if every node predicts the class of the whole cloud. Instead of a
    label, the shares of all classes may be given, which sum to 1, or to 0 for no label. ``cloud_weights`` (B,) multiply
    both sums of each cloud.
    """
    if cloud_weights is not None:
        clouds = zip(logits.split(1), labels.split(1), strict=True)
        sums = [loss_and_weight(one, its_labels, class_weights, smoothing) for one, its_labels in clouds]
        totals, weights = (torch.stack(parts) for parts in zip(*sums, strict=True))
        return (cloud_weights * totals).sum(), (cloud_weights * weights).sum()
    labels = spread_labels(logits, labels)
    if labels.is_floating_point():
        labelled = labels.sum(dim=-1) > 0  # smoothing would give the others a class as well
        shares = labels[labelled]
        total = F.cross_entropy(
            logits[labelled], shares, weight=class_weights, label_smoothing=smoothing, reduction="sum"
        )
        return total, (shares if class_weights is None else shares * class_weights).sum()
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
    """Return labels in the shape of the logits' rows: each node gets the label or the shares of its cloud."""
    if labels.is_floating_point():
        return labels[:, None].expand_as(logits) if logits.ndim == labels.ndim + 1 else labels
    return labels[:, None].expand(logits.shape[:-1]) if logits.ndim == labels.ndim + 2 else labels


def likeliest_labels(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the target label of each row of logits: the given one, or that of the largest share; −1 for none."""
    labels = spread_labels(logits, labels)
    if not labels.is_floating_point():
        return labels
    return torch.where(labels.sum(dim=-1) > 0, labels.argmax(dim=-1), -1)


def build_optimiser(settings: Settings, network: nn.Module) -> torch.optim.Optimizer:
    """Return Adam with L2 in the gradient, or AdamW; biases of linear maps and scalars are never decayed.

    Each parameter group has a ``factor`` for its learning rate.
    """
    not_decayed = {id(module.bias) for module in network.modules() if isinstance(module, nn.Linear)}
    slowed = [module for module in network.modules() if isinstance(module, Projection)]
    correlating = {id(parameter) for module in slowed for parameter in module.parameters()}
    groups: dict[tuple[float, float], list[nn.Parameter]] = {(settings.weight_decay, 1.0): [], (0.0, 1.0): []}
    for parameter in network.parameters():
        decay = 0.0 if id(parameter) in not_decayed or parameter.numel() == 1 else settings.weight_decay
        factor = settings.correlation_rate if id(parameter) in correlating else 1.0
        groups.setdefault((decay, factor), []).append(parameter)
    optimiser = torch.optim.Adam if settings.optimiser == "adam" else torch.optim.AdamW
    return optimiser(
        [
            {"params": parameters, "weight_decay": decay, "factor": factor}
            for (decay, factor), parameters in groups.items()
        ],
        lr=settings.learning_rate,
        eps=settings.adam_epsilon,
        # one pass over the weights; does not work with gradient clipping under a gradient scaler
        fused=settings.precision != "16-mixed",
    )


def set_rate(optimiser: torch.optim.Optimizer, settings: Settings, rate: float, step: int) -> None:
    """Set the learning rate of step number ``step`` (from 0), and ε as defined by ``adam_form``.

    TensorFlow adds ε before the bias correction of the second moment, torch after it; so TensorFlow's ε divided by the
    square root of the correction is passed to torch.
    """
    for group in optimiser.param_groups:
        group["lr"] = rate * group["factor"]
        if settings.adam_form == "tensorflow":
            group["eps"] = settings.adam_epsilon / math.sqrt(1 - group["betas"][1] ** (step + 1))


def learning_rate(settings: Settings, step: int, steps: int) -> float:
    """Return the learning rate of step number ``step`` (from 0) of ``steps``."""
    if step < settings.warmup_steps:
        return settings.learning_rate * (step + 1) / settings.warmup_steps
    if settings.schedule == "constant":
        return settings.learning_rate
    if settings.schedule == "steps":
        rate = settings.learning_rate * settings.decay_factor ** (step // settings.decay_every)
        return max(rate, settings.lowest_rate)
    share = (step - settings.warmup_steps) / max(1, steps - settings.warmup_steps)
    return settings.lowest_rate + (settings.learning_rate - settings.lowest_rate) * (1 + math.cos(math.pi * share)) / 2


CLOUDS = 4
"""Clouds of a batch whose entropies are measured."""
COLUMNS = {LocalCorrelation: "local_entropy", NonLocalCorrelation: "non_local_entropy"}
"""Column of the history for the mean row entropy of each kind; 1 is uniform, 0 is a single node per row."""


@contextmanager
def recording_entropies(network: nn.Module | None) -> Iterator[dict[str, float]]:
    """Fill the returned mapping with row entropies in each forward pass of ``network`` inside the context.

    Without a network it stays empty. Of several correlations of one kind, the lowest entropy is noted, so that no
    collapse is missed.
    """
    entropies: dict[str, float] = {}

    @torch.no_grad()
    def note(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        nodes, neighbours = inputs
        assert isinstance(module, LocalCorrelation | NonLocalCorrelation)
        training = module.training
        module.eval()  # measuring must not change the running statistics of a norm
        column, entropy = COLUMNS[type(module)], module.row_entropy(_first(nodes), _first(neighbours))
        entropies[column] = min(entropies.get(column, entropy), entropy)
        module.train(training)

    kinds = tuple(COLUMNS)
    modules = [] if network is None else [module for module in network.modules() if isinstance(module, kinds)]
    handles = [module.register_forward_pre_hook(note) for module in modules]
    try:
        yield entropies
    finally:
        for handle in handles:
            handle.remove()


def _first(values: Tensor) -> Tensor:
    return values[:CLOUDS].detach()
