"""From tensors to the arrays a kernel reads: kernels do not check what they index, so this does."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from torch import Tensor


def rows_of(tensor: Tensor) -> npt.NDArray[Any]:
    """The array of a contiguous (B, N, ...) tensor with all clouds counted through: (B·N, ...), no copy."""
    return tensor.detach().flatten(0, 1).numpy()  # type: ignore[no-any-return, unused-ignore]


def check_neighbours(neighbours: Tensor, nodes: int) -> None:
    """Raise IndexError unless every neighbour is the number of a node."""
    if neighbours.numel() == 0:
        return
    smallest, largest = (int(number) for number in neighbours.aminmax())
    if smallest < 0 or largest >= nodes:
        raise IndexError(
            f"neighbours must be numbers from 0 to {nodes - 1}, the nodes there are; found {smallest} to {largest}"
        )


def check_shape(name: str, tensor: Tensor, expected: tuple[int, ...]) -> None:
    """Raise ValueError unless the tensor has the expected shape."""
    if tuple(tensor.shape) != expected:
        raise ValueError(f"{name} must have the shape {expected}, found {tuple(tensor.shape)}")
