"""The χ product and its gradients as fused loops: nothing of size P × K × C is ever stored.

Points are numbered across clouds, q = b·P + p, and so are nodes: cloud b starts at row b·M. If ``neighbours`` has no
rows, the nodes are edges: neighbour j of point q is row q·K + j, which no other point reads.

The weights are given as (m, K, C), so that channels are contiguous. W is the width of a tile: at most ``TILE`` channels
from c0 on, processed in strips of 16 or 8. Values beyond W in a tile are computed but never stored.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from point2node.kernels.compiling import kernel
from point2node.models.operators.tile_kernels import BLOCK, SUMS, TILE, Array, Slots, gather_tile, scatter_tile
from point2node.models.operators.vector_kernels import (
    LANES_8,
    LANES_16,
    load,
    multiply_add,
    multiply_strip,
    number,
    store,
    zeros,
)

ONE, TWO, FOUR = (0,) * 1, (0,) * 2, (0,) * 4
"""The multipliers m of the paper's networks, as lengths of a tuple."""


@njit(fastmath=SUMS)
def _load_weights(depthwise: Array, c0: int, W: int, D: Array) -> None:
    """D[i, k, c] = depthwise[i, k, c0 + c]."""
    for i in range(D.shape[0]):
        for k in range(D.shape[1]):
            row = depthwise[i, k, c0 : c0 + W]
            for c in range(W):
                D[i, k, c] = row[c]


@njit(fastmath=SUMS)
def _interleave(sums: Array, W: int, multiples: Slots, row: Array) -> None:
    """row[c·m + i] = sums[i, c], with m known at compile time, so that LLVM can shuffle vectors."""
    for c in range(W):
        for i in range(len(multiples)):
            row[c * len(multiples) + i] = sums[i, c]


@njit(fastmath=SUMS)
def _separate(row: Array, W: int, multiples: Slots, G: Array) -> None:
    """G[i, c] = row[c·m + i], with m known at compile time."""
    for c in range(W):
        for i in range(len(multiples)):
            G[i, c] = row[c * len(multiples) + i]


@njit(fastmath=SUMS)
def _store_sums(sums: Array, q: int, c0: int, W: int, out: Array) -> None:
    """out[q, (c0 + c)·m + i] = sums[i, c]."""
    m = sums.shape[0]
    row = out[q, c0 * m : (c0 + W) * m]
    if m == 1:
        _interleave(sums, W, ONE, row)
    elif m == 2:
        _interleave(sums, W, TWO, row)
    elif m == 4:
        _interleave(sums, W, FOUR, row)
    else:
        for c in range(W):
            for i in range(m):
                row[c * m + i] = sums[i, c]


@njit(fastmath=SUMS)
def _load_gradient(grad: Array, q: int, c0: int, W: int, G: Array) -> None:
    """G[i, c] = grad[q, (c0 + c)·m + i]."""
    m = G.shape[0]
    row = grad[q, c0 * m : (c0 + W) * m]
    if m == 1:
        _separate(row, W, ONE, G)
    elif m == 2:
        _separate(row, W, TWO, G)
    elif m == 4:
        _separate(row, W, FOUR, G)
    else:
        for c in range(W):
            for i in range(m):
                G[i, c] = row[c * m + i]


@njit(fastmath=SUMS)
def _load_features(nodes: Array, neighbours: Array, q: int, first_row: int, c0: int, W: int, F: Array) -> None:
    """F[j, c] = nodes[row of neighbour j of point q, c0 + c] for c < W."""
    if len(neighbours):
        gather_tile(nodes, first_row, neighbours, q, c0, W, F)
    else:
        K = F.shape[0]
        for j in range(K):
            row = nodes[q * K + j, c0 : c0 + W]
            for c in range(W):
                F[j, c] = row[c]


@njit(fastmath=SUMS)
def _sum_strip(X: Array, q: int, F: Array, D: Array, c: int, slots: Slots, lanes: Slots, sums: Array) -> None:
    """sums[i, c] = Σ_k T[k, c] D[i, k, c] with T = X[q] · F, for one channel per lane from c on."""
    K, m = len(slots), D.shape[0]
    for i in range(m):
        store(zeros(F, lanes), sums, i * TILE + c)
    for k in range(0, K - K % 4, 4):
        x = (q * K + k) * K
        t0 = t1 = t2 = t3 = zeros(F, lanes)
        for j in range(K):
            row = load(F, j * TILE + c, lanes)
            t0 = multiply_add(number(X, x + j), row, t0)
            t1 = multiply_add(number(X, x + K + j), row, t1)
            t2 = multiply_add(number(X, x + 2 * K + j), row, t2)
            t3 = multiply_add(number(X, x + 3 * K + j), row, t3)
        for i in range(m):
            d = (i * K + k) * TILE + c
            total = load(sums, i * TILE + c, lanes)
            total = multiply_add(t0, load(D, d, lanes), total)
            total = multiply_add(t1, load(D, d + TILE, lanes), total)
            total = multiply_add(t2, load(D, d + 2 * TILE, lanes), total)
            total = multiply_add(t3, load(D, d + 3 * TILE, lanes), total)
            store(total, sums, i * TILE + c)
    for k in range(K - K % 4, K):
        t = zeros(F, lanes)
        for j in range(K):
            t = multiply_add(number(X, (q * K + k) * K + j), load(F, j * TILE + c, lanes), t)
        for i in range(m):
            total = multiply_add(t, load(D, (i * K + k) * TILE + c, lanes), load(sums, i * TILE + c, lanes))
            store(total, sums, i * TILE + c)


