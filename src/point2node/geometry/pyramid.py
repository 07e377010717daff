"""The pyramid: levels of points and every neighbour index that a network needs, built outside the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from point2node.core.errors import InputError
from point2node.geometry.coordinates import check_coordinates
from point2node.geometry.neighbours import dilate, nearest_indices
from point2node.geometry.sampling import farthest_point_sampling, random_sampling

Sampling = Literal["farthest", "random"]


@dataclass(frozen=True)
class Search:
    """For each point of level ``queries``: ``neighbours`` points of level ``source``, every ``dilation``-th nearest."""

    neighbours: int
    dilation: int
    source: int
    queries: int

    @property
    def width(self) -> int:
        """The number of nearest points that the search needs."""
        return self.neighbours * self.dilation

    def is_part_of(self, other: Search) -> bool:
        """Return whether the other's lists contain this one's result: finer levels contain all points of a level."""
        return self.source == other.source and self.queries >= other.queries and self.width <= other.width


@dataclass(frozen=True)
class PyramidPlan:
    """The geometry that a network needs. Level 0 is all points; every other level is sampled from the previous one."""

    level_sizes: tuple[int | None, ...]  # None: as many as the level above
    sampling: Sampling
    encoder: tuple[Search, ...]
    decoder: tuple[Search, ...] = ()
    correlation: Search | None = None
    inner: tuple[Search, ...] = ()
    """Local graphs of the correlations inside feature extraction, at most one per level."""

    @property
    def searches(self) -> tuple[Search, ...]:
        """All searches of the plan."""
        return (*self.encoder, *self.decoder, *(() if self.correlation is None else (self.correlation,)), *self.inner)

    def sizes(self, points: int) -> tuple[int, ...]:
        """Return the number of points in each level for a cloud of ``points`` points."""
        sizes = [points]
        for size in self.level_sizes[1:]:
            sizes.append(sizes[-1] if size is None else size)
        return tuple(sizes)

    @property
    def fewest_points(self) -> int:
        """The smallest cloud that fills every level."""
        return max((size for size in self.level_sizes if size is not None), default=1)


@dataclass(frozen=True)
class Pyramid:
    """Levels of points with their neighbour indices, for a batch of B clouds of N points each.

    ``levels[l]`` are coordinates (B, P_l, 3); ``numbers[l]`` (B, P_l) are their indices in the input.
    ``encoder``, ``decoder``, ``correlation`` and ``inner`` are the results of the plan's searches: indices
    (B, queries, K) into the points of the search's source level.
    """

    levels: tuple[Tensor, ...]
    numbers: tuple[Tensor, ...]
    encoder: tuple[Tensor, ...]
    decoder: tuple[Tensor, ...]
    correlation: Tensor | None
    inner: tuple[Tensor, ...] = ()

    def to(self, device: torch.device | str) -> Pyramid:
        """Move the pyramid to another device."""

        def move(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            return tuple(move_tensor(tensor, device) for tensor in tensors)

        correlation = None if self.correlation is None else move_tensor(self.correlation, device)
        return Pyramid(
            move(self.levels),
            move(self.numbers),
            move(self.encoder),
            move(self.decoder),
            correlation,
            move(self.inner),
        )


def move_tensor(tensor: Tensor, device: torch.device | str) -> Tensor:
    """Move a tensor to a device, without waiting unless it is a CPU, which does not order its work."""
    return tensor.to(device, non_blocking=torch.device(device).type != "cpu")


def build_pyramid(xyz: Tensor, plan: PyramidPlan, *, seed: int = 0) -> Pyramid:
    """Sample the levels of ``plan`` from ``xyz`` (B, N, 3) and run its searches.

    Coordinates keep their frame and dtype: networks need float32, so shift map coordinates first
    (``shift_to_float32``). ``seed`` affects only random sampling, whose order depends on it and on N,
    so that a cloud gives the same pyramid in any batch.
    """
    check_coordinates(xyz)
    if xyz.shape[1] < plan.fewest_points:
        raise InputError(
            "xyz",
            expected=f"at least {plan.fewest_points} points in a cloud, as many as the largest sampled level holds",
            found=str(xyz.shape[1]),
            remedy="Repeat points up to that number, or choose a smaller preset such as 'tiny'.",
        )
    generator = torch.Generator().manual_seed(seed)
    levels: list[Tensor] = [xyz]
    chosen: list[Tensor] = []
    for size in plan.level_sizes[1:]:
        above = levels[-1]
        if size is None or size == above.shape[1]:
            chosen.append(_all_numbers(above))
        elif plan.sampling == "farthest":
            chosen.append(farthest_point_sampling(above, size))
        else:
            chosen.append(random_sampling(above.shape[1], size, generator).to(xyz.device).expand(len(xyz), -1))
        levels.append(above.gather(1, chosen[-1][..., None].expand(-1, -1, 3)))
    found = _answer(plan.searches, levels, chosen)
    return Pyramid(
        levels=tuple(levels),
        numbers=tuple(_places(levels, chosen, 0, level) for level in range(len(levels))),
        encoder=tuple(found[search] for search in plan.encoder),
        decoder=tuple(found[search] for search in plan.decoder),
        correlation=None if plan.correlation is None else found[plan.correlation],
        inner=tuple(found[search] for search in plan.inner),
    )


def _answer(searches: Sequence[Search], levels: Sequence[Tensor], chosen: Sequence[Tensor]) -> dict[Search, Tensor]:
    """Find the neighbours of every search. The widest run first, so that others can often reuse their lists."""
    lists: dict[Search, Tensor] = {}
    found: dict[Search, Tensor] = {}
    for search in sorted(searches, key=lambda search: (-search.width, search.queries)):
        wider = next((other for other in lists if search.is_part_of(other)), None)
        if wider is None:
            nearest = nearest_indices(levels[search.queries], levels[search.source], search.width, checked=True)
            lists[search] = nearest
        else:
            nearest = lists[wider]
            if search.queries > wider.queries:
                rows = _places(levels, chosen, wider.queries, search.queries)
                nearest = nearest.gather(1, rows[..., None].expand(-1, -1, nearest.shape[-1]))
        found[search] = dilate(nearest, search.neighbours, search.dilation)
    return found


def _places(levels: Sequence[Tensor], chosen: Sequence[Tensor], finer: int, level: int) -> Tensor:
    """Return the indices (B, P) of a level's points in a finer level; ``chosen`` has them level by level."""
    places = _all_numbers(levels[finer])
    for step in chosen[finer:level]:
        places = places.gather(1, step)
    return places


def _all_numbers(points: Tensor) -> Tensor:
    return torch.arange(points.shape[1], device=points.device).expand(len(points), -1)
