"""Nearest neighbours in feature space: every pair is compared, a bounded number at a time."""

from __future__ import annotations

import torch
from torch import Tensor

from point2node.kernels.switch import in_one_piece

CHUNK = 2**22
"""Distances held at a time: 16 MB in float32, all pairs of one cloud of 2048 points."""


@torch.no_grad()
def feature_neighbours(nodes: Tensor, k: int) -> Tensor:
    """Indices (B, N, min(k, N)) of the nodes nearest to each node of (B, N, C), itself included, in any order.

    One cloud after the other, so that a cloud has the same neighbours in any batch.
    """
    k = min(k, nodes.shape[1])
    rows = max(1, CHUNK // nodes.shape[1])
    with torch.autocast(nodes.device.type, enabled=False):  # three digits would not tell neighbours apart
        nodes = nodes.to(torch.promote_types(nodes.dtype, torch.float32))
        centred = nodes - nodes.mean(dim=1, keepdim=True)  # the products below lose digits far from the origin
        if in_one_piece():
            distances = centred.square().sum(dim=-1)[:, None] - 2 * centred @ centred.mT
            return distances.topk(k, largest=False, sorted=False).indices
        nearest = ([_nearest(queries, cloud, k) for queries in cloud.split(rows)] for cloud in centred)
        return torch.stack([torch.cat(found) for found in nearest])


def _nearest(queries: Tensor, cloud: Tensor, k: int) -> Tensor:
    """(Q, C) and (N, C) give (Q, k), by ‖x_j‖² − 2 x_i·x_j: ‖x_i‖² would not change the order."""
    squares = cloud.square().sum(dim=-1)
    return torch.addmm(squares, queries, cloud.T, alpha=-2).topk(k, largest=False, sorted=False).indices
