"""The explanation of a network's labels: its correlations and gates at chosen nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Gate:
    """The channel gates of one adaptive aggregation (Eq. 15)."""

    branches: tuple[str, ...]
    """"nodes", then the correlation behind each update."""
    shares: Tensor
    """(B, branches, C); the branches of a channel sum to 1."""


@dataclass(frozen=True)
class Explanation:
    """The correlations of S chosen nodes in each of B clouds; None for those that the variant does not have."""

    chosen: Tensor
    """(B, S) indices of the explained nodes."""
    gates: tuple[Gate, ...]
    """One gate for each adaptive aggregation, in the order of the stages."""
    channel_weights: Tensor | None = None
    """w̄ (B, S, C), Eq. 2: rows sum to 1."""
    local_neighbours: Tensor | None = None
    """(B, S, K) indices of the nodes in each local graph."""
    local_graph: Tensor | None = None
    """m̄⁽ˡ⁾ (B, S, K, K), Eq. 6: rows sum to 1."""
    non_local_rows: Tensor | None = None
    """m̄⁽ᵍ⁾ (B, S, N), Eq. 11: rows sum to 1."""
    node_points: Tensor | None = None
    """(B, N) the input point of each node; a segmenter's node i is point i."""

    @property
    def local_entropy(self) -> Tensor | None:
        """Return how evenly the nodes of each local graph attend to each other, averaged over its K rows: (B, S), from
        0, each to a single node, to 1, to all evenly.
        """
        return None if self.local_graph is None else row_entropies(self.local_graph).mean(dim=-1)

    @property
    def non_local_entropy(self) -> Tensor | None:
        """Return how evenly each node attends to all N nodes: (B, S); near 0 it has collapsed onto a single node."""
        return None if self.non_local_rows is None else row_entropies(self.non_local_rows)


def row_entropies(rows: Tensor) -> Tensor:
    """Compute the entropy of each row of (…, n), which sums to 1, divided by log n: 1 if even, 0 if one entry is 1."""
    if rows.shape[-1] < 2:
        return torch.ones_like(rows[..., 0])
    return torch.special.entr(rows).sum(dim=-1) / math.log(rows.shape[-1])
