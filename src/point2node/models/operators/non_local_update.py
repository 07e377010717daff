"""The exact non-local update in memory linear in N: every node attends to every node of its cloud."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from point2node.kernels.calling import in_one_piece, match_torch_threads, rows_of, use_kernels
from point2node.models.operators.non_local_kernels import exponentiate, softmax_gradient

COLUMNS = 2048
TILE = 1024 * COLUMNS
"""Correlations stored at a time: 8 MB in float32. Tiles are large because each step below waits for all threads."""


def non_local_update(V: Tensor, Q: Tensor, X: Tensor) -> Tensor:
    """Compute softmax(Q Xᵀ) V (Eqs. 9-12 without the projections), with an unscaled softmax over all N nodes.

    result[b, i] = Σ_j P[i, j] V[b, j] with P[i, j] = exp(Q[b, i] · X[b, j]) / Σ_j' exp(Q[b, i] · X[b, j'])

    Shapes: V (B, N, C), Q and X (B, N, R) → (B, N, C). Inputs in half precision, as under autocast, are converted to
    single precision for the sums over all nodes.
    """
    wide = torch.promote_types(torch.promote_types(V.dtype, Q.dtype), torch.float32)
    widened = V.to(wide), Q.to(wide), X.to(wide)
    if in_one_piece():
        return _whole_update(*widened).to(V.dtype)
    result: Tensor = _TiledNonLocalUpdate.apply(*widened)  # type: ignore[no-untyped-call]
    return result.to(V.dtype)


def _whole_update(V: Tensor, Q: Tensor, X: Tensor) -> Tensor:
    """Compute the equation directly, storing all N × N correlations."""
    return (Q @ X.mT).softmax(dim=-1) @ V


class _TiledNonLocalUpdate(torch.autograd.Function):
    """P in tiles: computed by online softmax (running maximum and sum); recomputed from its log-sum-exp backward."""

    @staticmethod
    def forward(ctx: Any, V: Tensor, Q: Tensor, X: Tensor) -> Tensor:
        out = torch.zeros_like(V, memory_format=torch.contiguous_format)
        log_sum = V.new_empty(*V.shape[:2], 1)
        scratch = V.new_empty(TILE)
        for rows in _row_tiles(*V.shape[:2]):
            result = out[rows]
            largest = V.new_full((*result.shape[:2], 1), -torch.inf)
            total = torch.zeros_like(largest)
            for columns in _column_tiles(rows, V.shape[1]):
                P = _product(Q[rows], X[columns].mT, scratch)
                shrink = _exponentiate_(P, largest, total)
                result.mul_(shrink).baddbmm_(P, V[columns])
            result.div_(total)
            log_sum[rows] = largest + total.log()
        ctx.save_for_backward(V, Q, X, out, log_sum)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute dV = Pᵀ·grad, dS = P ∘ (grad·Vᵀ − Δ) with Δ = Σ_c grad ∘ out, dQ = dS·X, dX = dSᵀ·Q.

        All three are computed transposed (dVᵀ = gradᵀ·P and so on), because products with few rows are up to ten times
        as fast as those with few columns.
        """
        V, Q, X, out, log_sum = ctx.saved_tensors
        d_V, d_Q, d_X = (torch.zeros_like(part.mT, memory_format=torch.contiguous_format) for part in (V, Q, X))
        scratch, d_scratch = V.new_empty(TILE), V.new_empty(TILE)
        for rows in _row_tiles(*V.shape[:2]):
            delta = (grad[rows] * out[rows]).sum(dim=-1, keepdim=True)
            for columns in _column_tiles(rows, V.shape[1]):
                P = _product(Q[rows], X[columns].mT, scratch)
                d_S = _product(grad[rows], V[columns].mT, d_scratch)
                _differentiate_(P, d_S, log_sum[rows], delta)
                _transposed(d_V, columns).baddbmm_(grad[rows].mT, P)
                _transposed(d_Q, rows).baddbmm_(X[columns].mT, d_S.mT)
                _transposed(d_X, columns).baddbmm_(Q[rows].mT, d_S)
        return d_V.mT, d_Q.mT, d_X.mT


def _exponentiate_(S: Tensor, largest: Tensor, total: Tensor) -> Tensor:
    """Call ``non_local_kernels.exponentiate`` and return ``shrink``; S (B, rows, columns), the others (B, rows, 1)."""
    if use_kernels(S):
        shrink = torch.empty_like(largest)
        match_torch_threads()
        exponentiate(rows_of(S), _column(largest), _column(total), _column(shrink))
        return shrink
    new_largest = torch.maximum(largest, S.amax(dim=-1, keepdim=True))
    shrink = (largest - new_largest).exp()
    total.mul_(shrink).add_(S.sub_(new_largest).exp_().sum(dim=-1, keepdim=True))
    largest.copy_(new_largest)
    return shrink


def _differentiate_(S: Tensor, d_P: Tensor, log_sum: Tensor, delta: Tensor) -> None:
    """Call ``non_local_kernels.softmax_gradient``."""
    if use_kernels(S):
        match_torch_threads()
        softmax_gradient(rows_of(S), rows_of(d_P), _column(log_sum), _column(delta))
    else:
        S.sub_(log_sum).exp_()
        d_P.sub_(delta).mul_(S)


def _column(numbers: Tensor) -> npt.NDArray[Any]:
    """Return one number per row as an array; a view if contiguous, as everything that is written to is."""
    return numbers.detach().reshape(-1).numpy()  # type: ignore[no-any-return, unused-ignore]


Tile = tuple[slice, slice]
"""Indices of clouds, and of nodes in each."""


def _row_tiles(B: int, N: int) -> Iterator[Tile]:
    """Yield whole clouds if their N × N correlations fit into a tile, otherwise rows of one cloud."""
    rows = min(N, TILE // min(N, COLUMNS))
    clouds = max(1, TILE // (N * N))
    for b in range(0, B, clouds):
        for i in range(0, N, rows):
            yield slice(b, b + clouds), slice(i, i + rows)


def _transposed(gradient: Tensor, tile: Tile) -> Tensor:
    """Return the part of a transposed gradient (B, C, N) that belongs to a tile."""
    clouds, nodes = tile
    return gradient[clouds, :, nodes]


def _column_tiles(rows: Tile, N: int) -> Iterator[Tile]:
    """Yield the nodes that the rows attend to: all of the same clouds."""
    for j in range(0, N, COLUMNS):
        yield rows[0], slice(j, j + COLUMNS)


def _product(A: Tensor, A2: Tensor, scratch: Tensor) -> Tensor:
    """Compute A @ A2 in the scratch buffer: allocating a tensor for each tile would cost more than the product."""
    shape = A.shape[0], A.shape[1], A2.shape[2]
    return torch.bmm(A, A2, out=scratch[: shape[0] * shape[1] * shape[2]].view(shape))
