"""Neighbours and sampling against what users would pick instead: ``python -m benchmarks.geometry``."""

from __future__ import annotations

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor

from benchmarks.measure import Row, alternate, write_rows
from point2node.geometry.neighbours import k_nearest_neighbours
from point2node.geometry.sampling import farthest_point_sampling, grid_sampling


def measure() -> list[Row]:
    generator = torch.Generator().manual_seed(0)
    clouds = torch.rand(8, 2048, 3, generator=generator)
    room = torch.rand(1_000_000, 3, generator=generator) * torch.tensor([8.0, 6.0, 3.0])
    return [
        *measure_neighbours(clouds, 8, bar=8),
        *measure_neighbours(clouds, 96, bar=2),
        measure_farthest_points(clouds, 768, bar=15),
        measure_grid(room, 0.05),
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
    seconds = alternate(
        {
            "ours": lambda: farthest_point_sampling(clouds, count),
            "loop": lambda: farthest_point_sampling(clouds, count, path="torch"),
        }
    )
    name = f"farthest points, 8 x {clouds.shape[1]} to {count}"
    return Row(name, seconds["loop"] / seconds["ours"], bar, "x faster than a torch loop")


def measure_grid(room: Tensor, cell: float) -> Row:
    seconds = alternate(
        {
            "ours": lambda: grid_sampling(room, cell),
            "unique": lambda: unique_rows(room.numpy(), cell),
        }
    )
    name = f"grid of {len(room):,} points, {cell:g} m"
    return Row(name, seconds["unique"] / seconds["ours"], 30, "x faster than np.unique(axis=0)")


def unique_rows(xyz: np.ndarray, cell: float) -> object:
    cells = np.floor((xyz - xyz.min(axis=0)) / cell).astype(np.int64)
    return np.unique(cells, axis=0, return_index=True, return_inverse=True)


def main() -> None:
    write_rows("geometry", measure())


if __name__ == "__main__":
    main()
