"""Values known at some points of a cloud, interpolated for others: piece by piece, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from point2node.geometry.neighbour_kernels import build_trees, search_trees
from point2node.geometry.neighbours import k_nearest_neighbours
from point2node.kernels.switch import use_kernels
from point2node.kernels.threads import match_torch_threads

NEAREST = 3
"""Known points that each value is interpolated from."""
AT_ONCE = 1 << 16
"""Points in a piece."""


def interpolate(points: Tensor, values: Tensor, queries: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """The values at the queries, in order: of each piece its place among the queries, and its values (M, C).

    With the distances dⱼ from a query to the three nearest points, or to all if there are fewer, its value is
    Σⱼ wⱼ vⱼ with wⱼ = (1/dⱼ) / Σᵢ (1/dᵢ). At a known point it is exactly the value known there.

    Args:
        points: (P, 3), at least one, where values are known.
        values: (P, C), such as probabilities.
        queries: (Q, 3), same dtype as the points.
    """
    k = min(NEAREST, len(points))
    trees = build_trees(points[None].contiguous().numpy()) if use_kernels(points, queries) else None
    for start in range(0, len(queries), AT_ONCE):
        piece = slice(start, min(start + AT_ONCE, len(queries)))
        if trees is None:
            found, indices = k_nearest_neighbours(queries[None, piece], points[None], k)
            distances, nearest = found[0], indices[0]
        else:
            match_torch_threads()
            squares, numbers = search_trees(queries[None, piece].contiguous().numpy(), *trees, k)
            distances, nearest = torch.from_numpy(squares[0]).sqrt(), torch.from_numpy(numbers[0])
        weights = inverse_distance_weights(distances).to(values.dtype)
        total = weights[:, :1] * values[nearest[:, 0]]
        for place in range(1, k):  # (M, K, C) would be larger than all else
            total += weights[:, place : place + 1] * values[nearest[:, place]]
        yield piece, total


def inverse_distance_weights(distances: Tensor) -> Tensor:
    """(M, K): weights in proportion to 1/d, each row summing to 1; points at distance 0 share all of it."""
    here = distances == 0
    inverse = 1 / distances.clamp_min(torch.finfo(distances.dtype).tiny)
    weights = torch.where(here.any(dim=1, keepdim=True), here.to(distances.dtype), inverse / inverse[:, :1])
    return weights / weights.sum(dim=1, keepdim=True)
