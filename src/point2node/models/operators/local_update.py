"""The local update: correlate the K neighbours of a node with each other, update them, keep the maximum."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from point2node.kernels.calling import (
    check_neighbours,
    check_shape,
    in_one_piece,
    match_torch_threads,
    rows_of,
    use_kernels,
)
from point2node.models.operators import local_evaluation_kernels, local_kernels

CHUNK = 1 << 23
"""Gathered values the torch form holds at a time: 32 MB in float32."""


def local_update(V: Tensor, Q: Tensor, X: Tensor, neighbours: Tensor) -> Tensor:
    """Eqs. 5-8 for nodes projected once each, Q = θ(V) and X = φ(V); n_1 … n_K are the neighbours of node i.

    m[x, y] = Q[n_x] · X[n_y]                                     Eq. 5
    m̄[x, y] = exp(m[x, y]) / Σ_y' exp(m[x, y'])                    Eq. 6
    V_up[x] = Σ_y m̄[x, y] V[n_y]                                  Eq. 7
    result[i, c] = max_x V_up[x, c]                               Eq. 8; the gradient goes to the first maximum

    Shapes: V (B, N, C), Q and X (B, N, R), neighbours (B, N, K) int64 → (B, N, C).
    """
    if use_kernels(V, Q, X) and neighbours.shape[-1] <= 256:  # the kernels number neighbours in one byte
        return _fused(V, Q, X, neighbours)
    if in_one_piece():
        return _update_chunk(V, Q, X, neighbours)
    nodes = max(1, CHUNK // (len(V) * neighbours.shape[-1] * V.shape[-1]))
    # Recomputed in the backward pass: else the gathered copies of every chunk would be kept, K times V.
    chunks = [
        checkpoint(_update_chunk, V, Q, X, part, use_reentrant=False, preserve_rng_state=False)
        for part in neighbours.split(nodes, dim=1)
    ]
    return torch.cat(chunks, dim=1)


def _update_chunk(V: Tensor, Q: Tensor, X: Tensor, neighbours: Tensor) -> Tensor:
    """The equations in torch for some of the nodes; neighbours (B, n, K) → (B, n, C)."""
    clouds = torch.arange(V.shape[0], device=V.device)[:, None, None]
    m = Q[clouds, neighbours] @ X[clouds, neighbours].mT
    V_up = m.softmax(dim=-1) @ V[clouds, neighbours]
    return V_up.max(dim=-2).values  # amax would share the gradient among equal maxima


def _fused(V: Tensor, Q: Tensor, X: Tensor, neighbours: Tensor) -> Tensor:
    (B, N, _), R, K = V.shape, Q.shape[-1], neighbours.shape[-1]
    check_shape("Q", Q, (B, N, R))
    check_shape("X", X, (B, N, R))
    check_shape("neighbours", neighbours, (B, N, K))
    check_neighbours(neighbours, N)
    result: Tensor = _FusedLocalUpdate.apply(V, Q, X, neighbours)  # type: ignore[no-untyped-call]
    return result


class _FusedLocalUpdate(torch.autograd.Function):
    """One pass over the nodes forward; backward only visits, for each channel, the neighbour that won the maximum."""

    @staticmethod
    def forward(ctx: Any, V: Tensor, Q: Tensor, X: Tensor, neighbours: Tensor) -> Tensor:
        V, Q, X, neighbours = V.contiguous(), Q.contiguous(), X.contiguous(), neighbours.contiguous()
        (B, N, C), K = V.shape, neighbours.shape[-1]
        out = torch.empty_like(V)
        match_torch_threads()
        arrays = rows_of(V), rows_of(Q), rows_of(X), rows_of(neighbours)
        if not any(ctx.needs_input_grad):
            local_evaluation_kernels.evaluate(*arrays, B, (0,) * K, rows_of(out))
            return out
        weights, winners = V.new_empty(B, N, K, K), torch.empty(B, N, C, dtype=torch.uint8)
        local_kernels.forward(*arrays, B, (0,) * K, rows_of(weights), rows_of(winners), rows_of(out))
        ctx.save_for_backward(V, Q, X, neighbours, weights, winners)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        V, Q, X, neighbours, weights, winners = ctx.saved_tensors
        B, K = V.shape[0], neighbours.shape[-1]
        needs_V, needs_Q, needs_X, _ = ctx.needs_input_grad
        grads, numbers = rows_of(grad.contiguous()), rows_of(neighbours)
        d_V = d_Q = d_X = None
        match_torch_threads()
        if needs_V:
            d_V = torch.zeros_like(V)
            local_kernels.value_gradient(grads, numbers, B, rows_of(weights), rows_of(winners), rows_of(d_V))
        if needs_Q or needs_X:
            d_logits = torch.empty_like(weights)
            local_kernels.logit_gradient(
                grads, rows_of(V), numbers, B, rows_of(weights), rows_of(winners), rows_of(d_logits)
            )
            d_Q, d_X = torch.zeros_like(Q), torch.zeros_like(X)
            local_kernels.projection_gradient(
                rows_of(Q), rows_of(X), numbers, B, (0,) * K, rows_of(d_logits), rows_of(d_Q), rows_of(d_X)
            )
        return d_V, d_Q, d_X, None
