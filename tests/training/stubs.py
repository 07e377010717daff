"""Networks whose answers are known: functions of each point's place and of its position in the group."""

import torch
from torch import nn

from point2node.geometry.pyramid import PyramidPlan


class PlaceNetwork(nn.Module):
    """Logits from xyz and from the position in the group; it remembers what it was asked and what it said."""

    def __init__(self, classes, task="segmentation"):
        super().__init__()
        self.plan = PyramidPlan((None,), "farthest", ())
        self.task = task
        self.scale = nn.Parameter(torch.ones(()))
        self.classes = classes
        self.asked, self.said = [], []

    def forward(self, features, pyramid):
        assert not self.training
        xyz = pyramid.levels[0]  # (B, N, 3)
        places = torch.arange(xyz.shape[1])[:, None] * 0.37
        waves = torch.arange(1, self.classes + 1)
        logits = 3 * torch.sin(xyz.sum(dim=-1, keepdim=True) * waves + places * waves.sqrt())
        if features is not None:
            logits = logits + features.mean(dim=-1, keepdim=True)
        logits = logits if self.task == "segmentation" else logits.mean(dim=1)
        self.asked += list(xyz.numpy())
        self.said += list(logits.detach().softmax(dim=-1).numpy())
        return logits * self.scale
