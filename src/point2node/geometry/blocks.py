"""Cutting of a room into the blocks that a network sees, as in PointCNN's S3DIS preparation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.geometry.sampling import grid_sampling

Numbers = NDArray[np.int64]

MERGE_ORDER = ((0, 1), (1, 0), (0, -1), (-1, 0), (-1, 1), (1, 1), (1, -1), (-1, -1))
"""The order in which a small block looks for a larger neighbour, as steps in x and y."""


@dataclass(frozen=True)
class BlockRules:
    """The parameters of the cut; the defaults are PointCNN's for S3DIS and ScanNet."""

    side: float = 1.5
    """Columns of side × side metres over the full height."""
    grid: float = 0.03
    """Side of the cells in which density is evened out."""
    max_points: int = 8192
    """Larger blocks are split at random into equal parts; blocks below a tenth of it are merged with a neighbour."""

    def __post_init__(self) -> None:
        for name in ("side", "grid", "max_points"):
            if not getattr(self, name) > 0:
                raise InputError(f"blocks: {name}", expected="a number above 0", found=str(getattr(self, name)))


PAPER = BlockRules()


def cut_blocks(
    xyz: NDArray[np.floating], offset: float, random: np.random.Generator, rules: BlockRules = PAPER
) -> list[Numbers]:
    """Return the point indices of each block of a room (N, 3); every point is in exactly one block, once or more.

    Columns start at the room's minimum corner minus ``offset`` (0 for the "zero" blocks, half a side for the
    "half" blocks). If a cell of the fine grid has fewer points than the mean cell of its block (truncated), its
    points are repeated up to that number: all equally often, the rest drawn at random.
    """
    if not len(xyz):
        return []
    columns = _merge_small(_cut_columns(xyz[:, :2], offset, rules.side), rules.max_points / 10)
    parts: list[Numbers] = []
    for numbers in columns:
        evened = random.permutation(_even_density(xyz[numbers], numbers, rules.grid, random))
        parts += np.array_split(evened, -(-len(evened) // rules.max_points))
    return parts


def widen(rules: BlockRules, xyz: NDArray[np.floating], points: int) -> BlockRules:
    """Double the side for sparse clouds until a column has a quarter of a network's ``points`` on average.

    Otherwise most of a network's input from a sparse cloud would be copies of a few points.
    """
    side = rules.side
    lower = xyz[:, :2].min(axis=0) if len(xyz) else 0.0
    columns = _occupied((xyz[:, :2] - lower) / side)
    while len(columns) > 1 and len(xyz) < len(columns) * points / 4:
        side *= 2
        columns = _occupied(columns / 2)
    return replace(rules, side=side)


def _occupied(places: NDArray[np.floating]) -> NDArray[np.int64]:
    """Return the distinct cells (M, 2) of the unit grid that contain positions (N, 2)."""
    x, y = np.floor(places).astype(np.int64).T
    keys = np.unique(x * (y.max(initial=0) + 1) + y)
    return np.stack(np.divmod(keys, y.max(initial=0) + 1), axis=1)


def _cut_columns(xy: NDArray[np.floating], offset: float, side: float) -> dict[tuple[int, int], Numbers]:
    """Return the points of each column, by the column's position."""
    places = np.floor((xy - (xy.min(axis=0) - offset)) / side).astype(np.int64)
    rows = places[:, 1].max() + 1
    keys = places[:, 0] * rows + places[:, 1]
    order = _stable_order(keys)
    found, starts = np.unique(keys[order], return_index=True)
    columns = np.split(order, starts[1:])
    return {(int(key // rows), int(key % rows)): numbers for key, numbers in zip(found, columns, strict=True)}


def _merge_small(columns: dict[tuple[int, int], Numbers], threshold: float) -> list[Numbers]:
    """Merge each column below the threshold with its first neighbour above it, if there is one."""
    large = {place for place, numbers in columns.items() if len(numbers) >= threshold}
    groups = {place: [numbers] for place, numbers in columns.items()}
    for x, y in sorted(columns.keys() - large):
        neighbour = next(((x + dx, y + dy) for dx, dy in MERGE_ORDER if (x + dx, y + dy) in large), None)
        if neighbour is not None:
            groups[neighbour] += groups.pop((x, y))
    return [np.concatenate(numbers) for numbers in groups.values()]


def _even_density(xyz: NDArray[np.floating], numbers: Numbers, grid: float, random: np.random.Generator) -> Numbers:
    """Return ``numbers`` with the points of sparse cells repeated."""
    _, cell = grid_sampling(torch.from_numpy(np.ascontiguousarray(xyz)), grid)
    shuffled = random.permutation(len(numbers))
    by_cell = shuffled[_stable_order(cell.numpy()[shuffled])]  # cell by cell, in random order within
    counts = np.bincount(cell.numpy())
    mean = len(numbers) // len(counts)
    of_point = np.repeat(counts, counts)
    rank = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    copies = np.maximum(1, mean // of_point + (rank < mean % of_point))
    copies[of_point >= mean] = 1
    return np.repeat(numbers[by_cell], copies)


def _stable_order(keys: Numbers) -> Numbers:
    """Return the stable order that sorts keys ≥ 0; for 16-bit numbers numpy uses a fast radix sort."""
    return np.argsort(keys.astype(np.uint16) if keys.max() < 2**16 else keys, kind="stable")


def training_group(numbers: Numbers, points: int, random: np.random.Generator) -> Numbers:
    """Draw ``points`` random points of a block; from a smaller block all once, and the rest with replacement."""
    if len(numbers) >= points:
        return random.choice(numbers, points, replace=False)
    return random.permutation(np.concatenate([numbers, random.choice(numbers, points - len(numbers))]))


def voting_groups(
    numbers: Numbers,
    points: int,
    repeat: int,
    random: np.random.Generator,
    rules: BlockRules = PAPER,
    *,
    tiled: bool = True,
) -> Numbers:
    """Tile a block's indices to repeat × max_points, shuffle them, and split them into groups (groups, points).

    If not ``tiled``, there are only as many groups as are needed to contain every point ``repeat`` times.
    """
    groups = repeat * -(-rules.max_points // points) if tiled else -(-repeat * len(numbers) // points)
    return random.permutation(np.resize(numbers, groups * points)).reshape(groups, points)
