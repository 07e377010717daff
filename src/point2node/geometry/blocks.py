"""Cutting a room into the blocks that a network sees, as PointCNN's S3DIS preparation does."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.geometry.sampling import grid_sampling

Numbers = NDArray[np.int64]

MERGE_ORDER = ((0, 1), (1, 0), (0, -1), (-1, 0), (-1, 1), (1, 1), (1, -1), (-1, -1))
"""Where a small block looks for a larger neighbour, as steps in x and y."""


@dataclass(frozen=True)
class BlockRules:
    """The numbers of the cut; the defaults are PointCNN's for S3DIS and ScanNet."""

    side: float = 1.5
    """Columns of side × side metres over the full height."""
    grid: float = 0.03
    """Cells of this side in which density is evened."""
    max_points: int = 8192
    """Larger blocks are split at random into equal parts; blocks below a tenth of it join a neighbour."""

    def __post_init__(self) -> None:
        for name in ("side", "grid", "max_points"):
            if not getattr(self, name) > 0:
                raise InputError(f"blocks: {name}", expected="a number above 0", found=str(getattr(self, name)))


PAPER = BlockRules()


def cut_blocks(
    xyz: NDArray[np.floating], offset: float, random: np.random.Generator, rules: BlockRules = PAPER
) -> list[Numbers]:
    """The point numbers of each block of a room (N, 3); every point is in exactly one block, once or more.

    Columns are counted from the room's minimum corner minus ``offset`` (0 for the "zero" blocks, half a side for the
    "half" blocks). Where a cell of the fine grid holds fewer points than the mean cell of its block (truncated), its
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
    """Rules for thin clouds: the side is doubled until a column holds a quarter of a network's ``points`` on average.

    Otherwise most of what a network sees of a thin cloud would be copies of a few points.
    """
    side = rules.side
    lower = xyz[:, :2].min(axis=0) if len(xyz) else 0.0
    columns = _occupied((xyz[:, :2] - lower) / side)
    while len(columns) > 1 and len(xyz) < len(columns) * points / 4:
        side *= 2
        columns = _occupied(columns / 2)
    return replace(rules, side=side)


def _occupied(places: NDArray[np.floating]) -> NDArray[np.int64]:
    """The different cells (M, 2) of the unit grid in which places (N, 2) lie."""
    x, y = np.floor(places).astype(np.int64).T
    keys = np.unique(x * (y.max(initial=0) + 1) + y)
    return np.stack(np.divmod(keys, y.max(initial=0) + 1), axis=1)


def _cut_columns(xy: NDArray[np.floating], offset: float, side: float) -> dict[tuple[int, int], Numbers]:
    """The points of each column, by the column's place."""
    places = np.floor((xy - (xy.min(axis=0) - offset)) / side).astype(np.int64)
    rows = places[:, 1].max() + 1
    keys = places[:, 0] * rows + places[:, 1]
    order = _stable_order(keys)
    found, starts = np.unique(keys[order], return_index=True)
    columns = np.split(order, starts[1:])
    return {(int(key // rows), int(key % rows)): numbers for key, numbers in zip(found, columns, strict=True)}


def _merge_small(columns: dict[tuple[int, int], Numbers], threshold: float) -> list[Numbers]:
    """Give each column below the threshold to its first neighbour that was not; with none it stays."""
    large = {place for place, numbers in columns.items() if len(numbers) >= threshold}
    groups = {place: [numbers] for place, numbers in columns.items()}
    for x, y in sorted(columns.keys() - large):
        neighbour = next(((x + dx, y + dy) for dx, dy in MERGE_ORDER if (x + dx, y + dy) in large), None)
        if neighbour is not None:
            groups[neighbour] += groups.pop((x, y))
    return [np.concatenate(numbers) for numbers in groups.values()]


def _even_density(xyz: NDArray[np.floating], numbers: Numbers, grid: float, random: np.random.Generator) -> Numbers:
    """``numbers`` with those of thin cells repeated."""
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
    """The order that sorts keys ≥ 0, equal ones as they come; for 16-bit numbers numpy has a radix sort."""
    return np.argsort(keys.astype(np.uint16) if keys.max() < 2**16 else keys, kind="stable")


def training_group(numbers: Numbers, points: int, random: np.random.Generator) -> Numbers:
    """``points`` random points of a block; of a smaller block all of them once, the rest drawn with replacement."""
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
    """A block's numbers tiled to repeat × max_points, shuffled, as groups (groups, points).

    Not ``tiled``: only to the whole groups that hold every point ``repeat`` times.
    """
    groups = repeat * -(-rules.max_points // points) if tiled else -(-repeat * len(numbers) // points)
    return random.permutation(np.resize(numbers, groups * points)).reshape(groups, points)
