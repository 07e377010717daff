"""Explain the label of a point of a scan by the network's own correlations in the block around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.batches import Batch
from point2node.geometry.blocks import training_group
from point2node.geometry.frames import Placement, place
from point2node.inference.asking import device_of
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.votes import scene_batch

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PointExplanation:
    """What the network computed for one point; points are given by their indices in the cloud."""

    point: int
    probabilities: Floats
    """(classes,) from this one pass; the label in a scan is based on the mean of several."""
    block: Numbers
    """(M,) the points that the network saw: the block around the point, the point itself first."""
    non_local: Floats
    """(M,) the weight of each of them in the non-local update (Eq. 11); they sum to 1."""
    neighbours: Numbers
    """(K,) the point's local graph; the point itself first."""
    edges: Floats
    """(K,) the point's row of the local graph (Eq. 6): its weight for each neighbour; they sum to 1."""
    non_local_entropy: float
    """The entropy of its non-local row over all nodes of the block: 1 if even, 0 if all weight is on one node."""
    local_entropy: float
    """The mean entropy of the rows of its local graph, on the same scale."""
    channel_weights: Floats
    """(C,) self correlation (Eq. 2)."""
    gates: tuple[tuple[tuple[str, ...], Floats], ...]
    """For each adaptive aggregation, its branches and their shares (branches, C); each channel sums to 1 (Eq. 15)."""


class Explainer:
    """Explains points of one cloud, which is placed only once.

    Args:
        labeller: the weights, of the variant "point2node".
        cloud: the scan.
        options: the options it was labelled with.
    """

    def __init__(self, labeller: SceneLabeller, cloud: PointCloud, options: Options | None = None) -> None:
        network = labeller.network
        if network.correlation is None or network.correlation.variant != "point2node":
            found = f"{labeller.trained.card.model} {labeller.trained.card.variant or ''}".strip()
            raise InputError(labeller.name, expected="weights of the variant 'point2node'", found=found)
        self._labeller, self._network = labeller, network
        options = options or Options()
        self._placement: Placement = place(cloud, options.scale_of(cloud), options.up)
        self._scene = labeller.scene(self._placement, cloud, options)
        self._place_of = np.full(len(cloud), -1, np.int64)
        self._place_of[self._placement.numbers] = np.arange(len(self._placement.numbers))

    def explain(self, point: int) -> PointExplanation:
        """Run the network once on the block around the point and return its correlations."""
        batch, group = self.block_around(point)
        moved = batch.to(device_of(self._network))
        with torch.no_grad():
            logits = self._network(moved.features, moved.pyramid)[0, 0]
            found = self._network.explain_pyramid(moved.features, moved.pyramid, [0])
        assert found.non_local_rows is not None
        assert found.local_neighbours is not None
        assert found.local_graph is not None
        assert found.channel_weights is not None
        assert found.non_local_entropy is not None
        assert found.local_entropy is not None
        block, first = np.unique(group, return_index=True)
        row = np.bincount(np.searchsorted(block, group), found.non_local_rows[0, 0].cpu().double().numpy())
        order = np.argsort(first)  # copies of a point are merged; the point itself comes first
        numbers = self._placement.numbers
        return PointExplanation(
            point=point,
            probabilities=logits.float().softmax(dim=-1).cpu().numpy(),
            block=numbers[block[order]],
            non_local=row[order].astype(np.float32),
            neighbours=numbers[group[found.local_neighbours[0, 0].cpu().numpy()]],
            edges=found.local_graph[0, 0, 0].cpu().numpy(),
            non_local_entropy=float(found.non_local_entropy),
            local_entropy=float(found.local_entropy),
            channel_weights=found.channel_weights[0, 0].cpu().numpy(),
            gates=tuple((gate.branches, gate.shares[0].cpu().numpy()) for gate in found.gates),
        )

    def block_around(self, point: int) -> tuple[Batch, Numbers]:
        """Return the block with the point at its centre as a batch, and the indices of its points among those with a
        position; the point itself comes first.
        """
        if not 0 <= point < len(self._place_of) or self._place_of[point] < 0:
            found = f"{point}, which has none" if 0 <= point < len(self._place_of) else str(point)
            raise InputError("point", expected="the number of a point with a position", found=found)
        place_, xyz = int(self._place_of[point]), self._placement.xyz
        half = self._labeller.trained.card.block_side / 2
        near = np.flatnonzero((np.abs(xyz[:, :2] - xyz[place_, :2]) <= half).all(axis=1))
        others = near[near != place_]
        wanted = self._labeller.trained.card.points - 1
        random = np.random.default_rng(point)
        rest = training_group(others, wanted, random) if len(others) else np.full(wanted, place_)
        group = np.concatenate([[place_], rest])
        return scene_batch(self._scene, [group], self._network), group
