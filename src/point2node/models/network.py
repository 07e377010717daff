"""Base class of all networks: the task, the geometry that it needs, and running on plain arrays."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Self, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from point2node.core.errors import InputError
from point2node.geometry.coordinates import TASK_FRAMES, check_coordinates
from point2node.geometry.pyramid import Pyramid, PyramidPlan, Search, build_pyramid
from point2node.models.layers import Head
from point2node.models.point2node.explanation import Explanation
from point2node.models.point2node.stages import DynamicNodeCorrelation
from point2node.models.pretrained import (
    HubOptions,
    NetworkCard,
    UploadOptions,
    card_of_note,
    read_pretrained,
    save_pretrained,
    upload,
)
from point2node.models.weights_file import build_with

Array = NDArray[np.floating] | Tensor
Task = Literal["segmentation", "classification"]
EVALUATION_LOCK = threading.RLock()
"""Held while a network is temporarily in evaluation mode, because all threads share the mode."""


class Network(nn.Module, ABC):
    """A network that labels points or clouds from features and a pyramid: features → nodes → logits.

        logits = label(correlation(nodes(features, pyramid)))

    Between nodes and logits there can be dynamic node correlation (``correlate``), the "general feature enhancement
    tool" of [Point2Node](https://arxiv.org/abs/1912.10775). The nodes are the features of single points that enter the
    last layer on single points: that layer reads them, correlated or not, before the logits or the pooling.

    A network never searches in space: the pyramid contains all neighbours. Only DGCNN, which builds graphs in feature
    space, searches there.

    Args:
        plan: the levels and neighbours that it needs.
        in_features: the width of the input features in addition to xyz; 0 for none.
        head: the last layers, which compute the logits.
        node_channels: C, the width of a node.
        node_level: the level of the pyramid whose points are the nodes.

    Shapes:
        - xyz: (B, N, 3), if no pyramid is given
        - features: (B, N, in_features), or None
        - logits: (B, N, classes) of a segmenter, (B, classes) of a classifier; see ``forward``
    """

    task: Task
    """"segmentation": a label for every point; "classification": one for the whole cloud. Set by the class."""

    correlation: DynamicNodeCorrelation | None
    """None for a network as published."""

    card: Mapping[str, Any] | None
    """What is saved with the weights: the arguments of ``create_model``, and more if weights were loaded. None for a
    network built by hand."""

    def __init__(
        self, plan: PyramidPlan, in_features: int, head: Head, *, node_channels: int, node_level: int = 0
    ) -> None:
        super().__init__()
        self.plan = plan
        self.in_features = in_features
        self.head = head
        self.node_channels = node_channels
        self.node_level = node_level
        self.correlation = None
        self.card = None
        self.graph = (0, 0)

    def correlate(self, correlation: DynamicNodeCorrelation, graph: tuple[int, int]) -> None:
        """Add a correlation of ``node_channels`` channels after the nodes; ``graph`` is K and d of its local graph."""
        level = self.node_level
        search = Search(*graph, source=level, queries=level) if correlation.needs_neighbours else None
        self.plan = replace(self.plan, correlation=search)
        self.correlation = correlation
        self.graph = graph

    @classmethod
    def from_pretrained(
        cls, name: str | PathLike[str], *, device: torch.device | str | None = None, **hub: Unpack[HubOptions]
    ) -> Self:
        """Load a network with its weights, in evaluation mode.

        Only weights in the safetensors format are read.

        Args:
            name: a pretrained model ("rooms"), a folder written by ``save_pretrained`` or by a training, a .safetensors
                file, or a repository of the Hugging Face Hub ("user/name").
            device: where to put the network, if not on the CPU.
            hub: download options; see ``HubOptions``.
        """
        from point2node.models.catalogue import create_model  # imports every network, which are subclasses of this

        path, tensors, note = read_pretrained(name, **hub)
        card = card_of_note(path, note)
        build = partial(
            create_model,
            card.model,
            preset=card.size,
            **card.model_dump(include={"variant", "num_classes", "in_features", "width", "dropout"}),
            design=card.design,
        )
        network = build_with(path, build, tensors)
        if not isinstance(network, cls):
            raise InputError(
                path, expected=f"weights of a {cls.__name__}", found=f"those of a {type(network).__name__}"
            )
        network.card = note
        return network.to(device)

    def save_pretrained(self, folder: str | PathLike[str], *, trained_on: Mapping[str, Any] | None = None) -> Path:
        """Write the weights to a folder that ``from_pretrained`` can read, and return the folder.

        Args:
            folder: created if it does not exist.
            trained_on: what is needed to label scans, such as the names of the classes: ``RoomBlocks.card``. Weights
                that were loaded already have it.
        """
        path = Path(folder)
        save_pretrained(path, self.state_dict(), self._note(trained_on), task=self.task, name=path.name)
        return path

    def push_to_hub(
        self, repository: str, *, trained_on: Mapping[str, Any] | None = None, **options: Unpack[UploadOptions]
    ) -> str:
        """Upload what ``save_pretrained`` writes to the Hugging Face Hub, and return the URL of the commit.

        Args:
            repository: "user/name"; created if it does not exist.
            trained_on: as for ``save_pretrained``.
            options: see ``UploadOptions``.
        """
        with TemporaryDirectory(prefix="point2node-") as folder:
            note = self._note(trained_on)
            save_pretrained(Path(folder), self.state_dict(), note, task=self.task, name=repository)
            return upload(Path(folder), repository, options)

    def _note(self, trained_on: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the note to save with the weights; raise InputError if it does not fit them."""
        if self.card is None:
            raise InputError("network", expected="one that create_model made", found="one built by hand")
        note = dict(self.card)
        if trained_on is not None:
            note = {key: note[key] for key in note if key not in ("num_classes", "in_features")} | dict(trained_on)
        card = NetworkCard.model_validate(note)
        own = (self.head.logits.out_features, self.in_features)
        if (card.num_classes, card.in_features) != own:
            expected = f"{own[0]} classes and features of width {own[1]}, as the network has"
            found = f"{card.num_classes} and {card.in_features}"
            raise InputError("card", expected=expected, found=found)
        return note

    def forward(self, given: Tensor | None, other: Tensor | Pyramid | None = None, /) -> Tensor:
        """Compute logits: ``model(xyz, features)`` or ``model(features, pyramid)``.

        Given coordinates (B, N, 3), it moves them into its frame and builds the pyramid, as ``run`` does. A given
        pyramid is used as it is; training builds pyramids ahead, in other processes. Features are (B, N, in_features),
        or None if the network takes none. A single cloud counts as B = 1.

        A segmenter returns (B, N, classes). A classifier returns (B, classes) in evaluation; in training it may also
        return (B, nodes, classes), and each node is then compared with the cloud's label.
        """
        if isinstance(other, Pyramid):
            features, pyramid = given, other
        elif given is None:
            raise InputError("network", expected="coordinates or a pyramid", found="neither")
        else:
            features, pyramid = self._prepare(given, other)
        self._check(features, pyramid)
        return self._logits(features, pyramid)

    def _logits(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute the logits of input that has been checked."""
        nodes = self._nodes(features, pyramid)  # V⁽⁰⁾
        if self.correlation is not None:
            nodes = self.correlation(nodes, pyramid.correlation)  # V⁽³⁾
        return self._label(nodes, features, pyramid)

    @abstractmethod
    def _nodes(self, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Compute the nodes (B, nodes, C) of input that has been checked."""

    @abstractmethod
    def _label(self, nodes: Tensor, features: Tensor | None, pyramid: Pyramid) -> Tensor:
        """Nodes (B, nodes, C) → logits."""

    def macs(self, points: int) -> int:
        """Count the multiply-accumulates for one cloud of ``points`` points, by the papers' formulas."""
        nodes = self.plan.sizes(points)[self.node_level]
        correlation = 0 if self.correlation is None else self.correlation.macs(nodes, self.graph[0])
        return self._body_macs(points) + correlation + self.head.macs(self._head_rows(nodes))

    @abstractmethod
    def _body_macs(self, points: int) -> int:
        """Count the multiply-accumulates like ``macs``, without the correlation and the head."""

    def _head_rows(self, nodes: int) -> int:
        """Return how many vectors the head reads for a cloud with this many nodes."""
        return nodes

    def penalty(self) -> Tensor | None:
        """Return the weighted penalty that the last forward pass in training adds to the loss, or None.

        It can be read once: after that forward pass and before the next one.
        """
        return None

    def run(self, xyz: Array, features: Array | None = None) -> Array:
        """Compute the logits of plain arrays, in evaluation mode and without gradients.

        For (N, 3) or (B, N, 3), a segmenter returns (N, classes) or (B, N, classes), a classifier (classes,) or
        (B, classes).

        Coordinates may be any finite numbers, including map coordinates in float64: they are moved into the frame that
        the network was trained in. Features are those it was trained on (for example rgb / 255 − 0.5). Arrays return
        arrays, tensors return tensors. Only one thread runs at a time.
        """
        with self._evaluating():
            given, pyramid = self._prepare(xyz, features)
            logits: Tensor = self(given, pyramid)
        logits = logits if np.ndim(xyz) == 3 else logits[0]
        return logits if isinstance(xyz, Tensor) else logits.cpu().numpy()

    def explain(self, xyz: Array, features: Array | None = None, *, nodes: Sequence[int] | Array) -> Explanation:
        """Explain the labels of chosen nodes by their correlations and gates; input as for ``run``, one cloud is B = 1.

        The values are those of the network's stages; the N×N matrix is never stored. A segmenter's node i is point i;
        for a classifier, ``explanation.node_points`` gives the point of each node.
        """
        with self._evaluating():
            return self.explain_pyramid(*self._prepare(xyz, features), nodes)

    def explain_pyramid(self, features: Tensor | None, pyramid: Pyramid, nodes: Sequence[int] | Array) -> Explanation:
        """Explain nodes like ``explain``, for features and a pyramid; the network must be in evaluation mode."""
        if self.correlation is None:
            raise InputError(
                "network",
                expected="one with correlations to explain",
                found=f"a {type(self).__name__} without",
                remedy="create_model(..., variant='point2node') adds them after its nodes.",
            )
        self._check(features, pyramid)
        V = self._nodes(features, pyramid)
        chosen = _check_chosen(nodes, V)
        explanation = self.correlation.explain(V, pyramid.correlation, chosen)
        return replace(explanation, node_points=pyramid.numbers[self.node_level])

    def _prepare(self, xyz: Array, features: Array | None) -> tuple[Tensor | None, Pyramid]:
        weight = self.head.logits.weight
        coordinates = _tensor(xyz)
        if coordinates.ndim == 2:
            coordinates = coordinates[None]
        if not coordinates.is_floating_point():
            coordinates = coordinates.double()
        check_coordinates(coordinates)
        frame = TASK_FRAMES[self.task](coordinates.to(weight.device)).to(weight.dtype)
        pyramid = build_pyramid(frame, self.plan)
        if features is None:
            return None, pyramid
        given = _tensor(features).to(weight)
        return given if given.ndim == 3 else given[None], pyramid

    def _check(self, features: Tensor | None, pyramid: Pyramid) -> None:
        xyz, weight = pyramid.levels[0], self.head.logits.weight
        if xyz.dtype != weight.dtype:
            raise InputError(
                "pyramid",
                expected=f"{weight.dtype} coordinates, as the weights are",
                found=str(xyz.dtype),
                remedy="Shift the cloud before casting it: shift_to_float32(xyz).",
            )
        width = self.in_features
        if width == 0 and features is None:
            return
        found = "none" if features is None else str(tuple(features.shape))
        if features is None or tuple(features.shape) != (*xyz.shape[:2], width):
            raise InputError(
                "features",
                expected=f"shape {(*xyz.shape[:2], width)}" if width else "none: this network takes xyz only",
                found=found,
                remedy=f"create_model(..., in_features={_width(features)}) builds a network for such input.",
            )
        if not torch.isfinite(features).all():
            bad = int((~torch.isfinite(features)).sum())
            raise InputError("features", expected="finite numbers", found=f"{bad} NaN or infinite values")

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        with EVALUATION_LOCK, torch.no_grad():
            training = [module for module in self.modules() if module.training]
            self.eval()
            try:
                yield
            finally:
                for module in training:  # one by one: some may have been frozen
                    module.training = True


def _check_chosen(nodes: Sequence[int] | Array, V: Tensor) -> Tensor:
    chosen = torch.as_tensor(nodes, device=V.device).long()
    if chosen.ndim == 1:
        chosen = chosen.expand(len(V), -1)
    if chosen.ndim != 2 or not chosen.numel() or len(chosen) != len(V):
        raise InputError("nodes", expected=f"(S,) or ({len(V)}, S) node numbers", found=str(tuple(chosen.shape)))
    if chosen.min() < 0 or chosen.max() >= V.shape[1]:
        worst = int(chosen.max()) if chosen.min() >= 0 else int(chosen.min())
        raise InputError("nodes", expected=f"numbers from 0 to {V.shape[1] - 1}", found=str(worst))
    return chosen


def _tensor(values: Array) -> Tensor:
    """Convert to a tensor from any memory order or byte order, and from read-only arrays."""
    if isinstance(values, Tensor):
        return values
    array = np.asarray(values)
    return torch.from_numpy(np.array(array, array.dtype.newbyteorder("="), order="C"))


def _width(features: Tensor | None) -> int:
    return 0 if features is None else features.shape[-1]
