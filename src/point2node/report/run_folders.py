"""Finding results: what an argument names, be it a run folder, a folder of them or an evaluation file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from point2node.core.errors import InputError
from point2node.report.results import EvaluationFile, Result, Run, RunFile, SummaryFile, read_json
from point2node.weights.settings import MACHINE, read_settings

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
