"""One training or scoring in a separate process: started, resumed, or skipped if it is done."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from point2node.training.launch import refuse_other_settings
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import MACHINE, load_preset

RESULTS = Path(__file__).parent / "results"


def point2node(*words: str | Path) -> None:
    """Run a command of the package; raise CalledProcessError if it fails."""
    command = [sys.executable, "-m", "point2node", *map(str, words)]
    print("$ point2node " + " ".join(map(str, words)), flush=True)
    subprocess.run(command, check=True)


def train_once(run: Path, preset: str, words: Sequence[str], data: Path | None) -> RunFolder:
    """Return the finished run in the folder ``run``; raise InputError if it has other settings."""
    folder = RunFolder(run)
    if folder.exists:
        elsewhere = MACHINE | {"start"}  # the initial weights may have been in another folder
        refuse_other_settings(folder, load_preset(preset, words), ignore=elsewhere)
    if folder.finished:
        return folder
    arguments = ["--resume", str(run)] if folder.exists else [preset, *words, "--out", str(run), *_data_option(data)]
    point2node("train", *arguments)
    return folder


def calibrate_once(run: RunFolder, *words: str) -> RunFolder:
    """Calibrate the weights of a run with ``point2node calibrate RUN words…``, unless this has been done."""
    note = run.path / "calibrated-by.json"
    wanted = {"words": list(words), "last_step": _steps(run)}
    if not note.is_file() or json.loads(note.read_text(encoding="utf-8")) != wanted:
        point2node("calibrate", run.path, *words)
        for scored in run.path.glob("scored-*.json"):
            scored.unlink()  # they are scores of the previous weights
        run.write_json(note, wanted)
    return run


def _steps(run: RunFolder) -> int:
    """Return how many steps a finished run was trained for."""
    steps: int = json.loads(run.summary.read_text(encoding="utf-8"))["steps"]
    return steps


def score_once(run: RunFolder, split: str, data: Path | None, *words: str) -> dict[str, Any]:
    """Return the result of ``evaluate`` on a split, which is saved in the run folder."""
    name = "-".join(("scored", split, *words)).replace("--", "").replace(" ", "")
    file = run.path / f"{name}.json"
    if not file.is_file():
        point2node("evaluate", run.path, "--split", split, *_data_option(data), *words, "--out", file)
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return result


def _data_option(data: Path | None) -> list[str]:
    return [] if data is None else ["--data", str(data)]


def write_table(name: str, command: str, columns: Sequence[str], rows: Sequence[Sequence[str]], figures: Any) -> None:
    """Write the table as Markdown and its figures as JSON to results/, and print it."""
    text = markdown_table(columns, rows)
    write_results(name, command, text, figures)
    print(f"{text}\n")


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table as Markdown, without a final line break."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def write_results(name: str, command: str, text: str, figures: Any) -> None:
    """Write Markdown tables, and their figures as JSON, to results/."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(f"{text}\n", encoding="utf-8")
    content = {"command": command, "figures": figures}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"written to {RESULTS / name}.md", flush=True)
