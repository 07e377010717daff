"""Connected components of a cloud: points in touching cells of a grid belong together."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
HALF_OF_ALL = [step for step in product((-1, 0, 1), repeat=3) if step > (0, 0, 0)]
"""13 of the 26 cells around a cell, so that each pair of neighbours is visited once."""
LARGEST = 2**20
"""The most cells along an axis: three such indices fit into 64 bits."""


def connected_components(xyz: NDArray[np.floating], cell: float) -> Numbers:
    """Return the component of each point (N, 3), (N,), numbered from 0 in the order of first points.

    Two points share a component if a chain of occupied cubic cells of side ``cell`` connects them, each touching the
    next by a face, an edge or a corner. So points closer than ``cell`` always do.
    """
    if not len(xyz):
        return np.empty(0, np.int64)
    places = np.floor((xyz - xyz.min(axis=0)) / cell).astype(np.int64) + 1
    if places.max() >= LARGEST - 1:
        raise ValueError(f"{places.max()} cells of {cell:g} along an axis; at most {LARGEST - 2}")
    factors = np.array([LARGEST * LARGEST, LARGEST, 1])
    keys, cell_of_point = np.unique(places @ factors, return_inverse=True)
    part_of_cell = _join(len(keys), _touching(keys, factors))
    _, first, parts = np.unique(part_of_cell[cell_of_point], return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[parts]


def _touching(keys: Numbers, factors: Numbers) -> Numbers:
    """Return the pairs of cells that touch, as indices of the sorted keys, (E, 2)."""
    pairs = []
    for step in HALF_OF_ALL:
        wanted = keys + np.array(step) @ factors
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        here = np.flatnonzero(keys[found] == wanted)
        pairs.append(np.stack([here, found[here]], axis=1))
    return np.concatenate(pairs)


def _join(count: int, pairs: Numbers) -> Numbers:
    """Return the lowest index that pairs connect each cell with, (count,)."""
    parents = np.arange(count)
    while len(pairs):
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        np.minimum.at(parents, high, low)
        while not np.array_equal(shorter := parents[parents], parents):
            parents = shorter
        pairs = parents[pairs]
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return parents
