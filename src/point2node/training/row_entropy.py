"""How evenly the correlations of a network listen while it trains: a collapse onto single nodes is seen at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from point2node.models.point2node.method import LocalCorrelation, NonLocalCorrelation

CLOUDS = 4
"""Clouds of a batch that are looked at."""
COLUMNS = {LocalCorrelation: "local_entropy", NonLocalCorrelation: "non_local_entropy"}
"""What the history calls the mean entropy of each kind's rows; 1 is even, 0 is one node for each row."""


@contextmanager
def listening_to_rows(network: nn.Module | None) -> Iterator[dict[str, float]]:
    """Inside, a forward pass of ``network`` fills the mapping with the entropies of its rows; None: nothing happens.

    Of several correlations of one kind the lowest entropy is noted: no collapse stays unseen.
    """
    heard: dict[str, float] = {}

    @torch.no_grad()
    def note(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        nodes, neighbours = inputs
        assert isinstance(module, LocalCorrelation | NonLocalCorrelation)
        training = module.training
        module.eval()  # looking must not move the running statistics of a norm
        column, entropy = COLUMNS[type(module)], module.row_entropy(_first(nodes), _first(neighbours))
        heard[column] = min(heard.get(column, entropy), entropy)
        module.train(training)

    kinds = tuple(COLUMNS)
    modules = [] if network is None else [module for module in network.modules() if isinstance(module, kinds)]
    handles = [module.register_forward_pre_hook(note) for module in modules]
    try:
        yield heard
    finally:
        for handle in handles:
            handle.remove()


def _first(values: Tensor) -> Tensor:
    return values[:CLOUDS].detach()
