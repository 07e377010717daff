"""Scans that are larger than memory: the network is shown the mean points of small cubes, of which there are as many as
the scan's surfaces need, and every point gets the label of its cube, piece by piece.

The more points a scan has, the farther out lie the few that its noise carries away from surfaces. Cubes that hold
little else would make every surface thick, so they are not shown, and get the label of a neighbour.
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
"""Cubes have the side at which the network labels points, divided by this, so that a cube seldom holds two surfaces."""
FEW = 0.05
"""A cube with fewer points than this share of those in a neighbouring cube holds noise, or the edge of a surface."""
FARTHEST = 1 << 20
"""Cubes between the first point and the farthest one that can be labelled: 15 km of 15 mm each."""
COPIES, KEPT = 4, 200
"""Of a point of the file, while all of them are read, labelled and written at once; and bytes for each beside that."""
MERGED = 4
"""How many times what is known of the cubes is held while two lists of them are made one."""
SAMPLE = 100_000

Keys = NDArray[np.int64]
Sums = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cubes:
    """The occupied cubes of a scan."""

    side: float
    """In the unit of the file."""
    origin: NDArray[np.float64]
    """(3,), from where they are counted."""
    keys: Keys
    """(M,) where each is, ascending."""
    counts: NDArray[np.float64]
    """(M,) how many points lie in each."""
    shown: NDArray[np.int64]
    """(M,) which of the points in ``cloud`` stands for each."""
    cloud: PointCloud
    """(K,) mean points and mean colours: of cubes that have no neighbour with far more points."""

    @classmethod
    def from_arrays(cls, arrays: Sequence[Array], pieces: Pieces) -> Cubes:
        """The cubes of a scan from what ``as_arrays`` gave."""
        side, origin, keys, counts, shown, xyz, *rgb = arrays
        first = next(pieces.read())
        cloud = PointCloud(xyz, rgb=rgb[0] if rgb else None, unit=first.unit, origin=first.origin)
        return cls(float(side), origin, keys, counts, shown, cloud)

    def as_arrays(self) -> list[Array]:
        """All that was found out about the scan."""
        arrays = [np.array(self.side), self.origin, self.keys, self.counts, self.shown, self.cloud.xyz]
        return arrays if self.cloud.rgb is None else [*arrays, self.cloud.rgb]

    def find(self, xyz: NDArray[np.float64]) -> NDArray[np.int64]:
        """(N,): which of the points in ``cloud`` stands for each point; −1 where there is none."""
        keys, inside = _keys_of(xyz, self.origin, self.side)
        found, number = np.unique(keys, return_inverse=True)
        places = np.minimum(np.searchsorted(self.keys, found), len(self.keys) - 1)
        known = np.where(self.keys[places] == found, self.shown[places], -1)
        numbers = np.full(len(xyz), -1, np.int64)
        numbers[inside] = known[number]
        return numbers


@dataclass(frozen=True, eq=False)
class LargeScan:
    """A scan of which only the cubes are in memory."""

    pieces: Pieces
    cubes: Cubes
    kept: KeptWork | None = None
    """Where finished work on it is kept, if it is."""

    def describe(self, labelled: LabelledCloud) -> LabelledCloud:
        """The labelled cubes, with how they stand for the points in their protocol."""
        has_label = labelled.labels != labelled.unlabelled
        protocol = labelled.protocol | {
            "cubes": self.cubes.side * labelled.protocol["scale"],
            "points_without_position": self.pieces.points - int(self.cubes.counts[has_label[self.cubes.shown]].sum()),
        }
        return replace(labelled, protocol=protocol)

    def spread(self, labelled: LabelledCloud, rules: OutputRules | None) -> Iterator[LabelledCloud]:
        """All points with the labels of their cubes, by the rules if any, piece by piece."""
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
    """The scan for reading in pieces, if it does not fit into memory; None where that is not needed, or not possible.

    Without ``thin`` every point is to be shown to the network: that is not possible in pieces.
    """
    pieces = in_pieces(path) if thin else None
    if pieces is None or pieces.points * (COPIES * pieces.row + KEPT) <= memory_limit(limit) - held_memory():
        return None
    return pieces


def check_rules(rules: OutputRules | None, name: str) -> None:
    """Refuse rules that look at labels which the scan came with: of the cubes none are known."""
    if rules is not None and (rules.protect or isinstance(rules.within, InputClasses)):
        option = "--protect" if rules.protect else "--within class:"
        found = "one that is read in pieces"
        raise InputError(name, expected=f"a scan that fits into memory, for {option}", found=found)


def sample_pieces(pieces: Pieces) -> PointCloud:
    """Points from all over the scan; where the file says the unit, its first piece, for the sake of that."""
    step = -(-pieces.points // SAMPLE)
    taken = []
    for piece in pieces.read():
        if piece.unit is not None:
            return piece
        taken.append(piece.xyz[::step].copy())  # a view would hold the whole piece
    return PointCloud(np.concatenate(taken) if taken else np.empty((0, 3)))


def survey(pieces: Pieces, side: float, name: str, limit: int | None) -> Cubes:
    """The cubes of ``side`` that the points lie in, in the unit of the file; at least one must have a position."""
    origin: NDArray[np.float64] | None = None
    known, first = _Known(name, memory_limit(limit)), None
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
    """(M,): itself for most cubes; for one with few points the fullest of the 26 around it, or what stands for that."""
    fullest = np.arange(len(keys))
    for x, y, z in product((-1, 0, 1), repeat=3):
        wanted = keys + ((x << 42) + (y << 21) + z)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        fuller = (keys[places] == wanted) & (counts[places] > counts[fullest])
        fullest[fuller] = places[fuller]
    stands = np.where(counts < FEW * counts[fullest], fullest, np.arange(len(keys)))
    while not np.array_equal(further := stands[stands], stands):  # that one may have a far fuller neighbour, too
        stands = further
    return stands


def _keys_of(xyz: NDArray[np.float64], origin: NDArray[np.float64], side: float) -> tuple[Keys, NDArray[np.int64]]:
    """One number for each cube that points lie in, and which points have one: a position, and not too far away."""
    with np.errstate(invalid="ignore", over="ignore"):
        places = np.floor((xyz - origin) / side)
        inside = np.flatnonzero((np.abs(places) < FARTHEST).all(axis=1))  # not for NaN
    x, y, z = (places[inside] + FARTHEST).astype(np.int64).T
    return (x << 42) | (y << 21) | z, inside


class _Known:
    """The number of points in each cube so far, and the sums of their values."""

    def __init__(self, name: str, limit: int) -> None:
        self._name, self._limit = name, limit
        self._parts: list[tuple[Keys, Sums, Sums]] = []

    def add(self, keys: Keys, values: list[NDArray[np.generic]]) -> None:
        """Add points by the keys of their cubes and their values, each (N,)."""
        found, number = np.unique(keys, return_inverse=True)
        sums = [np.bincount(number, column, len(found)) for column in values]
        self._parts.append((found, np.bincount(number, minlength=len(found)).astype(np.float64), np.stack(sums)))
        first, *others = (len(part[0]) for part in self._parts)
        if sum(others) > first:  # so that no cube is sorted more than a few times
            self.all()

    def all(self) -> tuple[Keys, Sums, Sums]:
        """The keys (M,), ascending, the counts (M,) and the sums (C, M), of which one list is made."""
        rows = sum(part[0].nbytes + part[1].nbytes + part[2].nbytes for part in self._parts)
        if held_memory() + (MERGED - 1) * rows > self._limit:
            raise InputError(
                self._name,
                expected=f"a scan whose surfaces fit into {in_gigabytes(self._limit)}, as mean points of small cubes",
                found=f"{sum(len(part[0]) for part in self._parts):,} cubes before its end",
                remedy="Allow more with --memory, label it more coarsely with --thin 0.1, or cut it into parts.",
            )
        if len(self._parts) > 1:
            keys, number = np.unique(np.concatenate([part[0] for part in self._parts]), return_inverse=True)
            columns = [*zip(*([part[1], *part[2]] for part in self._parts), strict=True)]
            counts, *sums = (np.bincount(number, np.concatenate(column), len(keys)) for column in columns)
            self._parts = [(keys, counts.astype(np.float64), np.stack(sums).astype(np.float64))]
        return self._parts[0]
