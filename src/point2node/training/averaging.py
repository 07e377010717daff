"""An exponential mean of a network's weights over the training steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """Mean of parameters and running statistics: m ← m + (1 − d)·(w − m), with d = min(decay, (1 + s) / (10 + s)) at
    step s, so that the first steps are soon forgotten.
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self._network, self._decay = network, decay
        self.tensors = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the network's weights after ``step`` steps."""
        weight = 1 - min(self._decay, (1 + step) / (10 + step))
        for name, tensor in self._network.state_dict().items():
            if tensor.is_floating_point():
                self.tensors[name].lerp_(tensor, weight)
            else:
                self.tensors[name].copy_(tensor)

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Go on from a saved mean."""
        for name, tensor in tensors.items():
            self.tensors[name].copy_(tensor)


@contextmanager
def applied(network: nn.Module, tensors: dict[str, Tensor]) -> Iterator[None]:
    """Inside, the network has these weights; afterwards its own again."""
    own = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
    network.load_state_dict(tensors)
    try:
        yield
    finally:
        network.load_state_dict(own)
