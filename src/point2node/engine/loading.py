"""Trained weights by name, ready to be used on clouds."""

from __future__ import annotations

import torch

from point2node.engine.classifying import ShapeClassifier
from point2node.engine.labelling import Labeller
from point2node.engine.trained import load_trained


def load(name: str, *, device: str | None = None) -> Labeller | ShapeClassifier:
    """What the weights called ``name`` can do: label the points of scenes, or name single shapes.

    ``name`` is that of shipped weights, a run folder, or a .safetensors file. Called with a cloud, the result gives
    labels for its points, or the likeliest classes of the shape.
    """
    trained = load_trained(name)
    place = None if device is None else torch.device(device)
    return Labeller(trained, place) if trained.card.task == "segmentation" else ShapeClassifier(trained, place)
