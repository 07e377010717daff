"""The Method section of the paper, Eqs. 1-16, in its order and its letters.

Each correlation returns its *update* of the nodes; an aggregation merges nodes and updates. Shapes: B clouds, N nodes
a cloud, K neighbours, C channels, r the reduction rate. ``as_printed`` spells the equations out, slowly; ``forward``
is the fast form that tests hold equal to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from point2node.models.layers import gather_nodes, linear
from point2node.models.operators.local_update import local_update
from point2node.models.operators.non_local_update import non_local_update


def projection(channels: int, reduction: int, *, bias: bool) -> nn.Linear:
    """θ or φ, C → C/r, with weights that start near 0.

    The softmax of Eqs. 6 and 11 has no scale. With Glorot's weights the correlations m have a standard deviation of
    about 1.8 √(C/r): each row then falls on a single node, a chance one, from which it hardly comes away again. Near
    0 every node begins by listening to all, as in the non-local networks that the module goes back to.
    """
    layer = linear(channels, channels // reduction, bias=bias)
    nn.init.normal_(layer.weight, std=0.01)
    return layer


class SelfCorrelation(nn.Module):
    """Cross-channel edges: each channel of a node is weighted by all its channels (Eqs. 1-3, less the residual)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.depthwise = nn.Parameter(torch.ones(channels))
        self.pointwise = linear(channels, channels, bias=True)

    def channel_weights(self, nodes: Tensor) -> Tensor:
        """w̄ (B, N, C): each node's channel weights, which sum to 1."""
        w = self.pointwise(nodes * self.depthwise)  # Eq. 1   (B, N, C), a separable 1-D convolution
        return w.softmax(dim=-1)  # Eq. 2

    def forward(self, nodes: Tensor, neighbours: Tensor | None = None) -> Tensor:
        """The update w̄ ⊙ V⁽⁰⁾ of Eq. 3, (B, N, C)."""
        return self.channel_weights(nodes) * nodes

    def explain(self, nodes: Tensor, neighbours: Tensor, chosen: Tensor) -> dict[str, Tensor]:
        """The channel weights of the chosen nodes (B, S)."""
        return {"channel_weights": self.channel_weights(gather_nodes(nodes, chosen))}

    def macs(self, nodes: int, neighbours: int) -> int:
        """Multiply-accumulates for ``nodes`` nodes: depthwise, pointwise, product."""
        C = self.depthwise.numel()
        return nodes * (C + C * C + C)


