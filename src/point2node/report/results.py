"""Reading what runs left behind: run folders and evaluation files, which anyone may have written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from point2node.core.errors import InputError

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
OVERALL = ("OA", "mAcc", "mIoU")
FACTS = ("seeds", "steps", "parameters")
RESERVED = ("method", *OVERALL, *FACTS)
"""Headings that a class of the same name must not take."""
Model = TypeVar("Model", bound=BaseModel)


class Lenient(BaseModel):
    """What is known is checked; what is unknown is another command's."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Protocol(BaseModel):
    """How a result came about. Unknown keys are kept: results that differ in one must not be mixed."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    task: Literal["segmentation", "classification"]
    dataset: Name
    split: Name
    data: Name
    """The manifest's checksum."""
    unit: Name
    """What is counted: point, shape, or voxel with its side."""
    points: Count | None = None
    votes: Count | None = None
    rule: Name | None = None
    offsets: tuple[float, ...] | None = None
    ignored: tuple[Name, ...] = ()


class EvaluationFile(Lenient):
    """One evaluated split under one protocol. Scores are fractions; null: there is nothing to score."""

    format: Literal[1]
    run: Name | None = None
    preset: Name | None = None
    model: Name
    variant: Name | None = None
    seed: int | None = None
    weights: Name | None = None
    parameters: Count | None = None
    scenes: Count | None = None
    units: Count | None = None
    oa: Fraction | None
    macc: Fraction | None
    miou: Fraction | None = None
    iou: dict[Name, Fraction | None] = {}
    accuracy: dict[Name, Fraction | None] = {}
    folds: tuple[Any, ...] = ()
    """The parts of a pooled result."""
    protocol: Protocol


class RunFile(Lenient):
    """The part of ``run.json`` that a report needs."""

    format: Literal[1]
    preset: Name
    model: Name
    variant: Name | None
    seed: int
    parameters: Count


class SummaryFile(Lenient):
    """The part of ``summary.json`` that a report needs; it is there once training has finished."""

    steps: Count


@dataclass(frozen=True)
class Run:
    """A run folder: what it is, how long it was trained (None: not to the end) and with which settings."""

    path: Path
    file: RunFile
    steps: int | None
    settings: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One evaluation, with the run that it belongs to if that is at hand."""

    path: Path
    evaluation: EvaluationFile
    run: Run | None

    @property
    def name(self) -> str:
        """The run's name, or else the file's."""
        return self.evaluation.run or self.path.stem

    @property
    def parameters(self) -> int | None:
        """How many parameters the model has, if that is known."""
        return self.run.file.parameters if self.run else self.evaluation.parameters

    @property
    def is_point2node(self) -> bool:
        """Whether it is the paper's model, whole or ablated."""
        return self.evaluation.model == "point2node"

    @property
    def variant(self) -> str:
        """The variant's name; a model without variants is its own."""
        return self.evaluation.variant or self.evaluation.model

    def scores(self) -> dict[str, float | None]:
        """Every score in per cent under its heading; classes that are not to be scored are left out."""
        file = self.evaluation
        found = {"OA": file.oa, "mAcc": file.macc}
        if file.protocol.task == "segmentation":
            classes = {name: score for name, score in file.iou.items() if name not in file.protocol.ignored}
            found |= {"mIoU": file.miou}
            found |= {f"class {name}" if name in RESERVED else name: score for name, score in classes.items()}
        return {heading: None if score is None else 100 * score for heading, score in found.items()}


def read_json(path: Path, model: type[Model], what: str, remedy: str = "") -> Model:
    """A JSON file as ``model``; the first thing that is wrong with it is said in one line."""
    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(path, expected=what, found=(error.strerror or str(error)).lower(), remedy=remedy) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        found = f"{place!r}: {first['msg']}" if place else first["msg"]
        raise InputError(path, expected=what, found=" ".join(found.split()), remedy=remedy) from error
