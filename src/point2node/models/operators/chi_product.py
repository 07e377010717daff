"""The χ product: weights and permutes K neighbours by a K × K matrix, then sums them with depthwise weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from point2node.kernels.calling import check_neighbours, check_shape, match_torch_threads, rows_of, use_kernels
from point2node.models.operators import chi_kernels


def chi_product(X: Tensor, nodes: Tensor, neighbours: Tensor, depthwise: Tensor) -> Tensor:
    """Compute steps 5 and 6 of χ-conv up to the pointwise map, on features gathered from nodes.

    T[b, p, k, c] = Σ_j X[b, p, k, j] · nodes[b, neighbours[b, p, j], c]
    result[b, p, c·m + i] = Σ_k T[b, p, k, c] · depthwise[k, c, i]

    Shapes: X (B, P, K, K), nodes (B, M, C), neighbours (B, P, K) int64, depthwise (K, C, m) → (B, P, C·m).
    """
    if use_kernels(X, nodes, depthwise):
        return _fused(X, nodes, neighbours, depthwise)
    clouds = torch.arange(nodes.shape[0], device=nodes.device)[:, None, None]
    return _multiply_and_sum(X, nodes[clouds, neighbours], depthwise)


def chi_product_edges(X: Tensor, edges: Tensor, depthwise: Tensor) -> Tensor:
    """Compute the χ product of features given for each edge: T[b, p, k, c] = Σ_j X[b, p, k, j] · edges[b, p, j, c].

    Shapes: X (B, P, K, K), edges (B, P, K, C), depthwise (K, C, m) → (B, P, C·m).
    """
    if use_kernels(X, edges, depthwise):
        B, P, K, C = edges.shape
        check_shape("X", X, (B, P, K, K))
        check_shape("depthwise", depthwise, (K, C, depthwise.shape[-1]))
        own = torch.empty(B, 0, K, dtype=torch.long)  # each edge is a node read by one point, in order
        result: Tensor = _FusedChiProduct.apply(X, edges.reshape(B, P * K, C), own, depthwise)  # type: ignore[no-untyped-call]
        return result
    return _multiply_and_sum(X, edges, depthwise)


def _multiply_and_sum(X: Tensor, F: Tensor, depthwise: Tensor) -> Tensor:
    """Compute the equations in torch, for features F (B, P, K, C)."""
    T = X @ F
    return torch.einsum("bpkc,kci->bpci", T, depthwise).flatten(-2)


def _fused(X: Tensor, nodes: Tensor, neighbours: Tensor, depthwise: Tensor) -> Tensor:
    (B, M, C), (_, P, K), m = nodes.shape, neighbours.shape, depthwise.shape[-1]
    check_shape("X", X, (B, P, K, K))
    check_shape("neighbours", neighbours, (B, P, K))
    check_shape("depthwise", depthwise, (K, C, m))
    check_neighbours(neighbours, M)
    result: Tensor = _FusedChiProduct.apply(X, nodes, neighbours, depthwise)  # type: ignore[no-untyped-call]
    return result


class _FusedChiProduct(torch.autograd.Function):
    """The χ product in one pass over the points forward and two backward; nothing of size P × K × C is stored."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, nodes: Tensor, neighbours: Tensor, depthwise: Tensor) -> Tensor:
        X, nodes, neighbours = X.contiguous(), nodes.contiguous(), neighbours.contiguous()
        depthwise = depthwise.permute(2, 0, 1).contiguous()  # (m, K, C): kernels read along channels
        ctx.save_for_backward(X, nodes, neighbours, depthwise)
        out = X.new_empty(*X.shape[:2], nodes.shape[-1] * len(depthwise))
        match_torch_threads()
        chi_kernels.forward(
            rows_of(X),
            rows_of(nodes),
            rows_of(neighbours),
            depthwise.detach().numpy(),
            len(X),
            (0,) * X.shape[-1],
            rows_of(out),
        )
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        X, nodes, neighbours, depthwise = ctx.saved_tensors
        needs_X, needs_nodes, _, needs_depthwise = ctx.needs_input_grad
        arrays = rows_of(nodes), rows_of(neighbours), depthwise.detach().numpy(), len(X)
        slots = (0,) * X.shape[-1]
        grad = grad.contiguous()
        d_X = d_nodes = d_depthwise = None
        match_torch_threads()
        if needs_nodes or needs_depthwise:
            on_edges = neighbours.shape[1] < X.shape[1]  # then each value of d_nodes is written once
            d_nodes = torch.empty_like(nodes) if on_edges else torch.zeros_like(nodes)
            per_cloud = depthwise.new_empty(len(X), *depthwise.shape)
            chi_kernels.feature_gradient(rows_of(grad), rows_of(X), *arrays, slots, rows_of(d_nodes), per_cloud.numpy())
            d_depthwise = per_cloud.sum(dim=0).permute(1, 2, 0)
        if needs_X:
            d_X = torch.empty_like(X)
            chi_kernels.matrix_gradient(rows_of(grad), *arrays, rows_of(d_X))
        return d_X, d_nodes, None, d_depthwise
