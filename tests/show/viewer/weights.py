"""Weights of the smallest network as training starts with them, and rooms for it."""

from dataclasses import asdict

import numpy as np
import torch

from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.inference.labeller import SceneLabeller
from point2node.weights.cards import WeightsCard, write_weights

SIDE = 1.5


def write_tiny_weights(path, features=("rgb",), classes=S3DIS, variant="point2node"):
    """A weights file; every parameter is moved off its start, so that no correlation is even."""
    card = WeightsCard(
        task="segmentation", dataset="rooms", model="point2node", size="tiny", variant=variant, width=None,
        dropout=None, features=features, points=192, block_side=SIDE, block_grid=0.03, block_points=2048, frame="block",
        votes=1, rule="mean_probability", voxel=None, classes=[asdict(one) for one in classes], ignored=(),
    )  # fmt: skip
    torch.manual_seed(0)
    network = card.build()
    for parameter in network.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    write_weights(path, network.state_dict(), card)
    return path


def tiny_labeller(folder, **changes):
    return SceneLabeller.from_pretrained(write_tiny_weights(folder / "tiny.safetensors", **changes))


def small_room(points=600, seed=0, colour=True, lost=0):
    """A floor of 3 m × 2 m with two walls; the first ``lost`` points have no position."""
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, [3.0, 2.0, 2.4], (points, 3))
    xyz[: points // 2, 2] = 0
    xyz[points // 2 : 3 * points // 4, 1] = 2
    xyz[3 * points // 4 :, 0] = 0
    xyz[:lost] = np.nan
    return PointCloud(xyz, rgb=random.integers(0, 256, (points, 3)) if colour else None)