@kernel(parallel=True, fastmath=SUMS)
def forward(X: Array, nodes: Array, neighbours: Array, depthwise: Array, B: int, slots: Slots, out: Array) -> None:
    """out[q, c·m + i] = Σ_k T[k, c] depthwise[i, k, c] with T = X[q] · F, F[j] = nodes[neighbours[q, j]].

    Parallel over the points.
    """
    Q, C, K, m = X.shape[0], nodes.shape[1], len(slots), depthwise.shape[0]
    P, M = Q // B, nodes.shape[0] // B
    for block in prange((Q + BLOCK - 1) // BLOCK):
        F = np.zeros((K, TILE), X.dtype)
        D = np.zeros((m, K, TILE), X.dtype)
        sums = np.empty((m, TILE), X.dtype)
        for c0 in range(0, C, TILE):
            W = min(TILE, C - c0)
            _load_weights(depthwise, c0, W, D)
            for q in range(block * BLOCK, min(block * BLOCK + BLOCK, Q)):
                _load_features(nodes, neighbours, q, q // P * M, c0, W, F)
                c = 0
                while W - c > 8:
                    _sum_strip(X, q, F, D, c, slots, LANES_16, sums)
                    c += 16
                if c < W:
                    _sum_strip(X, q, F, D, c, slots, LANES_8, sums)
                _store_sums(sums, q, c0, W, out)


@njit(fastmath=SUMS)
def _gradient_strip(
    X: Array,
    q: int,
    F: Array,
    D: Array,
    G: Array,
    c: int,
    slots: Slots,
    lanes: Slots,
    E: Array,
    H: Array,
    d_F: Array,
) -> None:
    """E[i, k, c] += T[k, c] G[i, c], H[k, c] = Σ_i G[i, c] D[i, k, c] and d_F = X[q]ᵀ · H, from channel c on."""
    K, m = len(slots), D.shape[0]
    for k in range(0, K - K % 4, 4):
        x = (q * K + k) * K
        t0 = t1 = t2 = t3 = zeros(F, lanes)
        for j in range(K):
            row = load(F, j * TILE + c, lanes)
            t0 = multiply_add(number(X, x + j), row, t0)
            t1 = multiply_add(number(X, x + K + j), row, t1)
            t2 = multiply_add(number(X, x + 2 * K + j), row, t2)
            t3 = multiply_add(number(X, x + 3 * K + j), row, t3)
        for i in range(m):
            e, g = (i * K + k) * TILE + c, load(G, i * TILE + c, lanes)
            store(multiply_add(t0, g, load(E, e, lanes)), E, e)
            store(multiply_add(t1, g, load(E, e + TILE, lanes)), E, e + TILE)
            store(multiply_add(t2, g, load(E, e + 2 * TILE, lanes)), E, e + 2 * TILE)
            store(multiply_add(t3, g, load(E, e + 3 * TILE, lanes)), E, e + 3 * TILE)
    for k in range(K - K % 4, K):
        t = zeros(F, lanes)
        for j in range(K):
            t = multiply_add(number(X, (q * K + k) * K + j), load(F, j * TILE + c, lanes), t)
        for i in range(m):
            e = (i * K + k) * TILE + c
            store(multiply_add(t, load(G, i * TILE + c, lanes), load(E, e, lanes)), E, e)
    for k in range(K):
        h = zeros(H, lanes)
        for i in range(m):
            h = multiply_add(load(G, i * TILE + c, lanes), load(D, (i * K + k) * TILE + c, lanes), h)
        store(h, H, k * TILE + c)
    multiply_strip(X, q * K * K, 1, K, H, c, TILE, K, d_F, c, TILE, K, False, lanes)


@kernel(parallel=True, fastmath=SUMS)
def feature_gradient(
    grad: Array,
    X: Array,
    nodes: Array,
    neighbours: Array,
    depthwise: Array,
    B: int,
    slots: Slots,
    d_nodes: Array,
    d_depthwise: Array,
) -> None:
    """d_nodes[neighbours[q, j]] += (X[q]ᵀ · H)[j] and d_depthwise[b, i, k, c] = Σ_p T[k, c] grad[q, c·m + i].

    H is the gradient of T. If there are neighbours, d_nodes must be zero on entry. A work item is one tile of channels
    of one cloud; no other item writes there, and points are added in order, so the result does not depend on the number
    of threads.
    """
    C, K, m = nodes.shape[1], len(slots), depthwise.shape[0]
    P, M = X.shape[0] // B, nodes.shape[0] // B
    tiles = (C + TILE - 1) // TILE
    for item in prange(B * tiles):
        b, c0 = item // tiles, item % tiles * TILE
        W = min(TILE, C - c0)
        F = np.zeros((K, TILE), X.dtype)
        H = np.empty((K, TILE), X.dtype)
        d_F = np.empty((K, TILE), X.dtype)
        D = np.zeros((m, K, TILE), X.dtype)
        G = np.zeros((m, TILE), X.dtype)
        E = np.zeros((m, K, TILE), X.dtype)
        _load_weights(depthwise, c0, W, D)
        for q in range(b * P, b * P + P):
            _load_features(nodes, neighbours, q, b * M, c0, W, F)
            _load_gradient(grad, q, c0, W, G)
            c = 0
            while W - c > 8:
                _gradient_strip(X, q, F, D, G, c, slots, LANES_16, E, H, d_F)
                c += 16
            if c < W:
                _gradient_strip(X, q, F, D, G, c, slots, LANES_8, E, H, d_F)
            if len(neighbours):
                scatter_tile(d_F, b * M, neighbours, q, c0, W, d_nodes)
            else:
                for j in range(K):
                    row = d_nodes[q * K + j, c0 : c0 + W]
                    for c in range(W):
                        row[c] = d_F[j, c]
        for i in range(m):
            for k in range(K):
                for c in range(W):
                    d_depthwise[b, i, k, c0 + c] = E[i, k, c]


@njit(fastmath=SUMS)
def _matrix_strip(
    G: Array, F: Array, D: Array, W: int, k: int, lanes: Slots, H: Array, S: Array, s: int, add: bool
) -> None:
    """S[j, k] = Σ_c F[j, c] H[c, k] with H[c, k] = Σ_i G[i, c] D[i, c, k], one k per lane; S += this with ``add``."""
    m, _, width = D.shape
    for c in range(W):
        h = zeros(H, lanes)
        for i in range(m):
            h = multiply_add(number(G, i * TILE + c), load(D, (i * TILE + c) * width + k, lanes), h)
        store(h, H, c * width + k)
    multiply_strip(F, 0, TILE, 1, H, k, width, W, S, s + k, width, F.shape[0], add, lanes)


@kernel(parallel=True, fastmath=SUMS)
def matrix_gradient(grad: Array, nodes: Array, neighbours: Array, depthwise: Array, B: int, d_X: Array) -> None:
    """d_X[q, k, j] = Σ_c H[k, c] F[j, c], with H the gradient of T. Parallel over the points.

    H and d_X are computed transposed, so that the vectors of both run along k.
    """
    (Q, K, _), C, m = d_X.shape, nodes.shape[1], depthwise.shape[0]
    P, M = Q // B, nodes.shape[0] // B
    width = (K + 7) // 8 * 8
    for block in prange((Q + BLOCK - 1) // BLOCK):
        F = np.empty((K, TILE), d_X.dtype)
        G = np.empty((m, TILE), d_X.dtype)
        D = np.zeros((m, TILE, width), d_X.dtype)
        H = np.empty((TILE, width), d_X.dtype)
        S = np.empty((BLOCK, K, width), d_X.dtype)
        first, last = block * BLOCK, min(block * BLOCK + BLOCK, Q)
        for c0 in range(0, C, TILE):
            W = min(TILE, C - c0)
            for i in range(m):
                for k in range(K):
                    for c in range(W):
                        D[i, c, k] = depthwise[i, k, c0 + c]
            for q in range(first, last):
                _load_features(nodes, neighbours, q, q // P * M, c0, W, F)
                _load_gradient(grad, q, c0, W, G)
                s = (q - first) * K * width
                k = 0
                while width - k >= 16:
                    _matrix_strip(G, F, D, W, k, LANES_16, H, S, s, c0 > 0)
                    k += 16
                if k < width:
                    _matrix_strip(G, F, D, W, k, LANES_8, H, S, s, c0 > 0)
        for q in range(first, last):
            turned, target = S[q - first], d_X[q]
            for k in range(K):
                for j in range(K):
                    target[k, j] = turned[j, k]
