"""Naming single shapes with trained weights: a mesh or a cloud goes in, the likeliest classes come out."""

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
from point2node.inference.working import Given, WeightsAtWork, open_given

SAMPLED = 4
"""A mesh is sampled so many times as densely as the network looks, so that votes see other points."""


@dataclass(frozen=True)
class Guess:
    """One class and how probable the network finds it."""

    name: str
    probability: float


class ShapeClassifier(WeightsAtWork):
    """Trained weights for shapes, ready to name any mesh or cloud of a single object."""

    task = "classification"

    def __call__(self, shape: Given, *, up: str = "z", votes: int | None = None) -> list[Guess]:
        """Every class with its probability, the likeliest first. The same shape gives the same guesses.

        Args:
            shape: a mesh, which is sampled by area, or a cloud: as a file, an array (N, 3) or a ``PointCloud``.
            up: the axis of the shape that points upwards, where training shapes have their z.
            votes: how many draws of points the probabilities are the mean of; as many as the weights say if not given.
        """
        votes = self.trained.card.votes if votes is None else votes
        if votes < 1:
            raise InputError("votes", expected="1 or more", found=str(votes))
        cloud, name = open_given(shape)
        xyz = self._points(cloud, up, name)
        probabilities = torch.stack([self._vote(xyz, vote, name) for vote in range(votes)]).mean(dim=0)
        order = probabilities.argsort(descending=True, stable=True)
        return [Guess(self.classes[place].name, float(probabilities[place])) for place in order.tolist()]

    def _points(self, shape: PointCloud, up: str, name: str) -> NDArray[np.float64]:
        if self.trained.card.features:
            wanted = " and ".join(self.trained.card.features)
            raise InputError(name, expected=f"xyz alone; the weights {self.name!r} ask for {wanted}", found="a shape")
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
        """Probabilities for one draw of points, each once before any is drawn twice."""
        random = np.random.default_rng([vote, len(xyz)])
        points = self.trained.card.points
        order = random.permutation(len(xyz))[:points]
        drawn = np.concatenate([order, random.integers(len(xyz), size=points - len(order))])
        framed = TASK_FRAMES["classification"](torch.from_numpy(xyz)[None])[0]  # of the whole shape, not of the draw
        sample = Sample(framed[torch.from_numpy(drawn)].numpy(), None, np.empty(0, np.int64), name)
        return ask(self.network, make_batch([sample], self.network.plan, seed=vote))[0]
