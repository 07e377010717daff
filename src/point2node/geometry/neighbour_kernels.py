"""The numba k-d tree of the CPU path of ``neighbours``: built for a batch of clouds, then searched.

The tree is implicit: node 1 is the root, node n has the children 2n and 2n + 1, and the leaves are the last
``leaves`` (a power of two) of the 2 · ``leaves`` numbers. Of the P points in tree order, the j-th of L nodes
of one level covers positions j·P // L to (j + 1)·P // L. So only that order and a box per node are stored.

Squares are added as (dx² + dy²) + dz² and never contracted to fused multiply-adds. Then they are
bit-identical to those of numpy and torch, and because rounding is monotone, the squared distance to a box never
exceeds that to a point inside it: pruning is exact in floating point too. No kernel is recursive: numba
0.68 crashes when it loads a recursive function from its cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from point2node.kernels.compiling import kernel

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]

LEAF_SIZE = 16
QUERIES_PER_TASK = 64  # enough to repay the buffers that each task allocates


@kernel(parallel=True)
def build_trees(points: Floats) -> tuple[Floats, Integers, Floats]:
    """Build a tree for each cloud of ``points`` (B, P, 3).

    Returns the coordinates (B, 3, P) in tree order, the index (B, P) of each of these points in
    ``points``, and the boxes (B, 2 · leaves, 2, 3) of the nodes as lower and upper corner.
    """
    clouds, total, _ = points.shape
    leaves = 1
    while total > leaves * LEAF_SIZE:
        leaves *= 2
    xyz = np.empty((clouds, 3, total), points.dtype)
    numbers = np.empty((clouds, total), np.int64)
    boxes = np.empty((clouds, 2 * leaves, 2, 3), points.dtype)
    # one parallel loop, not one per level: a barrier is expensive if other processes share the cores
    for cloud in prange(clouds):
        for p in range(total):
            numbers[cloud, p] = p
            for axis in range(3):
                xyz[cloud, axis, p] = points[cloud, p, axis]
        nodes = 1
        while nodes <= leaves:
            for place in range(nodes):
                start, end = place * total // nodes, (place + 1) * total // nodes
                widest = _enclose(xyz[cloud, :, start:end], boxes[cloud, nodes + place])
                if nodes < leaves:
                    middle = (2 * place + 1) * total // (2 * nodes)
                    _split(xyz[cloud, :, start:end], numbers[cloud, start:end], widest, middle - start)
            nodes *= 2
    return xyz, numbers, boxes


@kernel()
def _enclose(xyz: Floats, box: Floats) -> int:
    """Write the bounding box of ``xyz`` (3, n) and return its widest axis."""
    for axis in range(3):
        low = high = xyz[axis, 0]
        for p in range(1, xyz.shape[1]):
            low, high = min(low, xyz[axis, p]), max(high, xyz[axis, p])
        box[0, axis], box[1, axis] = low, high
    return int(np.argmax(box[1] - box[0]))


@kernel()
def _split(xyz: Floats, numbers: Integers, axis: int, middle: int) -> None:
    """Reorder so that on ``axis`` no point before position ``middle`` is above one after it (quickselect)."""
    low, high = 0, len(numbers) - 1
    while low < high:
        pivot = xyz[axis, (low + high) // 2]
        i, j = low, high
        while i <= j:
            while xyz[axis, i] < pivot:
                i += 1
            while xyz[axis, j] > pivot:
                j -= 1
            if i <= j:
                for c in range(3):
                    xyz[c, i], xyz[c, j] = xyz[c, j], xyz[c, i]
                numbers[i], numbers[j] = numbers[j], numbers[i]
                i += 1
                j -= 1
        # now low..j <= pivot, j + 1..i - 1 == pivot, i..high >= pivot
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel(parallel=True)
def search_trees(queries: Floats, xyz: Floats, numbers: Integers, boxes: Floats, k: int) -> tuple[Floats, Integers]:
    """Return squared distances and indices (B, Q, k) of each query's k <= P nearest points by (square, index)."""
    clouds, total, _ = queries.shape
    squares = np.empty((clouds, total, k), queries.dtype)
    indices = np.empty((clouds, total, k), np.int64)
    tasks = (total + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK
    for task in prange(clouds * tasks):
        cloud, first = task // tasks, task % tasks * QUERIES_PER_TASK
        last = min(first + QUERIES_PER_TASK, total)
        _search(
            queries[cloud, first:last],
            xyz[cloud],
            numbers[cloud],
            boxes[cloud],
            squares[cloud, first:last],
            indices[cloud, first:last],
        )
    return squares, indices


@kernel()
def _search(queries: Floats, xyz: Floats, numbers: Integers, boxes: Floats, squares: Floats, indices: Integers) -> None:
    """Fill ``squares`` and ``indices`` (Q, k) for queries (Q, 3) of one cloud.

    Nearer children are visited first, farther ones are pushed on a stack. The points of a leaf that may belong to
    the best k are collected, sorted and merged in one pass: for k = 96 that moves far fewer entries than
    inserting them one by one.
    """
    total, leaves, k = len(numbers), len(boxes) // 2, squares.shape[1]
    best, best_numbers = np.empty(k + LEAF_SIZE, xyz.dtype), np.empty(k + LEAF_SIZE, np.int64)
    found, found_numbers = np.empty(LEAF_SIZE, xyz.dtype), np.empty(LEAF_SIZE, np.int64)
    stack, stack_nodes = np.empty(64, xyz.dtype), np.empty(64, np.int64)  # one per level, 2^64 leaves
    for query in range(len(queries)):
        x, y, z = queries[query, 0], queries[query, 1], queries[query, 2]
        for i in range(k):
            best[i] = np.inf
            best_numbers[i] = total  # after every real point, even one at an infinite distance (overflow)
        stack[0], stack_nodes[0] = 0, 1
        waiting = 1
        while waiting > 0:
            waiting -= 1
            square, node = stack[waiting], stack_nodes[waiting]
            bound = best[k - 1]
            while node < leaves and square <= bound:
                node *= 2
                left, right = _square_to_box(boxes, node, x, y, z), _square_to_box(boxes, node + 1, x, y, z)
                if left <= right:
                    square, stack[waiting], stack_nodes[waiting] = left, right, node + 1
                else:
                    square, stack[waiting], stack_nodes[waiting] = right, left, node
                    node += 1
                waiting += 1
            if square > bound:  # not >=: at the same distance a lower number still wins
                continue
            place = node - leaves
            count = 0
            for p in range(place * total // leaves, (place + 1) * total // leaves):
                dx, dy, dz = x - xyz[0, p], y - xyz[1, p], z - xyz[2, p]
                square = (dx * dx + dy * dy) + dz * dz
                found[count], found_numbers[count] = square, numbers[p]
                count += square <= bound  # written always, kept sometimes: no branch to mispredict
            _sort(found, found_numbers, count)
            _merge(found, found_numbers, count, best, best_numbers, k)
        for i in range(k):
            squares[query, i], indices[query, i] = best[i], best_numbers[i]


@kernel()
def _square_to_box(boxes: Floats, node: int, x: Any, y: Any, z: Any) -> Any:
    """Return the squared distance to the node's box, 0 inside, rounded the same way as that to a point."""
    zero = boxes.dtype.type(0)  # a Python 0.0 would turn float32 into float64
    dx = max(boxes[node, 0, 0] - x, x - boxes[node, 1, 0], zero)
    dy = max(boxes[node, 0, 1] - y, y - boxes[node, 1, 1], zero)
    dz = max(boxes[node, 0, 2] - z, z - boxes[node, 1, 2], zero)
    return (dx * dx + dy * dy) + dz * dz


@kernel()
def _precedes(square: Any, number: Any, other_square: Any, other_number: Any) -> Any:
    """Return whether the first point is nearer, or equally near with a lower index."""
    return square < other_square or (square == other_square and number < other_number)


@kernel()
def _sort(squares: Floats, numbers: Integers, count: int) -> None:
    """Sort the first ``count`` entries by (square, number), by insertion."""
    for i in range(1, count):
        square, number, j = squares[i], numbers[i], i
        while j > 0 and _precedes(square, number, squares[j - 1], numbers[j - 1]):
            squares[j], numbers[j] = squares[j - 1], numbers[j - 1]
            j -= 1
        squares[j], numbers[j] = square, number


@kernel()
def _merge(found: Floats, found_numbers: Integers, count: int, best: Floats, best_numbers: Integers, k: int) -> None:
    """Merge ``count`` sorted entries into the k best, from the end; the rest goes beyond k."""
    j = k - 1
    for i in range(count - 1, -1, -1):
        square, number = found[i], found_numbers[i]
        while j >= 0 and _precedes(square, number, best[j], best_numbers[j]):
            best[j + i + 1], best_numbers[j + i + 1] = best[j], best_numbers[j]
            j -= 1
        best[j + i + 1], best_numbers[j + i + 1] = square, number
