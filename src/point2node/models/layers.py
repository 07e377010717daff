"""Layers that all networks are built from; channels are always the last axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from torch import Tensor, nn

from point2node.models.batch_norm import BatchNorm
from point2node.models.operators.activation_norm import activate_and_normalise_
from point2node.models.operators.narrow_linear import narrow_linear

M = TypeVar("M", bound=nn.Module)


class Layers(nn.ModuleList, Generic[M]):
    """A list of modules of one type, with that type known to type checkers."""

    def __init__(self, modules: Iterable[M] = ()) -> None:
        super().__init__(modules)

    def __iter__(self) -> Iterator[M]:
        return super().__iter__()  # type: ignore[return-value]


def gather_nodes(nodes: Tensor, numbers: Tensor) -> Tensor:
    """Gather ``nodes[b, numbers[b, …]]``: (B, N, C) and (B, …) → (B, …, C)."""
    rows = numbers.flatten(1)[..., None].expand(-1, -1, nodes.shape[-1])
    return nodes.gather(1, rows).unflatten(1, numbers.shape[1:])


def glorot_normal_(weight: Tensor, fan_in: int, fan_out: int) -> None:
    """Fill ``weight`` from a normal distribution of variance 2 / (fan_in + fan_out)."""
    if not weight.is_meta:  # nothing to fill, and torch would be slow at it
        nn.init.normal_(weight, std=(2.0 / (fan_in + fan_out)) ** 0.5)


def linear(in_channels: int, out_channels: int, *, bias: bool) -> nn.Linear:
    """Make a linear map with Glorot-normal weights and a bias of 0, if any."""
    layer = nn.Linear(in_channels, out_channels, bias=bias)
    fill_linear_(layer)
    return layer


def fill_linear_(layer: nn.Linear) -> None:
    """Fill a linear map with Glorot-normal weights and a bias of 0, if it has one."""
    glorot_normal_(layer.weight, layer.in_features, layer.out_features)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


class Dense(nn.Module):
    """A linear map without bias, then ELU, then batch norm: activation before normalisation.

    The layer of [PointCNN](https://arxiv.org/abs/1801.07791):

        BatchNorm(ELU(W x))

    Args:
        in_channels: width of the input.
        out_channels: width of the result.

    Shapes:
        - x: (…, in_channels)
        - result: (…, out_channels)
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = linear(in_channels, out_channels, bias=False)
        self.norm = BatchNorm(out_channels)

    def forward(self, x: Tensor) -> Tensor:
        """(…, in_channels) → (…, out_channels)."""
        return activate_and_normalise_(narrow_linear(x, self.linear.weight), self.norm)

    def macs(self, rows: int) -> int:
        """Count the multiply-accumulates for ``rows`` vectors."""
        return rows * self.linear.in_features * self.linear.out_features


class Head(nn.Module):
    """Fully connected layers that compute the logits of each node.

        logits = W dropout(layer(… dropout(layer(x)))) + b

    Args:
        in_channels: C.
        widths: widths of the hidden layers.
        dropouts: dropout after each hidden layer.
        num_classes: the number of logits.
        layer: makes a hidden layer from its input and output widths.

    Shapes:
        - nodes: (…, C)
        - logits: (…, classes)
    """

    def __init__(
        self,
        in_channels: int,
        widths: Sequence[int],
        dropouts: Sequence[float],
        num_classes: int,
        layer: Callable[[int, int], Dense] = Dense,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        self.last_in_channels = (in_channels, *widths)[-2]
        for width, dropout in zip(widths, dropouts, strict=True):
            layers += [layer(in_channels, width), nn.Dropout(dropout)]
            in_channels = width
        self.hidden = nn.Sequential(*layers)
        self.logits = linear(in_channels, num_classes, bias=True)

    def set_last_dropout(self, dropout: float) -> None:
        """Replace the dropout before the logits."""
        self.hidden[-1] = nn.Dropout(dropout)

    def forward(self, nodes: Tensor) -> Tensor:
        """(…, C) → (…, classes)."""
        return self.logits(self.hidden(nodes))

    def lead(self, x: Tensor) -> Tensor:
        """Apply every hidden layer but the last: (…, C) → (…, last_in_channels)."""
        for layer in list(self.hidden)[:-2]:
            x = layer(x)
        return x

    def finish(self, x: Tensor) -> Tensor:
        """Apply the last hidden layer and compute the logits: (…, last_in_channels) → (…, classes)."""
        layer, dropout = list(self.hidden)[-2:]
        return self.logits(dropout(layer(x)))

    def pooled(self, nodes: Tensor) -> Tensor:
        """Compute logits (B, classes) from the averaged features of nodes (B, N, C).

        The last dropout comes after the average; before it, the mean over N nodes would undo it.
        """
        *layers, dropout = self.hidden
        for layer in layers:
            nodes = layer(nodes)
        return self.logits(dropout(nodes.mean(dim=1)))

    def macs(self, rows: int) -> int:
        """Count the multiply-accumulates for ``rows`` nodes."""
        dense = sum(layer.macs(rows) for layer in self.hidden if isinstance(layer, Dense))
        return dense + rows * self.logits.in_features * self.logits.out_features


def count_parameters(model: nn.Module) -> int:
    """Count the trainable parameters."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
