"""Labellers whose answers are known: a point's class is the half metre in which its height lies."""

import torch
from torch import nn

from point2node.core.classes import S3DIS
from point2node.geometry.pyramid import PyramidPlan
from point2node.inference.labeller import SceneLabeller
from point2node.weights.cards import WeightsCard, write_weights
from point2node.weights.trained import Trained

STEP = 0.5


class HeightNetwork(nn.Module):
    """Sure that a point's class is ⌊height / 0.5 m⌋, and remembers the colours it was given."""

    def __init__(self, classes=13):
        super().__init__()
        self.plan = PyramidPlan((None,), "farthest", ())
        self.task = "segmentation"
        self.classes = classes
        self.scale = nn.Parameter(torch.tensor(9.0))
        self.colours = []

    def forward(self, features, pyramid):
        assert not self.training
        self.colours.append(features)
        heights = pyramid.levels[0][..., 2]
        classes = (heights / STEP).floor().long().clamp(0, self.classes - 1)
        return nn.functional.one_hot(classes, self.classes).float() * self.scale


def card(**changes):
    values = {
        "task": "segmentation",
        "dataset": "rooms",
        "model": "point2node",
        "size": "tiny",
        "variant": "point2node",
        "width": None,
        "dropout": None,
        "features": ("rgb",),
        "points": 64,
        "block_side": 1.5,
        "block_grid": 0.05,
        "block_points": 256,
        "frame": "block",
        "votes": 1,
        "rule": "mean_probability",
        "voxel": None,
        "classes": tuple({"name": one.name, "value": one.value, "colour": one.colour} for one in S3DIS),
        "ignored": (),
    }
    return WeightsCard(**(values | changes))


def height_labeller(**changes):
    described = card(**changes)
    return SceneLabeller(Trained("heights", HeightNetwork(len(described.classes)), described, "best"))


def real_labeller(**changes):
    """The smallest real network, with fresh weights."""
    torch.manual_seed(0)
    described = card(points=192, **changes)
    return SceneLabeller(Trained("fresh", described.build(), described, "best"))


def write_real_weights(path, **changes):
    torch.manual_seed(0)
    described = card(points=192, **changes)
    write_weights(path, described.build().state_dict(), described)
    return path
