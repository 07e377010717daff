"""Cards: metadata in a weights file that says what the weights are for, and model cards of the pretrained models.

Nothing in a weights file is executed.
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
from point2node.models.weights_file import build_with, note_error, read_tensors, write_tensors
from point2node.weights.settings import Rule, Settings

FORMAT = 1


class WeightsCard(Strict):
    """What weights are for. It has no times, paths or thread counts, so that the same training gives the same bytes."""

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
    """Whether ``predict`` averages probabilities over smooth surfaces by default."""
    thin: float = 0.0
    """Metres: side of the cubes in which ``predict`` labels one point each by default; 0 for every point."""
    turn: float = 0.0
    """Degrees: the largest rotation of samples in training; 0 in weights older than this field."""
    classes: tuple[SemanticClass, ...]
    ignored: tuple[int, ...]
    step: int = 0
    """How many steps the weights were trained for."""

    @property
    def block_rules(self) -> BlockRules:
        """How rooms are cut, both for training and for scoring."""
        return BlockRules(self.block_side, self.block_grid, self.block_points)

    @property
    def design(self) -> Design:
        """The design options of Point2Node."""
        return Design(**{field.name: getattr(self, field.name) for field in fields(Design)})

    def build(self) -> Network:
        """Make the network, with new random weights."""
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
    """Make the card of weights trained with ``settings`` on ``store``."""
    manifest = store.manifest
    shared = settings.model_dump(include=set(WeightsCard.model_fields) & set(Settings.model_fields) - {"classes"})
    return WeightsCard(
        **(shared | {"dataset": manifest.dataset}),
        task=manifest.task,
        classes=manifest.classes,
        ignored=manifest.ignored,
    )


def check_task(card: WeightsCard, network: Network) -> None:
    """Raise InputError for a network for shapes that is trained on scenes, or the reverse."""
    if network.task != card.task:
        raise InputError(f"size {card.size!r}", expected=f"a network for {card.task}", found=f"one for {network.task}")


def check_points(card: WeightsCard, network: Network) -> None:
    """Raise InputError if samples have too few points for the network."""
    fewest = network.plan.fewest_points
    if card.points < fewest:
        expected = f"at least {fewest}, the size of the largest sampled level of {card.model} {card.size!r}"
        raise InputError("points", expected=expected, found=str(card.points))


def write_weights(path: Path, tensors: Mapping[str, Tensor], card: WeightsCard) -> None:
    """Write weights in the form that is evaluated and distributed."""
    write_tensors(path, tensors, json.dumps(card.model_dump(mode="json"), sort_keys=True))


def read_weights(path: Path) -> tuple[Network, WeightsCard]:
    """Read a weights file; returns the network in evaluation mode and its card."""
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
        raise note_error(path, error) from error
    return build_with(path, card.build, tensors), card


class Training(Strict):
    """An earlier training, which the one of the card started from."""

    command: str
    steps: int
    hours: float
    samples_per_second: float


class Twin(Strict):
    """A training by the same recipe that held back some data: the source of the figures of weights trained on all."""

    command: str
    steps: int
    hours: float
    trained_on: int
    held_back: int


class ModelCard(Strict):
    """Everything that users should know before using the weights."""

    format: int = 1
    name: str
    sha256: str
    """The checksum of the weights file, so that the weights loaded are the ones measured."""
    what: str
    data: str
    licence: str
    command: str
    """The command that made the weights."""
    settings: Settings
    """The resolved settings of the command, except ``start``, which ``before`` describes. With them, the validation
    share can be scored again."""
    steps: int
    hours: float
    """Training time on ``machine``."""
    machine: str
    samples_per_second: float
    entropies: dict[str, float] = Field(default_factory=dict)
    """Entropies of the correlations' rows after the training, relative to the maximum: 1 is even, 0 collapsed."""
    twin: Twin | None = None
    """The training that the calibration and the figures come from, if not this one."""
    before: tuple[Training, ...] = ()
    """The earlier trainings, oldest first, if the weights did not start at random."""
    calibration: dict[str, Any] | None
    """Calibration of the confidence: the temperature folded into the weights, its data, and the expected calibration
    error with its bins before and after; null if not calibrated."""
    figures: tuple[dict[str, Any], ...]
    """Results of ``evaluate --json``, each with its protocol."""
    limits: tuple[str, ...]
    weak: tuple[str, ...] = ()
    """Classes with a mean IoU below 40 % on real scans; ``predict`` prints a note when it finds them."""


def read_model_card(file: Traversable) -> ModelCard:
    """Read a model card from a JSON file of the package."""
    try:
        return ModelCard.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        found = " ".join(str(error).split())[:120]
        raise InputError(file.name, expected="the card of a pretrained model", found=found) from error
