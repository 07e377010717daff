"""The numba kernels behind the CPU path of ``smoothing``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


@kernel(parallel=True)
def link_surface(points: Floats, normals: Floats, neighbours: Integers, alike: float, offset: float) -> Integers:
    """(M, K) int32: the neighbours that lie on the same surface as a point, then −1."""
    total, k = neighbours.shape
    links = np.full((total, k), -1, np.int32)
    for p in prange(total):
        count = 0
        for i in range(k):
            other = neighbours[p, i]
            cosine, distance = 0.0, 0.0
            for axis in range(3):
                cosine += normals[p, axis] * normals[other, axis]
                distance += normals[p, axis] * (points[other, axis] - points[p, axis])
            if other == p or (abs(cosine) >= alike and abs(distance) <= offset):
                links[p, count] = other
                count += 1
    return links


@kernel(parallel=True)
def spread(values: Floats, weights: Floats, links: Integers) -> Floats:
    """(M, C): for each point the weighted mean of the values (M, C) of those that it is linked to."""
    total, channels = values.shape
    found = np.empty((total, channels), values.dtype)
    for p in prange(total):
        sums, weight = np.zeros(channels), 0.0
        for i in range(links.shape[1]):
            other = links[p, i]
            if other < 0:
                break
            weight += weights[other]
            for channel in range(channels):
                sums[channel] += weights[other] * values[other, channel]
        for channel in range(channels):
            found[p, channel] = sums[channel] / weight
    return found
