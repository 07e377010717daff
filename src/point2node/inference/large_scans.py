"""Scans that are larger than memory: the network labels the mean points of small cubes, whose number depends on the
scan's surfaces only, and every point gets the label of its cube, piece by piece.

The more points a scan has, the farther its noise spreads from surfaces. Cubes that contain little but noise would make
every surface thicker, so the network does not see them, and they get the label of a neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.memory import held_memory, in_gigabytes, memory_limit
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats import Pieces, in_pieces
from point2node.inference.kept_work import KeptWork
from point2node.inference.labelled import LabelledCloud
from point2node.inference.output_rules import InputClasses, OutputRules

FINER = 2
"""Cubes have the side at which the network labels points, divided by this, so that few cubes contain two surfaces."""
FEW = 0.05
"""A cube with fewer points than this share of a neighbouring cube's contains noise, or the edge of a surface."""
FARTHEST = 1 << 20
"""The largest distance from the first point of a scan, in cubes: 15 km with cubes of 15 mm."""
COPIES, KEPT = 4, 200
"""Memory per point when a file is read, labelled and written at once: copies of its row, and additional bytes."""
MERGED = 4
"""How many copies of the cubes' data are held while two lists of cubes are merged."""
SAMPLE = 100_000

Keys = NDArray[np.int64]
Sums = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cubes:
    """The occupied cubes of a scan."""

    side: float
    """The side of a cube in the unit of the file."""
    origin: NDArray[np.float64]
    """(3,) the origin of the grid of cubes."""
    keys: Keys
    """(M,) the key of each cube's position, ascending."""
    counts: NDArray[np.float64]
    """(M,) the number of points in each cube."""
    shown: NDArray[np.int64]
    """(M,) the index of the point in ``cloud`` that represents each cube."""
    cloud: PointCloud
    """(K,) mean points and mean colours of the cubes without a neighbour that has far more points."""

    @classmethod
    def from_arrays(cls, arrays: Sequence[Array], pieces: Pieces) -> Cubes:
        """Restore the cubes of a scan from the arrays of ``as_arrays``."""
        side, origin, keys, counts, shown, xyz, *rgb = arrays
        first = next(pieces.read())
        cloud = PointCloud(xyz, rgb=rgb[0] if rgb else None, unit=first.unit, origin=first.origin)
        return cls(float(side), origin, keys, counts, shown, cloud)

    def as_arrays(self) -> list[Array]:
        """Return all fields as arrays that can be saved."""
        arrays = [np.array(self.side), self.origin, self.keys, self.counts, self.shown, self.cloud.xyz]
        return arrays if self.cloud.rgb is None else [*arrays, self.cloud.rgb]

    def find(self, xyz: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the index of the point in ``cloud`` that represents each point, (N,); −1 for none."""
        keys, inside = _keys_of(xyz, self.origin, self.side)
        found, number = np.unique(keys, return_inverse=True)
        places = np.minimum(np.searchsorted(self.keys, found), len(self.keys) - 1)
        known = np.where(self.keys[places] == found, self.shown[places], -1)
        numbers = np.full(len(xyz), -1, np.int64)
        numbers[inside] = known[number]
        return numbers


@dataclass(frozen=True, eq=False)
class LargeScan:
    """A scan that has only its cubes in memory."""

    pieces: Pieces
    cubes: Cubes
    kept: KeptWork | None = None
    """The store of finished work on it, if there is one."""

    def describe(self, labelled: LabelledCloud) -> LabelledCloud:
        """Add the size of the cubes and the number of points without a position to the protocol."""
        has_label = labelled.labels != labelled.unlabelled
        protocol = labelled.protocol | {
            "cubes": self.cubes.side * labelled.protocol["scale"],
            "points_without_position": self.pieces.points - int(self.cubes.counts[has_label[self.cubes.shown]].sum()),
        }
        return replace(labelled, protocol=protocol)

    def spread(self, labelled: LabelledCloud, rules: OutputRules | None) -> Iterator[LabelledCloud]:
        """Yield all points with the labels of their cubes piece by piece, with any rules applied."""
        unlabelled = np.int32(labelled.unlabelled)
        labels = np.append(labelled.labels, unlabelled)  # −1 is the last one
        confidence, entropy = np.append(labelled.confidence, np.float32(0)), np.append(labelled.entropy, np.float32(0))
        for cloud in self.pieces.read():
            number = self.cubes.find(cloud.xyz)
            piece = replace(
                labelled, cloud=cloud, labels=labels[number], confidence=confidence[number], entropy=entropy[number]
            )
            yield piece if rules is None else rules.apply(piece)


def pieces_if_large(path: Path, thin: float, limit: int | None) -> Pieces | None:
    """Open a scan for reading in pieces, if it does not fit into memory; None if that is not needed or not possible.

    Without ``thin`` the network labels every point, which is not possible in pieces.
    """
    pieces = in_pieces(path) if thin else None
    if pieces is None or pieces.points * (COPIES * pieces.row + KEPT) <= memory_limit(limit) - held_memory():
        return None
    return pieces


def check_rules(rules: OutputRules | None, name: str) -> None:
    """Raise InputError for rules that depend on the input's labels, which the cubes do not have."""
    if rules is not None and (rules.protect or isinstance(rules.within, InputClasses)):
        option = "--protect" if rules.protect else "--within class:"
        found = "one that is read in pieces"
        raise InputError(name, expected=f"a scan that fits into memory, for {option}", found=found)


def sample_pieces(pieces: Pieces) -> PointCloud:
    """Return points spread over the whole scan, or just its first piece if the file states its unit."""
    step = -(-pieces.points // SAMPLE)
    taken = []
    for piece in pieces.read():
        if piece.unit is not None:
            return piece
        taken.append(piece.xyz[::step].copy())  # a view would keep the whole piece in memory
    return PointCloud(np.concatenate(taken) if taken else np.empty((0, 3)))


def survey(pieces: Pieces, side: float, name: str, limit: int | None) -> Cubes:
    """Find the cubes of ``side`` (in the unit of the file) that contain points; at least one must have a position."""
    origin: NDArray[np.float64] | None = None
    known, first = _CubeSums(name, memory_limit(limit)), None
    for piece in pieces.read():
        if first is None:
            first = piece[:0].with_(origin=piece.origin)
        if origin is None:
            placed = piece.xyz[np.isfinite(piece.xyz).all(axis=1)]
            if not len(placed):
                continue
            origin = placed[0].copy()
        keys, inside = _keys_of(piece.xyz, origin, side)
        values = [*(piece.xyz[inside] - origin).T, *(piece.rgb[inside].T if piece.rgb is not None else ())]
        known.add(keys, values)
    if origin is None or first is None:
        found = f"{pieces.points:,} points, all of them NaN or infinite"
        raise InputError(name, expected="at least one point with a position", found=found)
    keys, counts, sums = known.all()
    stands = _fullest_near(keys, counts)
    kept, shown = np.unique(stands, return_inverse=True)
    means = sums[:, kept] / counts[kept]
    rgb = np.rint(means[3:]).astype(np.uint8).T if first.rgb is not None else None
    cloud = PointCloud(means[:3].T + origin, rgb=rgb, unit=first.unit, origin=first.origin)
    return Cubes(side, origin, keys, counts, shown, cloud)


def _fullest_near(keys: Keys, counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the cube that represents each cube, (M,): itself, or for one with few points its fullest neighbour of 26.

    If that neighbour has few points too, the cube that represents it.
    """
    fullest = np.arange(len(keys))
    for x, y, z in product((-1, 0, 1), repeat=3):
        wanted = keys + ((x << 42) + (y << 21) + z)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        fuller = (keys[places] == wanted) & (counts[places] > counts[fullest])
        fullest[fuller] = places[fuller]
    stands = np.where(counts < FEW * counts[fullest], fullest, np.arange(len(keys)))
    while not np.array_equal(further := stands[stands], stands):  # that one may have a far fuller neighbour itself
        stands = further
    return stands


def _keys_of(xyz: NDArray[np.float64], origin: NDArray[np.float64], side: float) -> tuple[Keys, NDArray[np.int64]]:
    """Return the key of each point's cube, and the indices of the points that have one: finite and not too far away."""
    with np.errstate(invalid="ignore", over="ignore"):
        places = np.floor((xyz - origin) / side)
        inside = np.flatnonzero((np.abs(places) < FARTHEST).all(axis=1))  # False for NaN
    x, y, z = (places[inside] + FARTHEST).astype(np.int64).T
    return (x << 42) | (y << 21) | z, inside


class _CubeSums:
    """Counts the points in each cube and adds up their values."""

    def __init__(self, name: str, limit: int) -> None:
        self._name, self._limit = name, limit
        self._parts: list[tuple[Keys, Sums, Sums]] = []

    def add(self, keys: Keys, values: list[NDArray[np.generic]]) -> None:
        """Add points, given by the keys of their cubes and their values, each (N,)."""
        found, number = np.unique(keys, return_inverse=True)
        sums = [np.bincount(number, column, len(found)) for column in values]
        self._parts.append((found, np.bincount(number, minlength=len(found)).astype(np.float64), np.stack(sums)))
        first, *others = (len(part[0]) for part in self._parts)
        if sum(others) > first:  # so that each cube is sorted only a few times
            self.all()

    def all(self) -> tuple[Keys, Sums, Sums]:
        """Merge all cubes and return their keys (M,), ascending, counts (M,) and sums (C, M)."""
        rows = sum(part[0].nbytes + part[1].nbytes + part[2].nbytes for part in self._parts)
        if held_memory() + (MERGED - 1) * rows > self._limit:
            raise InputError(
                self._name,
                expected=f"a scan whose surfaces fit into {in_gigabytes(self._limit)}, as mean points of small cubes",
                found=f"{sum(len(part[0]) for part in self._parts):,} cubes before its end",
                remedy="Allow more with --memory, use a coarser --thin 0.1, or cut the scan into parts.",
            )
        if len(self._parts) > 1:
            keys, number = np.unique(np.concatenate([part[0] for part in self._parts]), return_inverse=True)
            columns = [*zip(*([part[1], *part[2]] for part in self._parts), strict=True)]
            counts, *sums = (np.bincount(number, np.concatenate(column), len(keys)) for column in columns)
            self._parts = [(keys, counts.astype(np.float64), np.stack(sums).astype(np.float64))]
        return self._parts[0]
