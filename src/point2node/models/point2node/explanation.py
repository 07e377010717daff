"""What a network can say about why it labelled a point: its own numbers, for chosen nodes."""

from __future__ import annotations

from dataclasses import dataclass

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
    """Correlations of S chosen nodes of each of B clouds; what the variant does not have is None."""

    chosen: Tensor
    """(B, S) numbers of the nodes that are explained."""
    gates: tuple[Gate, ...]
    """One for each adaptive aggregation, in the order of the stages."""
    channel_weights: Tensor | None = None
    """w̄ (B, S, C), Eq. 2: rows sum to 1."""
    local_neighbours: Tensor | None = None
    """(B, S, K) numbers of the nodes in each local graph."""
    local_graph: Tensor | None = None
    """m̄⁽ˡ⁾ (B, S, K, K), Eq. 6: rows sum to 1."""
    non_local_rows: Tensor | None = None
    """m̄⁽ᵍ⁾ (B, S, N), Eq. 11: rows sum to 1."""
    node_points: Tensor | None = None
    """(B, N) the input point that each node stands on; a segmenter's node i is point i."""
