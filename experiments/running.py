"""One training, or one scoring, in a process of its own: started, resumed, or left alone because it is done."""

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
    """A command of the package; its failure is ours."""
    command = [sys.executable, "-m", "point2node", *map(str, words)]
    print("$ point2node " + " ".join(map(str, words)), flush=True)
    subprocess.run(command, check=True)


def train_once(run: Path, preset: str, words: Sequence[str], data: Path | None) -> RunFolder:
    """The finished run in the folder ``run``; refused where what is there was trained otherwise."""
    folder = RunFolder(run)
    if folder.exists:
        elsewhere = MACHINE | {"start"}  # the weights to begin from may have lain in another folder
        refuse_other_settings(folder, load_preset(preset, words), ignore=elsewhere)
    if folder.finished:
        return folder
    arguments = ["--resume", str(run)] if folder.exists else [preset, *words, "--out", str(run), *_given(data)]
    point2node("train", *arguments)
    return folder


def calibrate_once(run: RunFolder, *words: str) -> RunFolder:
    """The run with its weights calibrated by ``point2node calibrate RUN words…``."""
    note = run.path / "calibrated-by.json"
    wanted = {"words": list(words), "last_step": _steps(run)}
    if not note.is_file() or json.loads(note.read_text(encoding="utf-8")) != wanted:
        point2node("calibrate", run.path, *words)
        for scored in run.path.glob("scored-*.json"):
            scored.unlink()  # they are of the weights before
        run.write_json(note, wanted)
    return run


def _steps(run: RunFolder) -> int:
    """How many steps a finished run was trained for."""
    steps: int = json.loads(run.summary.read_text(encoding="utf-8"))["steps"]
    return steps


def score_once(run: RunFolder, split: str, data: Path | None, *words: str) -> dict[str, Any]:
    """The result of ``evaluate`` on a split, which is kept in the run folder."""
    name = "-".join(("scored", split, *words)).replace("--", "").replace(" ", "")
    file = run.path / f"{name}.json"
    if not file.is_file():
        point2node("evaluate", run.path, "--split", split, *_given(data), *words, "--out", file)
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return result


def _given(data: Path | None) -> list[str]:
    return [] if data is None else ["--data", str(data)]


def write_table(name: str, command: str, columns: Sequence[str], rows: Sequence[Sequence[str]], figures: Any) -> None:
    """The table as Markdown and the figures behind it as JSON, in results/; also printed."""
    text = markdown_table(columns, rows)
    write_results(name, command, text, figures)
    print(f"{text}\n")


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table as Markdown, without a final line break."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def write_results(name: str, command: str, text: str, figures: Any) -> None:
    """Write Markdown tables, and the figures behind them as JSON, to results/."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(f"{text}\n", encoding="utf-8")
    content = {"command": command, "figures": figures}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"written to {RESULTS / name}.md", flush=True)
