"""The non-local update: every node attends to every node of its cloud, exactly, in memory linear in N."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

COLUMNS = 2048
TILE = 1024 * COLUMNS
"""Correlations held at a time: 8 MB in float32. Large tiles, because each step below waits for all threads."""


def non_local_update(V: Tensor, Q: Tensor, X: Tensor) -> Tensor:
    """result = softmax(Q Xᵀ) V (Eqs. 9-12 without the projections), the softmax over all N nodes, unscaled.

    result[b, i] = Σ_j P[i, j] V[b, j] with P[i, j] = exp(Q[b, i] · X[b, j]) / Σ_j' exp(Q[b, i] · X[b, j'])

    Shapes: V (B, N, C), Q and X (B, N, R) → (B, N, C).
    """
    result: Tensor = _TiledNonLocalUpdate.apply(V, Q, X)  # type: ignore[no-untyped-call]
    return result


class _TiledNonLocalUpdate(torch.autograd.Function):
    """P in tiles: a running maximum and sum forward (online softmax), recomputed from its log-sum-exp backward."""

    @staticmethod
    def forward(ctx: Any, V: Tensor, Q: Tensor, X: Tensor) -> Tensor:
        out = torch.zeros_like(V, memory_format=torch.contiguous_format)
        log_sum = V.new_empty(*V.shape[:2], 1)
        scratch = V.new_empty(TILE)
        for rows in _row_tiles(*V.shape[:2]):
            result, largest = out[rows], V.new_full((1,), -torch.inf)
            total = V.new_zeros(1)
            for columns in _column_tiles(rows, V.shape[1]):
                S = _product(Q[rows], X[columns].mT, scratch)
                largest_so_far = torch.maximum(largest, S.amax(dim=-1, keepdim=True))
                shrink = (largest - largest_so_far).exp()  # what was summed up used the old maximum
                P = S.sub_(largest_so_far).exp_()
                total = total * shrink + P.sum(dim=-1, keepdim=True)
                result.mul_(shrink).baddbmm_(P, V[columns])
                largest = largest_so_far
            result.div_(total)
            log_sum[rows] = largest + total.log()
        ctx.save_for_backward(V, Q, X, out, log_sum)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """dV = Pᵀ·grad, dS = P ∘ (grad·Vᵀ − Δ) with Δ = Σ_c grad ∘ out, dQ = dS·X, dX = dSᵀ·Q."""
        V, Q, X, out, log_sum = ctx.saved_tensors
        d_V, d_Q, d_X = torch.zeros_like(V), torch.zeros_like(Q), torch.zeros_like(X)
        scratch, d_scratch = V.new_empty(TILE), V.new_empty(TILE)
        for rows in _row_tiles(*V.shape[:2]):
            delta = (grad[rows] * out[rows]).sum(dim=-1, keepdim=True)
            for columns in _column_tiles(rows, V.shape[1]):
                P = _product(Q[rows], X[columns].mT, scratch).sub_(log_sum[rows]).exp_()
                d_V[columns].baddbmm_(P.mT, grad[rows])
                d_S = _product(grad[rows], V[columns].mT, d_scratch).sub_(delta).mul_(P)
                d_Q[rows].baddbmm_(d_S, X[columns])
                d_X[columns].baddbmm_(d_S.mT, Q[rows])
        return d_V, d_Q, d_X


Tile = tuple[slice, slice]
"""Some clouds, and some of their nodes."""


def _row_tiles(B: int, N: int) -> Iterator[Tile]:
    """Whole clouds while their N × N correlations fit into a tile, else rows of one cloud."""
    rows = min(N, TILE // min(N, COLUMNS))
    clouds = max(1, TILE // (N * N))
    for b in range(0, B, clouds):
        for i in range(0, N, rows):
            yield slice(b, b + clouds), slice(i, i + rows)


def _column_tiles(rows: Tile, N: int) -> Iterator[Tile]:
    """The nodes that the rows attend to: all of the same clouds."""
    for j in range(0, N, COLUMNS):
        yield rows[0], slice(j, j + COLUMNS)


def _product(A: Tensor, A2: Tensor, scratch: Tensor) -> Tensor:
    """A @ A2, written into the scratch buffer: a fresh tensor for each tile would cost more than the product."""
    shape = A.shape[0], A.shape[1], A2.shape[2]
    return torch.bmm(A, A2, out=scratch[: shape[0] * shape[1] * shape[2]].view(shape))
