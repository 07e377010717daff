"""The Method section of the paper, Eqs. 1-16, in its order and notation.

Each correlation returns its *update* of the nodes; an aggregation merges nodes and updates. Shapes: B clouds, N nodes
per cloud, K neighbours, C channels, r the reduction rate. ``as_printed`` is a slow, literal form of the equations;
``forward`` is the fast form, and tests check that both are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from point2node.models.batch_norm import BatchNorm
from point2node.models.layers import fill_linear_, gather_nodes, linear
from point2node.models.operators.activation_norm import activate_and_normalise_
from point2node.models.operators.local_update import local_update
from point2node.models.operators.non_local_update import non_local_update
from point2node.models.point2node.design import DEFAULT, Design
from point2node.models.point2node.explanation import row_entropies

EVEN = 0.1
"""Standard deviation of the correlations m at the start "even"."""
ENTROPY_ROWS = 64
"""Rows of each cloud that the entropy is averaged over."""


class Projection(nn.Linear):
    """θ or φ of [Point2Node](https://arxiv.org/abs/1912.10775), Eqs. 4 and 9: a linear map to fewer channels.

        θ(v) = W v + b

    The softmax of Eqs. 6 and 11 has no scale. With Glorot's weights the correlations m have a standard deviation of
    about 1.8 √(C/r): each row then collapses onto a single random node and hardly recovers. With the start "even", m
    has a standard deviation of 0.1 for nodes of variance 1, at any width: at first every node attends to all others, as
    in the non-local networks that the module is based on.

    Args:
        channels: C.
        reduction: r.
        bias: whether to add b; batch norm replaces it.
        design: how W is initialised (``correlation_start``), and whether batch norm follows (``correlation_norm``).

    Shapes:
        - nodes: (…, C)
        - result: (…, C/r)
    """

    def __init__(self, channels: int, reduction: int, *, bias: bool, design: Design) -> None:
        super().__init__(channels, channels // reduction, bias=bias and not design.correlation_norm)
        fill_linear_(self)
        if design.correlation_start == "even" and not self.weight.is_meta:
            nn.init.normal_(self.weight, std=(EVEN / (channels * self.out_features**0.5)) ** 0.5)
        self.norm = BatchNorm(self.out_features) if design.correlation_norm else None

    def forward(self, nodes: Tensor) -> Tensor:
        """(…, C) → (…, C/r)."""
        projected = super().forward(nodes)
        return projected if self.norm is None else activate_and_normalise_(projected, self.norm, activation=False)


class _Correlation(nn.Module):
    """Base class of local and non-local correlation: θ, φ and the scale of their products."""

    def __init__(self, channels: int, reduction: int, design: Design = DEFAULT) -> None:
        super().__init__()
        self.theta = Projection(channels, reduction, bias=True, design=design)
        self.phi = Projection(channels, reduction, bias=False, design=design)  # the softmax would cancel a bias
        self.scale = self.theta.out_features**-0.5 if design.correlation_scale else None

    def share(self, other: _Correlation) -> None:
        """Use the θ and φ of ``other`` from now on; they remain its parameters, so they are counted once."""
        del self.theta, self.phi
        self.__dict__.update(theta=other.theta, phi=other.phi)  # bypasses nn.Module, which would list them twice

    def queries(self, nodes: Tensor) -> Tensor:
        """Compute Q of Eqs. 4 and 9, multiplied by the scale of the softmax, if any."""
        Q = self.theta(nodes)
        return Q if self.scale is None else Q * self.scale


class SelfCorrelation(nn.Module):
    """Cross-channel edges: each channel of a node is weighted by all its channels.

    Self correlation of [Point2Node](https://arxiv.org/abs/1912.10775), Eqs. 1-3 without the residual:

        w = MLP(v)
        w̄ = softmax over the C channels of w
        update = w̄ ⊙ v

    The MLP is a separable 1-D convolution: one weight for each channel, then a C × C map with a bias.

    Args:
        channels: C.

    Shapes:
        - nodes: (B, N, C)
        - update: (B, N, C)
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.depthwise = nn.Parameter(torch.ones(channels))
        self.pointwise = linear(channels, channels, bias=True)

    def channel_weights(self, nodes: Tensor) -> Tensor:
        """Compute w̄ (B, N, C): each node's channel weights, which sum to 1."""
        w = self.pointwise(nodes * self.depthwise)  # Eq. 1   (B, N, C), a separable 1-D convolution
        return w.softmax(dim=-1)  # Eq. 2

    def forward(self, nodes: Tensor, neighbours: Tensor | None = None) -> Tensor:
        """Compute the update w̄ ⊙ V⁽⁰⁾ of Eq. 3, (B, N, C)."""
        return self.channel_weights(nodes) * nodes

    def explain(self, nodes: Tensor, neighbours: Tensor, chosen: Tensor) -> dict[str, Tensor]:
        """Return the channel weights of the chosen nodes (B, S)."""
        return {"channel_weights": self.channel_weights(gather_nodes(nodes, chosen))}

    def macs(self, nodes: int, neighbours: int) -> int:
        """Count the multiply-accumulates for ``nodes`` nodes: depthwise, pointwise, product."""
        C = self.depthwise.numel()
        return nodes * (C + C * C + C)


class LocalCorrelation(_Correlation):
    """Local edges inside each dilated K-nearest-neighbour graph.

    Local correlation of [Point2Node](https://arxiv.org/abs/1912.10775), Eqs. 4-8, for the K neighbours V of a node:

        Q = θ(V),  X = φ(V)
        m̄ = softmax over each row of Q Xᵀ
        update = maximum over the K rows of m̄ V

    Args:
        channels: C.
        reduction: r; θ and φ map to C/r channels.
        design: how θ and φ start, whether they are normalised, and whether Q Xᵀ is scaled.

    Shapes:
        - nodes: (B, N, C)
        - neighbours: (B, N, K), node indices
        - update: (B, N, C)
    """

    def adjacency(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """Compute m̄ (B, S, K, K): the pruned adjacency matrix of each graph; each row sums to 1."""
        V = gather_nodes(nodes, neighbours)  # V⁽ˡ⁾    (B, S, K, C)
        Q, X = self.queries(V), self.phi(V)  # Eq. 4   (B, S, K, C/r)
        m = Q @ X.mT  # Eq. 5   (B, S, K, K)
        return m.softmax(dim=-1)  # Eq. 6

    def as_printed(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """Compute Eqs. 4-8 literally, with θ and φ on K copies of each node."""
        V_up = self.adjacency(nodes, neighbours) @ gather_nodes(nodes, neighbours)  # Eq. 7   (B, N, K, C)
        return V_up.max(dim=-2).values  # Eq. 8   (B, N, C)

    def forward(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """Compute V⁽¹⁾_up (B, N, C) from nodes (B, N, C) and neighbours (B, N, K)."""
        Q, X = self.queries(nodes), self.phi(nodes)  # Eq. 4, once per node: θ and φ see one node at a time
        return local_update(nodes, Q, X, neighbours)  # Eqs. 5-8

    def explain(self, nodes: Tensor, neighbours: Tensor, chosen: Tensor) -> dict[str, Tensor]:
        """Return the local graphs of the chosen nodes (B, S)."""
        around = gather_nodes(neighbours, chosen)
        return {"local_neighbours": around, "local_graph": self.adjacency(nodes, around)}

    def row_entropy(self, nodes: Tensor, neighbours: Tensor) -> float:
        """Return how evenly a node attends to the K nodes of its graph: mean entropy of the rows ÷ log K, 0 to 1."""
        return mean_entropy(self.adjacency(nodes, neighbours[:, :: _stride(nodes)]))

    def macs(self, nodes: int, neighbours: int) -> int:
        """Count the multiply-accumulates as printed, with ``neighbours`` = K."""
        R, C = self.phi.weight.shape
        K = neighbours
        return nodes * K * (2 * C * R + K * R + K * C)


class NonLocalCorrelation(_Correlation):
    """Non-local edges between all N nodes.

    Non-local correlation of [Point2Node](https://arxiv.org/abs/1912.10775), Eqs. 9-12, for all nodes V:

        Q = θ(V),  X = φ(V)
        m̄ = softmax over each row of Q Xᵀ
        update = m̄ V

    Args:
        channels: C.
        reduction: r; θ and φ map to C/r channels.
        design: how θ and φ start, whether they are normalised, and whether Q Xᵀ is scaled.

    Shapes:
        - nodes: (B, N, C)
        - update: (B, N, C)
    """

    def adjacency_rows(self, nodes: Tensor, rows: Tensor) -> Tensor:
        """Compute m̄⁽ᵍ⁾ (B, S, N) of the nodes with the indices ``rows`` (B, S); each row sums to 1."""
        Q, X = self.queries(gather_nodes(nodes, rows)), self.phi(nodes)  # Eq. 9
        m = Q @ X.mT  # Eq. 10  (B, S, N)
        return m.softmax(dim=-1)  # Eq. 11

    def as_printed(self, nodes: Tensor) -> Tensor:
        """Compute Eqs. 9-12 literally, storing the N×N matrix."""
        every_node = torch.arange(nodes.shape[1], device=nodes.device).expand(len(nodes), -1)
        return self.adjacency_rows(nodes, every_node) @ nodes  # Eq. 12  (B, N, C)

    def forward(self, nodes: Tensor, neighbours: Tensor | None = None) -> Tensor:
        """Compute V⁽²⁾_up (B, N, C), in memory linear in N."""
        return non_local_update(nodes, self.queries(nodes), self.phi(nodes))  # Eqs. 9-12

    def explain(self, nodes: Tensor, neighbours: Tensor, chosen: Tensor) -> dict[str, Tensor]:
        """Return the chosen nodes' rows of the N×N matrix."""
        return {"non_local_rows": self.adjacency_rows(nodes, chosen)}

    def row_entropy(self, nodes: Tensor, neighbours: Tensor) -> float:
        """Return how evenly a node attends to all N: mean entropy of the rows ÷ log N, from 0 (to one node) to 1."""
        rows = torch.arange(0, nodes.shape[1], _stride(nodes), device=nodes.device).expand(len(nodes), -1)
        return mean_entropy(self.adjacency_rows(nodes, rows))

    def macs(self, nodes: int, neighbours: int) -> int:
        """Count the multiply-accumulates for ``nodes`` nodes."""
        R, C = self.phi.weight.shape
        return nodes * (2 * C * R + nodes * R + nodes * C)


class GlobalAverage(nn.Module):
    """A control for non-local correlation, not in the paper: every node attends to all N nodes evenly.

    Nothing is learned:

        update = mean of the N nodes, the same for each of them

    Shapes:
        - nodes: (B, N, C)
        - update: (B, N, C)
    """

    def forward(self, nodes: Tensor, neighbours: Tensor | None = None) -> Tensor:
        """Compute the mean of the nodes and repeat it for each of them, (B, N, C)."""
        return nodes.mean(dim=1, keepdim=True).expand_as(nodes)

    def explain(self, nodes: Tensor, neighbours: Tensor, chosen: Tensor) -> dict[str, Tensor]:
        """Return the chosen nodes' rows of the N×N matrix, which are all the same."""
        N = nodes.shape[1]
        return {"non_local_rows": nodes.new_full((*chosen.shape, N), 1 / N)}

    def macs(self, nodes: int, neighbours: int) -> int:
        """Return 0: nothing is multiplied."""
        return 0


def mean_entropy(rows: Tensor) -> float:
    """Return the mean of ``row_entropies``."""
    return float(row_entropies(rows.detach()).mean())


def _stride(nodes: Tensor) -> int:
    """Return the step between the nodes that are sampled for the entropy."""
    return max(1, nodes.shape[1] // ENTROPY_ROWS)


class LinearAggregation(nn.Module):
    """A residual connection with a learned scale for each update.

    [Point2Node](https://arxiv.org/abs/1912.10775), Eq. 3, for one or several updates:

        V + Σ_t α_t update_t

    Args:
        updates: the number of updates.

    Shapes:
        - nodes: (B, N, C)
        - updates: a sequence of (B, N, C)
        - result: (B, N, C)
    """

    def __init__(self, updates: int = 1) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(updates))  # at 0 the correlation would get no gradient

    def forward(self, nodes: Tensor, updates: Sequence[Tensor]) -> Tensor:
        """Nodes (B, N, C) and updates of the same shape → new nodes (B, N, C)."""
        for alpha, update in zip(self.alpha, updates, strict=True):
            nodes = nodes + alpha * update  # Eq. 3
        return nodes

    def macs(self, nodes: int, channels: int) -> int:
        """Count the multiply-accumulates for one cloud of ``nodes`` nodes."""
        return nodes * channels * self.alpha.numel()


class AdaptiveFeatureAggregation(nn.Module):
    """A gate for each channel that weights the nodes and their updates.

    Adaptive feature aggregation of [Point2Node](https://arxiv.org/abs/1912.10775), Eqs. 13-16. The branches V_t are
    the nodes and each of their updates:

        s_t = mean of V_t over the nodes
        z_t = MLP_t(s_t)
        m = softmax of z over the branches
        V⁽ᵘ⁾ = Σ_t m_t ⊙ V_t

    Args:
        channels: C.
        reduction: r of the MLPs, C → C/r → C; None for the parameter-free form, z_t = s_t.
        updates: the number of updates.

    Shapes:
        - nodes: (B, N, C)
        - updates: a sequence of (B, N, C)
        - result: (B, N, C)
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
        """Compute m (B, branches, C): the share of the nodes and of each update in every channel; branches sum to 1."""
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
        """Count the multiply-accumulates for one cloud of ``nodes`` nodes."""
        mlps = sum(layer.weight.numel() for layer in self.mlps.modules() if isinstance(layer, nn.Linear))
        return mlps + nodes * channels * self.branches
