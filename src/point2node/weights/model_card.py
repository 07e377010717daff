"""The card of shipped weights: where they come from, what was measured, what they are not for."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from typing import Any

from pydantic import Field, ValidationError

from point2node.core.errors import InputError
from point2node.data.manifest import Strict
from point2node.weights.settings import Settings


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


def read_model_card(file: Traversable) -> ModelCard:
    """The card in a JSON file of the package."""
    try:
        return ModelCard.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        found = " ".join(str(error).split())[:120]
        raise InputError(file.name, expected="the card of shipped weights", found=found) from error
