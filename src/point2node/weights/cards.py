"""Cards: what weights are for, in the weights file itself, and what a person should know of those that are shipped.

A weights file holds nothing that is executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from torch import Tensor

from point2node.core.classes import SemanticClass
from point2node.core.documents import Strict
from point2node.core.errors import InputError, unknown_choice
from point2node.core.words import WIDTHS, Feature
from point2node.data.store import Store
from point2node.geometry.blocks import BlockRules
from point2node.geometry.frames import Frame
from point2node.models.catalogue import SIZES, create_model
from point2node.models.network import Network
from point2node.models.point2node.design import DEFAULT, ChiStart, CorrelationStart, DecoderSource, Design, Loss
from point2node.models.weights_file import build_with, note_refused, read_tensors, write_tensors
from point2node.weights.settings import Rule, Settings

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
    thin: float = 0.0
    """Metres: of how large cubes ``predict`` labels one point each unless told otherwise; 0 for every point."""
    turn: float = 0.0
    """Degrees by which samples were turned in training, at most; weights from before this was noted say 0."""
    classes: tuple[SemanticClass, ...]
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
        if self.size not in SIZES:
            raise unknown_choice("size", self.size, SIZES)
        network = create_model(
            self.model,
            preset=self.size,
            variant=self.variant,
            num_classes=len(self.classes),
            in_features=sum(WIDTHS[name] for name in self.features),
            width=self.width,
            dropout=self.dropout,
            design=self.design,
        )
        network.card = self.model_dump(mode="json")
        return network


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


def write_weights(path: Path, tensors: Mapping[str, Tensor], card: WeightsCard) -> None:
    """Weights as they are evaluated and shipped."""
    write_tensors(path, tensors, json.dumps(card.model_dump(mode="json"), sort_keys=True))


def read_weights(path: Path) -> tuple[Network, WeightsCard]:
    """The network that a weights file holds, in evaluation mode, and its card."""
    tensors, note = read_tensors(path)
    if isinstance(note, dict) and "num_classes" in note:
        raise InputError(
            path,
            expected="weights that name their classes and features",
            found="a network alone",
            remedy="Save it with save_pretrained(..., trained_on=RoomBlocks.card), or use Network.from_pretrained.",
        )
    try:
        card = WeightsCard.model_validate(note)
    except ValidationError as error:
        raise note_refused(path, error) from error
    return build_with(path, card.build, tensors), card


class Training(Strict):
    """A training that the one of the card began from."""

    command: str
    steps: int
    hours: float
    samples_per_second: float


class Twin(Strict):
    """A training by the same recipe that held back some data: the figures of weights trained on everything are its."""

    command: str
    steps: int
    hours: float
    trained_on: int
    held_back: int


class ModelCard(Strict):
    """Everything that a person should know before using the weights."""

    format: int = 1
    name: str
    sha256: str
    """Of the weights file: what is loaded is what was measured."""
    what: str
    data: str
    licence: str
    command: str
    """Which made them."""
    settings: Settings
    """All that the command means but for ``start``, which ``before`` tells of, so that the share it held back for
    validation can be scored again."""
    steps: int
    hours: float
    """Of training, on the machine named."""
    machine: str
    samples_per_second: float
    entropies: dict[str, float] = Field(default_factory=dict)
    """Of the rows of the correlations at the end of the training, as shares of the largest: 1 is even, 0 collapsed."""
    twin: Twin | None = None
    """The training that calibration and figures come from, if not this one."""
    before: tuple[Training, ...] = ()
    """The trainings that came before, the first one first, if the weights were not drawn at random."""
    calibration: dict[str, Any] | None
    """Of the confidence: the temperature that is folded into the weights, the data it was found on, and the expected
    error with its bins before and after; null if it was not done."""
    figures: tuple[dict[str, Any], ...]
    """Results of ``evaluate --json``, each with its protocol."""
    limits: tuple[str, ...]
    weak: tuple[str, ...] = ()
    """Classes with a mean IoU below 40 % on real scans: ``predict`` says so where it finds them."""


def read_model_card(file: Traversable) -> ModelCard:
    """The card in a JSON file of the package."""
    try:
        return ModelCard.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        found = " ".join(str(error).split())[:120]
        raise InputError(file.name, expected="the card of a pretrained model", found=found) from error
