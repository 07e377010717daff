"""A small room with corrections, and the smallest network that is to learn from them."""

from dataclasses import asdict

import numpy as np
import torch

from point2node.core.classes import S3DIS
from point2node.inference.labeller import Options, SceneLabeller
from point2node.teaching.corrections import no_corrections
from point2node.teaching.observing import TaughtScan
from point2node.weights.cards import WeightsCard, write_weights
from tests.show.viewer.weights import small_room


def write_fresh_weights(path):
    """Weights of the smallest network as training starts with them."""
    card = WeightsCard(
        task="segmentation", dataset="rooms", model="point2node", size="tiny", variant="point2node", width=None,
        dropout=None, features=("rgb",), points=192, block_side=1.5, block_grid=0.03, block_points=2048, frame="block",
        votes=1, rule="mean_probability", voxel=None, classes=[asdict(one) for one in S3DIS], ignored=(),
    )  # fmt: skip
    torch.manual_seed(0)
    write_weights(path, card.build().state_dict(), card)
    return path


def fresh_labeller(folder):
    return SceneLabeller.from_pretrained(write_fresh_weights(folder / "fresh.safetensors"))


def taught_room(labeller, points=3000, seed=0, own=None, lost=3):
    """A room of which a part of the floor was corrected to "table" and a part of a wall to "door", or to ``own``."""
    cloud = small_room(points, seed, lost=lost)
    corrections = no_corrections(cloud, labeller.classes)
    x, y, z = np.nan_to_num(cloud.xyz, nan=-9).T
    if own is not None:
        corrections = corrections.add_class(own)
    corrections = corrections.add("table", np.flatnonzero((z == 0) & (x > 0.2) & (x < 1.2)))
    corrections = corrections.add(own or "door", np.flatnonzero((y == 2) & (x > 1)))
    return TaughtScan("room.ply", cloud, corrections, Options())
