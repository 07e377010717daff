"""Neighbours and sampling against what users would use instead: ``python -m benchmarks geometry``."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from torch import Tensor

from benchmarks.measure import Row, alternate
from point2node.geometry.blocks import cut_blocks, voting_groups
from point2node.geometry.neighbours import k_nearest_neighbours, nearest_indices
from point2node.geometry.normals import LINE, find_normals, find_normals_in_torch
from point2node.geometry.pyramid import build_pyramid
from point2node.geometry.sampling import farthest_point_sampling, grid_sampling
from point2node.geometry.smoothing import spread, spread_in_torch
from point2node.kernels.calling import torch_only
from point2node.models.catalogue import create_model


def measure() -> list[Row]:
    generator = torch.Generator().manual_seed(0)
    clouds = torch.rand(8, 2048, 3, generator=generator)
    room = torch.rand(1_000_000, 3, generator=generator) * torch.tensor([8.0, 6.0, 3.0])
    return [
        *measure_neighbours(clouds, 8, bar=8),
        *measure_neighbours(clouds, 96, bar=2),
        measure_farthest_points(clouds, 768, bar=15),
        measure_grid(room, 0.05),
        measure_pyramids(surfaces(1_000_000)),
        measure_normals(surfaces(30_000)),
        measure_smoothing(surfaces(30_000)),
    ]


def measure_neighbours(clouds: Tensor, k: int, bar: float) -> list[Row]:
    seconds = alternate(
        {
            "ours": lambda: k_nearest_neighbours(clouds, clouds, k),
            "cdist": lambda: torch.cdist(clouds, clouds).topk(k, largest=False),
            "scipy": lambda: [cKDTree(xyz).query(xyz, k, workers=2) for xyz in clouds.numpy()],
        }
    )
    name = f"kNN, 8 clouds of 2048, k = {k}"
    return [
        Row(name, seconds["cdist"] / seconds["ours"], bar, "x faster than cdist + topk"),
        Row(name, seconds["scipy"] / seconds["ours"], None, "x faster than scipy cKDTree"),
    ]


def measure_farthest_points(clouds: Tensor, count: int, bar: float) -> Row:
    def in_torch() -> Tensor:
        with torch_only():
            return farthest_point_sampling(clouds, count)

    seconds = alternate(
        {
            "ours": lambda: farthest_point_sampling(clouds, count),
            "loop": in_torch,
        }
    )
    name = f"farthest points, 8 x {clouds.shape[1]} to {count}"
    return Row(name, seconds["loop"] / seconds["ours"], bar, "x faster than a torch loop", 30)


def measure_grid(room: Tensor, cell: float) -> Row:
    seconds = alternate(
        {
            "ours": lambda: grid_sampling(room, cell),
            "unique": lambda: unique_rows(room.numpy(), cell),
        }
    )
    name = f"grid of {len(room):,} points, {cell:g} m"
    return Row(name, seconds["unique"] / seconds["ours"], 30, "x faster than np.unique(axis=0)")


def surfaces(points: int) -> NDArray[np.float32]:
    """Sample points on the six sides of a box of 10 × 8 × 3 m and on planes in it, with 3 mm of noise."""
    random = np.random.default_rng(0)
    box = np.array([10.0, 8.0, 3.0])
    xyz = random.random((points, 3)) * box
    side, place = random.integers(0, 3, points), random.integers(0, 4, points) / 3
    xyz[np.arange(points), side] = place * box[side]
    return (xyz + random.normal(0, 0.003, xyz.shape)).astype(np.float32)


def measure_normals(room: NDArray[np.float32]) -> Row:
    """Measure fitting planes to given neighbours, as ``estimate_normals`` does."""
    points = torch.from_numpy(room)
    neighbours = nearest_indices(points[None], points[None], 16)[0]
    seconds = alternate(
        {
            "ours": lambda: find_normals(points.numpy(), neighbours.numpy(), LINE),
            "eigh": lambda: find_normals_in_torch(points, neighbours),
        }
    )
    return Row(f"normals of {len(room):,} points", seconds["eigh"] / seconds["ours"], 2, "x faster than torch's eigh")


def measure_smoothing(room: NDArray[np.float32]) -> Row:
    """Measure one round of averaging 13 probabilities over 24 neighbours along surfaces."""
    points = torch.from_numpy(room)
    values, weights = torch.rand(len(room), 13), torch.rand(len(room))
    neighbours = nearest_indices(points[None], points[None], 24)[0]
    links = neighbours.int().numpy()
    seconds = alternate(
        {
            "ours": lambda: spread(values.numpy(), weights.numpy(), links),
            "gather": lambda: spread_in_torch(values, neighbours, weights[neighbours]),
        }
    )
    name = f"smoothing of {len(room):,} points, one round"
    return Row(name, seconds["gather"] / seconds["ours"], 3, "x faster than gathering in torch")


def measure_pyramids(room: NDArray[np.float32]) -> Row:
    """Measure the whole geometry of labelling: blocks, groups of 2048 points, levels and neighbours."""
    plan = create_model(preset="rooms").plan

    def cut_and_build() -> int:
        random = np.random.default_rng(0)
        blocks = cut_blocks(room, 0.0, random)
        groups = np.concatenate([voting_groups(block, 2048, 1, random) for block in blocks])
        for batch in np.array_split(groups, -(-len(groups) // 8)):
            build_pyramid(torch.from_numpy(room[batch]), plan)
        return groups.size

    inputs = cut_and_build()
    seconds = alternate({"ours": cut_and_build}, rounds=3)["ours"]
    name = f"room of {len(room):,} points cut into groups of 2048 with pyramids"
    return Row(name, inputs / seconds / 1e3, 120, "thousand network inputs a second", 200)


def unique_rows(xyz: np.ndarray, cell: float) -> object:
    cells = np.floor((xyz - xyz.min(axis=0)) / cell).astype(np.int64)
    return np.unique(cells, axis=0, return_index=True, return_inverse=True)
