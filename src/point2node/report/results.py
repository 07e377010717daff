"""The results of runs: finding and reading run folders and evaluation files, which may come from anyone."""

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
"""Headings that may not be used for a class of the same name."""


class Lenient(BaseModel):
    """A file whose known keys are checked; unknown keys belong to other commands and are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Protocol(BaseModel):
    """The protocol of a result. Unknown keys are kept: results that differ in one must not be mixed."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    task: Literal["segmentation", "classification"]
    dataset: Name
    split: Name
    data: Name
    """The checksum of the data's manifest."""
    unit: Name
    """What is counted: points, shapes, or voxels with their side."""
    points: Count | None = None
    votes: Count | None = None
    rule: Name | None = None
    offsets: tuple[float, ...] | None = None
    ignored: tuple[Name, ...] = ()


class EvaluationFile(Lenient):
    """The evaluation of one split under one protocol. Scores are fractions; null: there was nothing to score."""

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
    """The part of ``summary.json`` that a report needs; the file exists once training has finished."""

    steps: Count


@dataclass(frozen=True)
class Run:
    """A run folder: its card, the steps it was trained for (None: not finished) and its settings."""

    path: Path
    file: RunFile
    steps: int | None
    settings: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One evaluation, with the run that it belongs to if this was found."""

    path: Path
    evaluation: EvaluationFile
    run: Run | None

    @property
    def name(self) -> str:
        """The name of the run, or of the file if there is no run."""
        return self.evaluation.run or self.path.stem

    @property
    def parameters(self) -> int | None:
        """The number of parameters of the model; None if not known."""
        return self.run.file.parameters if self.run else self.evaluation.parameters

    @property
    def is_point2node(self) -> bool:
        """Whether it is the paper's model or one of its variants."""
        return self.evaluation.model == "point2node"

    @property
    def variant(self) -> str:
        """The name of the variant, or of the model if it has no variants."""
        return self.evaluation.variant or self.evaluation.model

    def scores(self) -> dict[str, float | None]:
        """Return every score in per cent by its heading, without the ignored classes."""
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
    """Everything found for the arguments."""

    results: tuple[Result, ...]
    not_evaluated: tuple[Path, ...]


def find_results(arguments: Iterable[str]) -> Found:
    """Find the results for the arguments, each once and in their order, and the runs without results."""
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
    """Read the files of a run folder that a report needs."""
    file = read_json(folder / RUN, RunFile, "a run of format 1")
    summary = folder / SUMMARY
    steps = read_json(summary, SummaryFile, "the summary of a run").steps if summary.exists() else None
    return Run(folder, file, steps, _settings(folder / SETTINGS))


def _settings(path: Path) -> dict[str, Any]:
    """Read the settings that distinguish runs, without the seed; empty if the folder has none."""
    if not path.exists():
        return {}
    values = read_settings(path).model_dump(mode="json")
    return {key: value for key, value in values.items() if key != "seed" and key not in MACHINE}


def _expand(argument: str) -> list[Path]:
    """Return the paths of an argument; patterns are expanded, because not every shell does it."""
    path = Path(argument)
    found = [path] if path.exists() else sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if not found:
        raise InputError(argument, expected="a run folder or an evaluation JSON", found="nothing there")
    return found


def _run_folders(folder: Path) -> list[Path]:
    """Return the folder itself if it is a run, otherwise the runs one level below it."""
    if (folder / RUN).is_file():
        return [folder]
    below = sorted(file.parent for file in folder.glob(f"*/{RUN}"))
    if not below:
        raise InputError(
            folder,
            expected=f"a run folder, which holds {RUN}, or a folder of run folders",
            found="neither",
            remedy="Give the folder that 'point2node train' created.",
        )
    return below


def _read_evaluation(path: Path) -> Result:
    """Read an evaluation file; if it is in a run folder, the run is read too."""
    if path.suffix.lower() != ".json":
        kind = f"a {path.suffix} file" if path.suffix else "a file without a suffix"
        raise InputError(path, expected="a run folder or an evaluation JSON", found=kind)
    folder = path.resolve().parent
    in_run = folder.name == EVALUATIONS and (folder.parent / RUN).is_file()
    return _read_result(path, read_run(folder.parent) if in_run else None)


def _read_result(path: Path, run: Run | None) -> Result:
    remedy = f"Run 'point2node evaluate {run.path}' again." if run else ""
    return Result(path, read_json(path, EvaluationFile, "an evaluation of format 1", remedy), run)