class LocalCorrelation(nn.Module):
    """Local edges inside each dilated K-nearest-neighbour graph (Eqs. 4-8)."""

    def __init__(self, channels: int, reduction: int) -> None:
        super().__init__()
        self.theta = projection(channels, reduction, bias=True)
        self.phi = projection(channels, reduction, bias=False)  # the softmax would cancel a bias

    def adjacency(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """m̄ (B, S, K, K): the pruned adjacency matrix of each graph; each row sums to 1."""
        V = gather_nodes(nodes, neighbours)  # V⁽ˡ⁾    (B, S, K, C)
        Q, X = self.theta(V), self.phi(V)  # Eq. 4   (B, S, K, C/r)
        m = Q @ X.mT  # Eq. 5   (B, S, K, K)
        return m.softmax(dim=-1)  # Eq. 6

    def as_printed(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """Eqs. 4-8 word for word, with θ and φ on K copies of each node."""
        V_up = self.adjacency(nodes, neighbours) @ gather_nodes(nodes, neighbours)  # Eq. 7   (B, N, K, C)
        return V_up.max(dim=-2).values  # Eq. 8   (B, N, C)

    def forward(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """V⁽¹⁾_up (B, N, C) from nodes (B, N, C) and neighbours (B, N, K)."""
        Q, X = self.theta(nodes), self.phi(nodes)  # Eq. 4, once a node: θ and φ see one node at a time
        return local_update(nodes, Q, X, neighbours)  # Eqs. 5-8

    def explain(self, nodes: Tensor, neighbours: Tensor, chosen: Tensor) -> dict[str, Tensor]:
        """The local graphs of the chosen nodes (B, S)."""
        around = gather_nodes(neighbours, chosen)
        return {"local_neighbours": around, "local_graph": self.adjacency(nodes, around)}

    def macs(self, nodes: int, neighbours: int) -> int:
        """Multiply-accumulates as printed, with ``neighbours`` = K."""
        R, C = self.phi.weight.shape
        K = neighbours
        return nodes * K * (2 * C * R + K * R + K * C)


class NonLocalCorrelation(nn.Module):
    """Non-local edges between all N nodes (Eqs. 9-12)."""

    def __init__(self, channels: int, reduction: int) -> None:
        super().__init__()
        self.theta = projection(channels, reduction, bias=True)
        self.phi = projection(channels, reduction, bias=False)  # the softmax would cancel a bias

    def adjacency_rows(self, nodes: Tensor, rows: Tensor) -> Tensor:
        """m̄⁽ᵍ⁾ (B, S, N) of the nodes numbered ``rows`` (B, S); each row sums to 1."""
        Q, X = self.theta(gather_nodes(nodes, rows)), self.phi(nodes)  # Eq. 9
        m = Q @ X.mT  # Eq. 10  (B, S, N)
        return m.softmax(dim=-1)  # Eq. 11

    def as_printed(self, nodes: Tensor) -> Tensor:
        """Eqs. 9-12 word for word, holding the N×N matrix."""
        every_node = torch.arange(nodes.shape[1], device=nodes.device).expand(len(nodes), -1)
        return self.adjacency_rows(nodes, every_node) @ nodes  # Eq. 12  (B, N, C)

    def forward(self, nodes: Tensor, neighbours: Tensor | None = None) -> Tensor:
        """V⁽²⁾_up (B, N, C), in memory linear in N."""
        return non_local_update(nodes, self.theta(nodes), self.phi(nodes))  # Eqs. 9-12

    def explain(self, nodes: Tensor, neighbours: Tensor, chosen: Tensor) -> dict[str, Tensor]:
        """The chosen nodes' rows of the N×N matrix."""
        return {"non_local_rows": self.adjacency_rows(nodes, chosen)}

    def macs(self, nodes: int, neighbours: int) -> int:
        """Multiply-accumulates for ``nodes`` nodes."""
        R, C = self.phi.weight.shape
        return nodes * (2 * C * R + nodes * R + nodes * C)


class LinearAggregation(nn.Module):
    """V + Σ α·update (Eq. 3): a residual connection with a learnable scale for each update."""

    def __init__(self, updates: int = 1) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(updates))  # at 0 the correlation would get no gradient

    def forward(self, nodes: Tensor, updates: Sequence[Tensor]) -> Tensor:
        """Nodes (B, N, C) and updates of the same shape → new nodes (B, N, C)."""
        for alpha, update in zip(self.alpha, updates, strict=True):
            nodes = nodes + alpha * update  # Eq. 3
        return nodes

    def macs(self, nodes: int, channels: int) -> int:
        """Multiply-accumulates for one cloud of ``nodes`` nodes."""
        return nodes * channels * self.alpha.numel()


class AdaptiveFeatureAggregation(nn.Module):
    """A gate for each channel that weighs nodes against their updates (Eqs. 13-16).

    With ``reduction=None`` the characteristics are parameter-free: the descriptors s themselves are gated.
    """

    def __init__(self, channels: int, reduction: int | None, updates: int = 1) -> None:
        super().__init__()
        self.branches = 1 + updates
        self.mlps = nn.ModuleList()
        if reduction is not None:
            for _ in range(self.branches):
                self.mlps.append(
                    nn.Sequential(
                        linear(channels, channels // reduction, bias=True),
                        nn.ELU(),
                        linear(channels // reduction, channels, bias=True),
                    )
                )

    def gates(self, nodes: Tensor, updates: Sequence[Tensor]) -> Tensor:
        """m (B, branches, C): the share of the nodes and of each update in every channel; branches sum to 1."""
        s = [branch.mean(dim=1) for branch in (nodes, *updates)]  # Eq. 13  (B, C) each
        z = [mlp(s_t) for mlp, s_t in zip(self.mlps, s, strict=True)] if self.mlps else s  # Eq. 14
        return torch.stack(z, dim=1).softmax(dim=1)  # Eq. 15

    def forward(self, nodes: Tensor, updates: Sequence[Tensor]) -> Tensor:
        """Nodes (B, N, C) and updates of the same shape → new nodes V⁽ᵘ⁾ (B, N, C)."""
        m = self.gates(nodes, updates)[:, :, None]  # (B, branches, 1, C)
        merged = m[:, 0] * nodes
        for t, update in enumerate(updates, start=1):
            merged = merged + m[:, t] * update  # Eq. 16
        return merged

    def macs(self, nodes: int, channels: int) -> int:
        """Multiply-accumulates for one cloud of ``nodes`` nodes."""
        mlps = sum(layer.weight.numel() for layer in self.mlps.modules() if isinstance(layer, nn.Linear))
        return mlps + nodes * channels * self.branches
