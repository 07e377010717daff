"""Exact nearest neighbours, plain and dilated, and values interpolated from them: a k-d tree on the CPU, else torch."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from point2node.core.errors import InputError
from point2node.geometry.coordinates import check_coordinates
from point2node.geometry.neighbour_kernels import build_trees, search_trees
from point2node.kernels.calling import match_torch_threads, use_kernels

TEMPORARY_BYTES = 64 * 2**20


def k_nearest_neighbours(queries: Tensor, points: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return distances and indices (B, Q, min(k, P)) of the points nearest to each query, in order.

    For query q of cloud b, the points p are ordered by (‖q − p‖², index of p) and the first min(k, P) kept.
    The k-d tree and brute force round the squared distance (dx² + dy²) + dz² in the given dtype, so they agree bit by
    bit; only among points tied for the last place, torch may keep another one.

    Args:
        queries: (B, Q, 3), float32 or float64.
        points: (B, P, 3), same dtype and device.
        k: how many neighbours; a query that is itself among the points is its own first neighbour.
    """
    _check_pair(queries, points)
    squares, indices = _search(queries, points, k)
    return squares.sqrt(), indices


def dilated_k_nearest_neighbours(queries: Tensor, points: Tensor, k: int, dilation: int = 1) -> Tensor:
    """Return indices (B, Q, K) of every D-th of the K·D nearest points of each query, at positions 0, D, 2D, …

    The receptive field grows with the dilation D. A cloud with P < K·D points has fewer than K·D neighbours;
    then its ordered list is cycled: position j·D mod P, so every entry is a real point.
    Arguments as for ``k_nearest_neighbours``.
    """
    _check_at_least_one("k", k)
    _check_at_least_one("dilation", dilation)
    return dilate(nearest_indices(queries, points, k * dilation), k, dilation)


def nearest_indices(queries: Tensor, points: Tensor, k: int, *, checked: bool = False) -> Tensor:
    """Return only the indices of ``k_nearest_neighbours``; ``checked`` coordinates are not checked again."""
    if not checked:
        _check_pair(queries, points)
    return _search(queries, points, k)[1]


def dilate(nearest: Tensor, k: int, dilation: int) -> Tensor:
    """Take every D-th of the nearest points (B, Q, at least K·D or all P): (B, Q, K), cycled if there are too few."""
    positions = torch.arange(0, k * dilation, dilation, device=nearest.device) % nearest.shape[2]
    return nearest[..., positions]


def _search(queries: Tensor, points: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return squared distances and indices (B, Q, k)."""
    _check_at_least_one("k", k)
    search = _search_by_tree if use_kernels(points) else _search_by_force
    return search(queries.detach(), points.detach(), min(k, points.shape[1]))


def _search_by_tree(queries: Tensor, points: Tensor, k: int) -> tuple[Tensor, Tensor]:
    match_torch_threads()
    trees = build_trees(points.contiguous().numpy())
    squares, indices = search_trees(queries.contiguous().numpy(), *trees, k)
    return torch.from_numpy(squares), torch.from_numpy(indices)


def _search_by_force(queries: Tensor, points: Tensor, k: int) -> tuple[Tensor, Tensor]:
    # three tensors of (B, chunk, P) exist at once: the sum, a difference and its square
    bytes_per_query = 3 * points.shape[0] * points.shape[1] * points.element_size()
    chunk = max(1, TEMPORARY_BYTES // max(1, bytes_per_query))
    parts = [_nearest_of_all(part, points, k) for part in queries.split(chunk, dim=1)]
    return torch.cat([squares for squares, _ in parts], 1), torch.cat([i for _, i in parts], 1)


def _nearest_of_all(queries: Tensor, points: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Find squared distances and indices of the k nearest among all Q·P pairs."""
    # axis by axis: cdist's matrix product loses digits far from the origin
    x, y, z = ((queries[:, :, None, axis] - points[:, None, :, axis]).square() for axis in range(3))
    squares, indices = ((x + y) + z).topk(k, largest=False)
    # topk leaves ties in any order: sort by index, then stably by distance
    indices, order = indices.sort()
    squares, order = squares.gather(-1, order).sort(stable=True)
    return squares, indices.gather(-1, order)


def _check_pair(queries: Tensor, points: Tensor) -> None:
    check_coordinates(queries, "queries")
    check_coordinates(points, "points")
    kinds = [f"{len(xyz)} clouds of {xyz.dtype} on {xyz.device}" for xyz in (queries, points)]
    if kinds[0] != kinds[1]:
        raise InputError("queries", expected=f"{kinds[1]}, as the points are", found=kinds[0])


def _check_at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise InputError(name, expected="a whole number of at least 1", found=str(value))


NEAREST = 3
"""Number of known points for each interpolated value."""
AT_ONCE = 1 << 16
"""Number of points in a piece."""


def interpolate(points: Tensor, values: Tensor, queries: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Interpolate values at the queries, in order; yields the slice of each piece and its values (M, C).

    With the distances dⱼ from a query to the three nearest points (or all if fewer), its value is
    Σⱼ wⱼ vⱼ with wⱼ = (1/dⱼ) / Σᵢ (1/dᵢ). At a known point it is exactly the known value.

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
        for place in range(1, k):  # avoids a large (M, K, C) tensor
            total += weights[:, place : place + 1] * values[nearest[:, place]]
        yield piece, total


def inverse_distance_weights(distances: Tensor) -> Tensor:
    """Return weights (M, K) proportional to 1/d, with rows that sum to 1; points at distance 0 get all the weight."""
    here = distances == 0
    inverse = 1 / distances.clamp_min(torch.finfo(distances.dtype).tiny)
    weights = torch.where(here.any(dim=1, keepdim=True), here.to(distances.dtype), inverse / inverse[:, :1])
    return weights / weights.sum(dim=1, keepdim=True)
