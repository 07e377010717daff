"""Weights in a file that says what they are: the network, its input and its classes, and nothing that is executed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from torch import Tensor

from point2node.core.documents import parse_json
from point2node.core.errors import InputError, unknown_choice
from point2node.core.words import WIDTHS, Feature
from point2node.data.files.replacing import replacing
from point2node.data.manifest import ClassEntry, Strict
from point2node.data.store import Store
from point2node.engine.settings import Rule, Settings
from point2node.geometry.blocks import BlockRules
from point2node.geometry.frames import Frame
from point2node.models.catalogue import PRESETS, create_model
from point2node.models.network import Network
from point2node.models.point2node.design import DEFAULT, ChiStart, CorrelationStart, DecoderSource, Design, Loss

KEY = "point2node"
FORMAT = 1


class WeightsCard(Strict):
    """What weights are for. It holds no times, paths or thread counts: the same training gives the same bytes."""

    format: int = FORMAT
    task: str
    dataset: str
    model: str
    size: str
    variant: str | None
    width: int | None
    dropout: float | None
    correlation_start: CorrelationStart = DEFAULT.correlation_start
    correlation_norm: bool = DEFAULT.correlation_norm
    correlation_scale: bool = DEFAULT.correlation_scale
    decoder_source: DecoderSource = DEFAULT.decoder_source
    chi_start: ChiStart = DEFAULT.chi_start
    loss: Loss = DEFAULT.loss
    features: tuple[Feature, ...]
    points: int
    block_side: float
    block_grid: float
    block_points: int
    frame: Frame
    votes: int
    rule: Rule
    voxel: float | None
    smooth: bool = False
    """Whether ``predict`` averages probabilities over smooth surfaces unless told otherwise."""
    classes: tuple[ClassEntry, ...]
    ignored: tuple[int, ...]
    step: int = 0
    """How many steps they were trained for."""

    @property
    def block_rules(self) -> BlockRules:
        """How rooms are cut, for training and for scoring alike."""
        return BlockRules(self.block_side, self.block_grid, self.block_points)

    @property
    def design(self) -> Design:
        """The choices inside Point2Node."""
        return Design(**{field.name: getattr(self, field.name) for field in fields(Design)})

    def build(self) -> Network:
        """The network, with fresh weights."""
        if self.size not in PRESETS:
            raise unknown_choice("size", self.size, PRESETS)
        return create_model(
            self.model,
            preset=self.size,
            variant=self.variant,
            num_classes=len(self.classes),
            in_features=sum(WIDTHS[name] for name in self.features),
            width=self.width,
            dropout=self.dropout,
            design=self.design,
        )


def card_of(settings: Settings, store: Store) -> WeightsCard:
    """The card of weights trained by ``settings`` on ``store``."""
    manifest = store.manifest
    shared = settings.model_dump(include=set(WeightsCard.model_fields) & set(Settings.model_fields) - {"classes"})
    return WeightsCard(
        **(shared | {"dataset": manifest.dataset}),
        task=manifest.task,
        classes=manifest.classes,
        ignored=manifest.ignored,
    )


def check_task(card: WeightsCard, network: Network) -> None:
    """Refuse to train a network for shapes on scenes, or the reverse."""
    if network.task != card.task:
        raise InputError(f"size {card.size!r}", expected=f"a network for {card.task}", found=f"one for {network.task}")


def check_points(card: WeightsCard, network: Network) -> None:
    """Refuse samples that are too small for the network."""
    fewest = network.plan.fewest_points
    if card.points < fewest:
        expected = f"at least {fewest}, as many as the largest sampled level of {card.model} {card.size!r} holds"
        raise InputError("points", expected=expected, found=str(card.points))


def write_tensors(path: Path, tensors: Mapping[str, Tensor], note: str) -> None:
    """Write tensors with one note; on the disk before it takes the place of the file that was there."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = safetensors.torch.save(plain, metadata={KEY: note})
    with replacing(path) as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def read_tensors(path: Path) -> tuple[dict[str, Tensor], Any]:
    """The tensors of a file and its note. Only safetensors are read: a format that cannot hold code."""
    if not path.is_file():
        raise InputError(path, expected="a .safetensors file", found="a folder" if path.is_dir() else "nothing")
    try:
        with safe_open(path, framework="pt") as file:
            note = (file.metadata() or {}).get(KEY)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no mapping
    except (SafetensorError, OSError, ValueError) as error:
        found = "something else: " + " ".join(str(error).split())
        raise InputError(
            path, expected="weights in the safetensors format", found=found, remedy="Pickled weights are not read."
        ) from error
    try:
        return tensors, parse_json(note or "")
    except ValueError as error:
        raise InputError(path, expected=f"weights with a {KEY!r} note", found="none that can be read") from error


def write_weights(path: Path, tensors: Mapping[str, Tensor], card: WeightsCard) -> None:
    """Weights as they are evaluated and shipped."""
    write_tensors(path, tensors, json.dumps(card.model_dump(mode="json"), sort_keys=True))


def read_weights(path: Path) -> tuple[Network, WeightsCard]:
    """The network that a weights file holds, in evaluation mode, and its card."""
    tensors, note = read_tensors(path)
    try:
        card = WeightsCard.model_validate(note)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(path, expected=f"a valid {place!r} in its note", found=first["msg"]) from error
    with torch.device("meta"):  # a note may ask for a network of any size: nothing is allocated before it fits
        check_tensors(path, card.build().state_dict(), tensors)
    network = card.build()
    load_tensors(path, network, tensors)
    return network.eval(), card


def load_tensors(path: Path, network: torch.nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put tensors into a network; they must be its own."""
    check_tensors(path, network.state_dict(), tensors)
    network.load_state_dict(dict(tensors))


def check_tensors(path: Path, expected: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Refuse tensors that are not the expected ones, name by name and shape by shape."""
    for name, tensor in expected.items():
        if name not in tensors:
            raise InputError(path, expected=f"weights of this network, with {name!r}", found="none of that name")
        if tensors[name].shape != tensor.shape:
            found = f"{tuple(tensors[name].shape)}"
            raise InputError(path, expected=f"{name!r} of shape {tuple(tensor.shape)}", found=found)
    foreign = [name for name in tensors if name not in expected]
    if foreign:
        raise InputError(path, expected="weights of this network only", found=f"{foreign[0]!r} as well")
