"""Classify single shapes with trained weights: a mesh or a cloud goes in, the most likely classes come out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.batches import Sample, make_batch
from point2node.formats.meshes import sample_surface
from point2node.geometry.coordinates import TASK_FRAMES
from point2node.geometry.frames import UPWARDS
from point2node.inference.asking import ask
from point2node.inference.working import CloudInput, LoadedWeights, open_input

SAMPLED = 4
"""Points sampled from a mesh per point that the network sees, so that votes see different points."""


@dataclass(frozen=True)
class Guess:
    """A class and its probability."""

    name: str
    probability: float


class ShapeClassifier(LoadedWeights):
    """Trained weights that classify a mesh or a cloud of a single object."""

    task = "classification"

    def __call__(self, shape: CloudInput, *, up: str = "z", votes: int | None = None) -> list[Guess]:
        """Return every class with its probability, the most likely first. The same shape gives the same result.

        Args:
            shape: a mesh, which is sampled by area, or a cloud: as a file, an array (N, 3) or a ``PointCloud``.
            up: the axis of the shape that points upwards (z in the training shapes).
            votes: over how many draws of points the probabilities are averaged. Default: set by the weights.
        """
        votes = self.trained.card.votes if votes is None else votes
        if votes < 1:
            raise InputError("votes", expected="1 or more", found=str(votes))
        cloud, name = open_input(shape)
        xyz = self._points(cloud, up, name)
        probabilities = torch.stack([self._vote(xyz, vote, name) for vote in range(votes)]).mean(dim=0)
        order = probabilities.argsort(descending=True, stable=True)
        return [Guess(self.classes[place].name, float(probabilities[place])) for place in order.tolist()]

    def _points(self, shape: PointCloud, up: str, name: str) -> NDArray[np.float64]:
        if self.trained.card.features:
            wanted = " and ".join(self.trained.card.features)
            raise InputError(
                name, expected=f"weights that need only xyz; {self.name!r} also need {wanted}", found="a shape"
            )
        if shape.faces is not None and len(shape.faces):
            shape = sample_surface(Path(name), shape, SAMPLED * self.trained.card.points, seed=0)
        xyz = shape.xyz[np.isfinite(shape.xyz).all(axis=1)]
        if not len(xyz):
            found = "none" if not len(shape) else f"{len(shape)} points, all of them NaN or infinite"
            raise InputError(name, expected="at least one point with a position", found=found)
        if up not in UPWARDS:
            raise InputError("up", expected="one of " + ", ".join(UPWARDS), found=repr(up))
        turned: NDArray[np.float64] = xyz @ UPWARDS[up].T
        return turned

    def _vote(self, xyz: NDArray[np.float64], vote: int, name: str) -> torch.Tensor:
        """Return the probabilities for one draw of points; no point is drawn twice before all are drawn once."""
        random = np.random.default_rng([vote, len(xyz)])
        points = self.trained.card.points
        order = random.permutation(len(xyz))[:points]
        drawn = np.concatenate([order, random.integers(len(xyz), size=points - len(order))])
        framed = TASK_FRAMES["classification"](torch.from_numpy(xyz)[None])[0]  # by the whole shape, not by the draw
        sample = Sample(framed[torch.from_numpy(drawn)].numpy(), None, np.empty(0, np.int64), name)
        return ask(self.network, make_batch([sample], self.network.plan, seed=vote))[0]
