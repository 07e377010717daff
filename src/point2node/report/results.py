"""What runs left behind: finding run folders and evaluation files, which anyone may have written, and reading them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from point2node.core.documents import read_json
from point2node.core.errors import InputError
from point2node.weights.settings import MACHINE, read_settings

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
OVERALL = ("OA", "mAcc", "mIoU")
FACTS = ("seeds", "steps", "parameters")
RESERVED = ("method", *OVERALL, *FACTS)
"""Headings that a class of the same name must not take."""


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


RUN, SUMMARY, SETTINGS, EVALUATIONS = "run.json", "summary.json", "settings.yaml", "evaluations"


@dataclass(frozen=True)
class Found:
    """Everything that the arguments named."""

    results: tuple[Result, ...]
    not_evaluated: tuple[Path, ...]


def find_results(arguments: Iterable[str]) -> Found:
    """The results that the arguments name, each once and in their order, and the runs without any."""
    results: dict[Path, Result] = {}
    bare: dict[Path, Path] = {}
    for argument in arguments:
        for path in _expand(argument):
            if path.is_file():
                results.setdefault(path.resolve(), _read_evaluation(path))
                continue
            for folder in _run_folders(path):
                run = read_run(folder)
                files = sorted((folder / EVALUATIONS).glob("*.json"))
                for file in files:
                    results.setdefault(file.resolve(), _read_result(file, run))
                if not files:
                    bare.setdefault(folder.resolve(), folder)
    return Found(tuple(results.values()), tuple(bare.values()))


def read_run(folder: Path) -> Run:
    """A run folder's own account of itself."""
    file = read_json(folder / RUN, RunFile, "a run of format 1")
    summary = folder / SUMMARY
    steps = read_json(summary, SummaryFile, "the summary of a run").steps if summary.exists() else None
    return Run(folder, file, steps, _settings(folder / SETTINGS))


def _settings(path: Path) -> dict[str, Any]:
    """What tells one run from another apart from its seed; nothing if the folder does not say."""
    if not path.exists():
        return {}
    values = read_settings(path).model_dump(mode="json")
    return {key: value for key, value in values.items() if key != "seed" and key not in MACHINE}


def _expand(argument: str) -> list[Path]:
    """The paths that an argument stands for; shells that leave patterns alone are made up for."""
    path = Path(argument)
    found = [path] if path.exists() else sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if not found:
        raise InputError(argument, expected="a run folder or an evaluation JSON", found="nothing there")
    return found


def _run_folders(folder: Path) -> list[Path]:
    """The folder itself if it is a run, or the runs one level below it."""
    if (folder / RUN).is_file():
        return [folder]
    below = sorted(file.parent for file in folder.glob(f"*/{RUN}"))
    if not below:
        raise InputError(
            folder,
            expected=f"a run folder, which holds {RUN}, or a folder of run folders",
            found="neither",
            remedy="Give the folder that 'point2node train' made.",
        )
    return below


def _read_evaluation(path: Path) -> Result:
    """An evaluation file given by itself; where it stands in a run folder, the run is read too."""
    if path.suffix.lower() != ".json":
        kind = f"a {path.suffix} file" if path.suffix else "a file without a suffix"
        raise InputError(path, expected="a run folder or an evaluation JSON", found=kind)
    folder = path.resolve().parent
    in_run = folder.name == EVALUATIONS and (folder.parent / RUN).is_file()
    return _read_result(path, read_run(folder.parent) if in_run else None)


def _read_result(path: Path, run: Run | None) -> Result:
    remedy = f"Run 'point2node evaluate {run.path}' again." if run else ""
    return Result(path, read_json(path, EvaluationFile, "an evaluation of format 1", remedy), run)
