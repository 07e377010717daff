"""ModelNet10: one training, scored and calibrated on the shapes that it held back: ``make table-modelnet10``.

Recipe, votes and temperature are chosen on these validation shapes alone; the official test split is not looked at.
"""

from __future__ import annotations

import json
from pathlib import Path

from experiments.running import point2node, score_once, train_once, write_table
from point2node.engine.history import training_seconds

PRESET = "modelnet10_modern"
WORDS: tuple[str, ...] = (
    "epochs=40",
    "turn=10",
    "learning_rate=0.002",
    "warmup_steps=200",
    "dropout=0.5",
    "point_drop=0.2",
    "class_weights=balanced",
    "ema_decay=0.998",
    "votes=10",
    "validate_every=1500",
)


def make_table(runs: Path, modelnet10: Path | None) -> None:
    """Train, score with one vote and with the preset's, calibrate."""
    run = train_once(runs / "point2node-seed0", PRESET, WORDS, modelnet10)
    if not (run.path / "calibration.json").is_file():
        point2node("calibrate", run.path)
    calibration = json.loads((run.path / "calibration.json").read_text(encoding="utf-8"))
    result = score_once(run, "val", modelnet10, "--weights", "calibrated")
    settings, card = run.read_settings(), run.read_card()
    hours = training_seconds(run.history, settings.batch_size * settings.points) / 3600
    rows = [
        (
            f"{votes} vote{'' if votes == 1 else 's'}",
            f"{100 * scores['oa']:.2f}",
            f"{100 * scores['macc']:.2f}",
            f"{card.training:,}",
            f"{card.validation:,}",
            f"{card.steps:,}",
            f"{hours:.2f}",
        )
        for votes, scores in ((1, result["single_vote"]), (settings.votes, result))
    ]
    columns = ("votes", "validation OA, %", "mAcc, %", "trained on", "validated on", "steps", "hours on 2 cores")
    figures = {"result": result, "calibration": calibration, "hours": hours, "steps": card.steps}
    write_table("modelnet10", f"train {PRESET} {' '.join(WORDS)}", columns, rows, figures)
